import type { LineCounter, Node, Pair, ParsedNode, Scalar } from "yaml"
import { shown } from "./Rule.ts"

type Yaml = typeof import("yaml")
export type ConfigPath = ReadonlyArray<PropertyKey>

/** A problem of the file itself, at an offset into its text. */
export interface TextProblem {
  readonly offset: number
  readonly path: ConfigPath
  readonly words: string
}

/** A settings file as plain values, with the places where they stand. */
export interface ConfigTree {
  /** Maps have no prototype. What has a problem of its own is left out. */
  readonly value: unknown
  readonly problems: ReadonlyArray<TextProblem>
  /** Where the key of a path (or else its value) stands; the nearest enclosing place where it is not written. */
  readonly offsetOf: (path: ConfigPath, part: "key" | "value") => number
  /** Counted from 1, in characters. */
  readonly lineAndColumn: (offset: number) => readonly [number, number]
}

const empty = "is empty: give it a value, write null where the default is null, or remove the key"
const tilde = 'a bare ~ is null in YAML, not your home folder: put quotes around it ("~/name"), or write null'

/** Reads YAML 1.2 (core) without anchors, aliases, tags and merge keys. `isSection` says where an empty value is an empty map. */
export const readTree = (yaml: Yaml, text: string, isSection: (path: ConfigPath) => boolean): ConfigTree => {
  const lines = new yaml.LineCounter()
  const problems: Array<TextProblem> = []
  const offsets = new Map<string, number>()
  const document = yaml.parseDocument(text, {
    version: "1.2",
    schema: "core",
    merge: false,
    strict: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
    lineCounter: lines
  })
  const report = (offset: number, path: ConfigPath, words: string) => problems.push({ offset, path, words })

  const lexical = lexicalProblems(text)
  for (const { offset, words } of lexical) report(offset, [], words)
  if (lexical.length === 0) {
    for (const error of document.errors) report(error.pos[0], [], syntaxWords(error.code, error.message))
  }
  if (document.directives.yaml.explicit === true && document.directives.yaml.version !== "1.2") {
    report(0, [], "must be YAML 1.2: remove the %YAML line")
  }

  const value = (node: Node | null, path: ConfigPath, from: number): unknown => {
    const offset = node?.range?.[0] ?? from
    offsets.set(id(path, "value"), offset)
    if (yaml.isAlias(node)) return void report(offset, path, "must not be an alias (*name): write the value out")
    if (node === null) return undefined
    if ("anchor" in node && node.anchor !== undefined) report(offset, path, "must have no anchor (&name)")
    if (node.tag !== undefined)
      return void report(offset, path, `must have no tag (${shown(node.tag)}): quote text, write numbers bare`)
    if (yaml.isMap(node)) return map(node.items, path, offset)
    if (yaml.isSeq(node)) return node.items.map((item, index) => value(item as Node, [...path, index], offset))
    return yaml.isScalar(node) ? scalar(node, path, offset) : undefined
  }

  const map = (items: ReadonlyArray<Pair<unknown, unknown>>, path: ConfigPath, from: number) => {
    const record: Record<string, unknown> = Object.create(null)
    for (const { key, value: node } of items as ReadonlyArray<Pair<ParsedNode | null, ParsedNode | null>>) {
      const offset = key?.range[0] ?? from
      const name = yaml.isScalar(key) ? String(key.source ?? key.value) : ""
      const below = [...path, name]
      if (!yaml.isScalar(key) || name === "") report(offset, path, "must have plain words as keys")
      else if (Object.hasOwn(record, name))
        report(offset, below, `is given twice, first at ${place(lines, offsets.get(id(below, "key")) ?? 0)}`)
      else {
        offsets.set(id(below, "key"), offset)
        const read = value(node, below, key.range[1])
        if (read !== undefined) record[name] = read
        else if (isSection(below)) record[name] = Object.create(null)
      }
    }
    return record
  }

  const scalar = (node: Scalar, path: ConfigPath, offset: number): unknown => {
    const source = node.source ?? ""
    if (node.type !== "PLAIN") return node.value
    if (source === "") return isSection(path) ? Object.create(null) : void report(offset, path, empty)
    if (source === "~") return void report(offset, path, tilde)
    if (/^[-+]?0\d/.test(source))
      return void report(offset, path, `must not begin with a zero (${shown(source)}): older YAML reads it as octal`)
    return node.value
  }

  const root = lexical.length + document.errors.length > 0 ? undefined : value(document.contents, [], 0)
  return {
    value: isEmpty(document.contents) ? Object.create(null) : root,
    problems,
    offsetOf: (path, part) => {
      for (let length = path.length; length > 0; length--) {
        const at = path.slice(0, length)
        const found = offsets.get(id(at, part)) ?? offsets.get(id(at, part === "key" ? "value" : "key"))
        if (found !== undefined) return found
      }
      return 0
    },
    lineAndColumn: (offset) => {
      const { line, col } = lines.linePos(offset)
      return [Math.max(line, 1), Math.max(col, 1)]
    }
  }
}

const id = (path: ConfigPath, part: "key" | "value") => JSON.stringify([part, ...path])

const place = (lines: LineCounter, offset: number) => {
  const { line, col } = lines.linePos(offset)
  return `${line}:${col}`
}

/** What YAML would take, or report in a way that is hard to understand. */
const lexicalProblems = (text: string): ReadonlyArray<{ readonly offset: number; readonly words: string }> => [
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

const isEmpty = (node: Node | null) =>
  node === null || ("source" in node && node.source === "" && node.anchor === undefined)

const syntaxWords = (code: string, message: string): string => {
  if (code === "MULTIPLE_DOCS") return "must be one document: remove the --- and what follows"
  return `is not YAML that can be read: ${message.split("\n")[0]}`
}
