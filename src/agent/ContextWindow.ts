import type { Message } from "../domain/Message.ts"
import type { ToolCall } from "../domain/ToolCall.ts"
import type { ChatMessage, ToolDefinition } from "../ollama/OllamaSchema.ts"
import type { Conversation } from "./Conversation.ts"
import { leftOut } from "./Prompt.ts"
import { attachImages, boundImages, imagesIn, imageTokens } from "./WindowImages.ts"
import { item, itemOf, shortenItem, type WindowItem, type WindowUnit } from "./WindowUnit.ts"

export interface WindowOptions {
  readonly system: string
  readonly tools: ReadonlyArray<ToolDefinition>
  readonly numCtx: number
  /** Whether the task's own thinking is sent back to the model. */
  readonly thinking: boolean
  /** Names a call in a few words. */
  readonly describe: (call: ToolCall) => string
}

/**
 * What of a conversation the model is shown. It only grows at its end, so that the model's server can reuse what it
 * has read, until it is too large: then so much is shortened at once that it can grow for a while again. What was
 * shortened stays so. It belongs to the fiber of one task.
 */
export class ContextWindow {
  readonly #options: WindowOptions
  readonly #system: WindowItem
  readonly #toolBytes: number
  #units: Array<WindowUnit> = []
  /** Stands where units were dropped, and after the request where these were the task's own. */
  #marker: { readonly item: WindowItem; readonly calls: ReadonlyArray<string>; readonly own: boolean } | null = null
  /** Bytes of all units, and tokens of their images. */
  #size = 0
  #imageSum = 0
  #numCtx: number
  #budget: number
  #bytesPerToken = 3.2

  constructor(options: WindowOptions, { earlier, own }: Pick<Conversation, "earlier" | "own">) {
    this.#options = options
    this.#system = item({ role: "system", content: options.system })
    this.#toolBytes = Buffer.byteLength(JSON.stringify(options.tools))
    this.#numCtx = options.numCtx
    this.#budget = budgetOf(options.numCtx)
    for (const task of earlier) for (const [index, message] of task.entries()) this.#add(message, index === 0, false)
    for (const [index, message] of own.entries()) this.#add(message, index === 0, true)
    boundImages(this.#units)
    this.#measure()
  }

  /** Appends what the task has just said, or heard. */
  add(message: Message): void {
    this.#add(message, false, true)
  }

  /** The prompt, oldest first. */
  messages(): ReadonlyArray<ChatMessage> {
    return [this.#system, ...this.#ordered()].map((each) => each.chat)
  }

  /** Hashes of the images in the window whose bytes are to be given to `attach`. */
  imageHashes(): ReadonlyArray<string> {
    return [...new Set(imagesIn(this.#units).map((image) => image.hash))]
  }

  attach(data: ReadonlyMap<string, Uint8Array>): void {
    attachImages(this.#units, data)
    this.#measure()
  }

  /** How many images there are in the task's own request, and in the requests before it. */
  imageCount(): { readonly own: number; readonly earlier: number } {
    const own = imagesIn(this.#units.filter((unit) => unit.own)).length
    return { own, earlier: imagesIn(this.#units).length - own }
  }

  get numCtx(): number {
    return this.#numCtx
  }

  /** What the prompt will cost, in tokens, as far as we can tell before it is sent. */
  estimate(): number {
    return Math.ceil(this.#bytes() / this.#bytesPerToken) + this.#imageSum
  }

  /** Shortens the window where it is too large for its budget. True where it did. */
  fit(): boolean {
    if (this.estimate() <= this.#budget) return false
    const goal = this.#budget * 0.6
    let changed = this.#shortenOld(goal)
    // shortening that leaves some room is enough; dropping costs more than tool output
    if (this.estimate() > this.#budget * 0.8) changed = this.#dropOld(goal, 2) || changed
    changed = this.#shortenAll() || changed
    return this.#dropOld(this.#budget, 1) || changed
  }

  /**
   * Learns from the count that the server gave for the prompt as it is now. False where the server cannot have read
   * the whole of it: some drop the oldest messages without a word.
   */
  learnCount(promptTokens: number | null): boolean {
    if (promptTokens === null) return true
    const bytes = this.#bytes()
    const perToken = bytes / Math.max(1, promptTokens - this.#imageSum)
    // counts that no tokenizer gives come from servers that count something else
    if (perToken >= 1.5 && perToken <= 8) this.#bytesPerToken = perToken
    return !(bytes > 32_768 && promptTokens >= 1000 && perToken > 16)
  }

  /** Makes room after the server refused the prompt as it is now. False where nothing is left to shorten. */
  refused(message: string): boolean {
    const [asked, given] = [...message.matchAll(/\((\d+) tokens\)/g)].map((match) => Number(match[1]))
    if (asked !== undefined) this.learnCount(asked)
    if (given !== undefined && given > 0 && given < this.#numCtx) this.#numCtx = given
    this.#budget = Math.min(this.#budget, budgetOf(this.#numCtx), Math.floor(this.estimate() * 0.75))
    return this.fit()
  }

  #add(message: Message, request: boolean, own: boolean): void {
    const added = itemOf(message, own && this.#options.thinking)
    if (added === null) return
    this.#size += added.bytes
    const last = this.#units.at(-1)
    const opens = request || message._tag === "assistant" || last?.kind !== "turn"
    if (!opens) last.items.push(added)
    else {
      const calls = message._tag === "assistant" ? message.toolCalls : []
      this.#units.push({ kind: request ? "request" : "turn", own, items: [added], calls })
    }
  }

  #ordered(): ReadonlyArray<WindowItem> {
    const items = (units: ReadonlyArray<WindowUnit>) => units.flatMap((unit) => unit.items)
    if (this.#marker === null) return items(this.#units)
    const at = this.#marker.own ? this.#units.findIndex(isPinned) + 1 : 0
    return [...items(this.#units.slice(0, at)), this.#marker.item, ...items(this.#units.slice(at))]
  }

  #bytes(): number {
    return this.#system.bytes + this.#toolBytes + (this.#marker?.item.bytes ?? 0) + this.#size
  }

  #measure(): void {
    this.#size = this.#units.reduce((sum, unit) => sum + unitBytes(unit), 0)
    this.#imageSum = imagesIn(this.#units).reduce((sum, image) => sum + imageTokens(image), 0)
  }

  #shortenOld(goal: number): boolean {
    let changed = false
    for (const unit of this.#old(2)) {
      for (const each of unit.items) {
        if (this.estimate() <= goal) return changed
        changed = this.#shorten(each, 400) || changed
      }
    }
    return changed
  }

  #dropOld(goal: number, keep: number): boolean {
    const dropped = new Set<WindowUnit>()
    for (const unit of this.#old(keep)) {
      if (this.estimate() <= goal) break
      dropped.add(unit)
      this.#size -= unitBytes(unit)
      this.#imageSum -= imagesIn([unit]).reduce((sum, image) => sum + imageTokens(image), 0)
    }
    if (dropped.size === 0) return false
    this.#units = this.#units.filter((unit) => !dropped.has(unit))
    const named = [...dropped].flatMap((unit) => unit.calls.map((call) => this.#options.describe(call).slice(0, 80)))
    const calls = [...(this.#marker?.calls ?? []), ...named].slice(-20)
    const own = this.#marker?.own === true || [...dropped].some((unit) => unit.own)
    this.#marker = { item: item({ role: "user", content: leftOut(calls) }), calls, own }
    return true
  }

  #shortenAll(): boolean {
    let changed = false
    for (let most = Math.floor(this.#budget * this.#bytesPerToken * 0.25); most >= 400; most = Math.floor(most / 2)) {
      for (const each of this.#units.flatMap((unit) => unit.items)) {
        if (this.estimate() <= this.#budget) return changed
        changed = this.#shorten(each, most) || changed
      }
    }
    return changed
  }

  #shorten(target: WindowItem, most: number): boolean {
    const before = target.bytes
    const changed = shortenItem(target, most)
    this.#size += target.bytes - before
    return changed
  }

  /** All but the task's request and its newest turns, oldest first. */
  #old(keep: number): ReadonlyArray<WindowUnit> {
    const newest = this.#units.filter((unit) => unit.kind === "turn").slice(-keep)
    return this.#units.filter((unit) => !isPinned(unit) && !newest.includes(unit))
  }
}

const unitBytes = (unit: WindowUnit): number => unit.items.reduce((sum, each) => sum + each.bytes, 0)

const isPinned = (unit: WindowUnit): boolean => unit.kind === "request" && unit.own

/** Leaves room for the reply. */
const budgetOf = (numCtx: number): number => numCtx - Math.min(4096, Math.floor(numCtx / 4))
