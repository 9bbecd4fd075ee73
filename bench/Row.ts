/** One line of the table: both measured values in `unit`, their ratio, and the aim it is held to. */
export interface Row {
  readonly what: string
  readonly unit: string
  readonly own: number
  readonly bare: number | null
  /** Own over bare: the median over the rounds of the run, and between which values half of them lie. */
  readonly ratio: { readonly median: number; readonly from: number; readonly to: number } | null
  readonly aim: string
}

/** Two values that were measured one after the other, so that a slow minute of the machine hits both. */
interface Pair {
  readonly own: number
  readonly bare: number
}

/** Measures both in turn, first the one and then the other first. */
export const pairs = async (
  rounds: number,
  own: () => Promise<number>,
  bare: () => Promise<number>
): Promise<ReadonlyArray<Pair>> => {
  const measured: Array<Pair> = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const value = await own()
      measured.push({ own: value, bare: await bare() })
    } else {
      const value = await bare()
      measured.push({ own: await own(), bare: value })
    }
  }
  return measured
}

export const rowOf = (what: string, unit: string, aim: string, measured: ReadonlyArray<Pair>): Row => {
  const ratios = measured.map(({ own, bare }) => own / bare)
  return {
    what,
    unit,
    own: quantile(
      measured.map(({ own }) => own),
      0.5
    ),
    bare: quantile(
      measured.map(({ bare }) => bare),
      0.5
    ),
    ratio: { median: quantile(ratios, 0.5), from: quantile(ratios, 0.25), to: quantile(ratios, 0.75) },
    aim
  }
}

const quantile = (values: ReadonlyArray<number>, at: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const place = (sorted.length - 1) * at
  const below = sorted[Math.floor(place)]!
  return below + (sorted[Math.ceil(place)]! - below) * (place % 1)
}

/** Markdown. */
export const table = (rows: ReadonlyArray<Row>): string =>
  [
    "| what | sagyo | bare | ratio | half of the rounds | aim |",
    "|---|---:|---:|---:|---:|---:|",
    ...rows.map(({ what, unit, own, bare, ratio, aim }) => {
      const spread = ratio === null ? "" : `${ratio.from.toFixed(2)} to ${ratio.to.toFixed(2)}`
      const values = [`${shown(own)} ${unit}`, bare === null ? "" : `${shown(bare)} ${unit}`]
      return `| ${[what, ...values, ratio?.median.toFixed(2) ?? "", spread, aim].join(" | ")} |`
    })
  ].join("\n")

const shown = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1))
