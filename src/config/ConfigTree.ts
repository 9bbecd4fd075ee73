import type { Node, Pair, ParsedNode, Scalar } from "yaml"
import { shown } from "./Rule.ts"
import { readYaml, type Yaml } from "./YamlText.ts"

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
  const { contents, problems: syntax, place } = readYaml(yaml, text)
  const problems: Array<TextProblem> = syntax.map((problem) => ({ ...problem, path: [] }))
  const offsets = new Map<string, number>()
  const report = (offset: number, path: ConfigPath, words: string) => problems.push({ offset, path, words })

  const value = (node: Node | null, path: ConfigPath, from: number): unknown => {
    const offset = node?.range?.[0] ?? from
    offsets.set(id(path, "value"), offset)
    if (yaml.isAlias(node)) return void report(offset, path, "must not be an alias (*name): write the value out")
    if (node === null) return isSection(path) ? Object.create(null) : void report(offset, path, empty)
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
      const first = offsets.get(id(below, "key"))
      if (!yaml.isScalar(key) || name === "") report(offset, path, "must have plain words as keys")
      else if (first !== undefined) report(offset, below, `is given twice, first at ${place(first).join(":")}`)
      else {
        offsets.set(id(below, "key"), offset)
        const read = value(node, below, key.range[1])
        if (read !== undefined) record[name] = read
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

  return {
    value: syntax.length > 0 ? undefined : isEmpty(contents) ? Object.create(null) : value(contents, [], 0),
    problems,
    offsetOf: (path, part) => {
      for (let length = path.length; length > 0; length--) {
        const at = path.slice(0, length)
        const found = offsets.get(id(at, part)) ?? offsets.get(id(at, part === "key" ? "value" : "key"))
        if (found !== undefined) return found
      }
      return 0
    },
    lineAndColumn: place
  }
}

const id = (path: ConfigPath, part: "key" | "value") => JSON.stringify([part, ...path])

const isEmpty = (node: Node | null) =>
  node === null || ("source" in node && node.source === "" && node.anchor === undefined)
