import type { CST, ParsedNode } from "yaml"

export type Yaml = typeof import("yaml")

/** What is wrong with the text itself, at an offset into it. */
export interface SyntaxProblem {
  readonly offset: number
  readonly words: string
}

/** A text as YAML 1.2 (core, no merge keys). A text with problems has no contents, nor has one of comments only. */
export interface YamlText {
  readonly contents: ParsedNode | null
  readonly problems: ReadonlyArray<SyntaxProblem>
  /** The line and the column of an offset, from 1, in characters. */
  readonly place: (offset: number) => readonly [number, number]
}

export const readYaml = (yaml: Yaml, text: string): YamlText => {
  const lines = new yaml.LineCounter()
  const tokens = [...new yaml.Parser(lines.addNewLine).parse(text)]
  const place: YamlText["place"] = (offset) => {
    const { line, col } = lines.linePos(offset)
    return [Math.max(line, 1), Math.max(col, 1)]
  }
  const early = [...lexicalProblems(text), ...(isDeep(tokens) ? [{ offset: 0, words: "is nested too deeply" }] : [])]
  if (early.length > 0) return { contents: null, problems: early, place }
  const { contents, problems } = compose(yaml, tokens, text.length)
  return { contents: problems.length > 0 ? null : contents, problems, place }
}

const compose = (yaml: Yaml, tokens: ReadonlyArray<CST.Token>, end: number) => {
  const composer = new yaml.Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    uniqueKeys: false,
    prettyErrors: false
  })
  const [document, second] = composer.compose(tokens, true, end)
  const problems: Array<SyntaxProblem> = []
  for (const { pos, message } of document?.errors ?? []) {
    problems.push({ offset: pos[0], words: `is not YAML that can be read: ${message.split("\n")[0]}` })
  }
  if (second !== undefined)
    problems.push({ offset: second.range[0], words: "must be one document: remove the --- and what follows" })
  const version = document?.directives.yaml
  if (version?.explicit === true && version.version !== "1.2")
    problems.push({ offset: 0, words: "must be YAML 1.2: remove the %YAML line" })
  return { contents: document?.contents ?? null, problems }
}

/** What YAML would take, or report in a way that is hard to understand. */
const lexicalProblems = (text: string): ReadonlyArray<SyntaxProblem> => [
  ...[...text.matchAll(/^ *\t(?=[ \t]*\S)/gm)].map((found) => ({
    offset: found.index + found[0].length - 1,
    words: "tabs cannot indent: use spaces"
  })),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  ...[...text.matchAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g)].slice(0, 1).map((found) => ({
    offset: found.index,
    words: "must have no control characters"
  }))
]

/** Settings are five levels deep. Composing recurses, and in a deep stack Node may not only throw but abort. */
const isDeep = (tokens: ReadonlyArray<CST.Token>): boolean => {
  let level = tokens
  for (let depth = 0; depth < 20 && level.length > 0; depth++) level = level.flatMap(inner)
  return level.length > 0
}

const inner = (token: CST.Token): ReadonlyArray<CST.Token> => {
  if (token.type === "document") return token.value === undefined ? [] : [token.value]
  if (!("items" in token)) return []
  return token.items.flatMap((item) => [item.key, item.value].filter((each) => each !== undefined && each !== null))
}
