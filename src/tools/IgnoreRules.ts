import ignore from "ignore"

const MAX_PATTERNS = 2000
const MAX_GLOBSTARS = 2

/** What the `.gitignore` files between the root and a folder leave out. Paths are relative to the root, with `/`. */
export class IgnoreRules {
  static readonly none = new IgnoreRules([])
  readonly #layers: ReadonlyArray<{ readonly base: string; readonly rules: ignore.Ignore }>

  private constructor(layers: ReadonlyArray<{ readonly base: string; readonly rules: ignore.Ignore }>) {
    this.#layers = layers
  }

  /** With the rules of one more file, which stands in the folder `base` (empty for the root). */
  with(base: string, content: string): IgnoreRules {
    // A pattern with many `**` takes time that grows with a power of the depth: the file may be a stranger's.
    const patterns = content
      .split(/\r?\n/)
      .slice(0, MAX_PATTERNS)
      .filter((line) => line.length < 1000 && line.split("**").length - 1 <= MAX_GLOBSTARS)
    const rules = ignore({ ignorecase: process.platform !== "linux" }).add(patterns)
    return new IgnoreRules([{ base: base === "" ? "" : `${base}/`, rules }, ...this.#layers])
  }

  /** The rules nearest to the path decide, as git has it. */
  leavesOut(path: string, isFolder: boolean): boolean {
    for (const { base, rules } of this.#layers) {
      const result = rules.test(path.slice(base.length) + (isFolder ? "/" : ""))
      if (result.ignored) return true
      if (result.unignored) return false
    }
    return false
  }
}
