/** Numbers that follow from a seed (mulberry32), so that a round's plan can be made again. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 up to, and without, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  pick<A>(all: ReadonlyArray<A>): A {
    return all[this.below(all.length)]!
  }

  /** Each as often as its weight says. */
  weighted<A extends string>(weights: Readonly<Record<A, number>>): A {
    const all = Object.entries(weights) as Array<[A, number]>
    let at = this.next() * all.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of all) {
      at -= weight
      if (at < 0) return name
    }
    return all[0]![0]
  }
}
