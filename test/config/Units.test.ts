import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { day, duration, keepAlive, MiB, second, size } from "../../src/config/Units.ts"

const words = <A>(result: Either.Either<A, string>) => (Either.isLeft(result) ? result.left : "accepted")

describe("size", () => {
  const rule = size(1, 256 * MiB)

  it("counts bytes in units of 1000 and of 1024", () => {
    const cases = [
      ["1B", 1],
      ["10KB", 10_000],
      ["10KiB", 10_240],
      ["2MB", 2_000_000],
      ["10MiB", 10_485_760],
      ["10 MiB", 10_485_760],
      ["1.5MiB", 1_572_864],
      ["0.25GiB", 268_435_456]
    ] as const
    for (const [written, bytes] of cases) assert.deepStrictEqual(rule(written), Either.right(bytes), written)
  })

  it("refuses what has no unit, another one, a sign or a bound beyond", () => {
    const refused = [
      10,
      "10",
      "10M",
      "10mib",
      "10Mb",
      "-1MiB",
      "+1MiB",
      "0MiB",
      "0B",
      "1TiB",
      "1e3KiB",
      "0x10B",
      "10MiB/s",
      "10  MiB",
      "MiB",
      "",
      " 1MiB",
      "1GiB"
    ]
    for (const written of refused)
      assert.match(words(rule(written)), /^must be a size with a unit \(B, KB, /, String(written))
    for (const written of [
      "99999999999999999999GiB",
      "999999999999999GiB",
      true,
      null,
      [],
      Number.NaN,
      Number.POSITIVE_INFINITY
    ]) {
      assert.isTrue(Either.isLeft(rule(written)), String(written))
    }
  })

  it("names the unit that was meant where only its case is wrong", () => {
    assert.include(words(rule("10mib")), 'did you mean "10MiB"?')
  })
})

describe("duration", () => {
  const rule = duration(second, 24 * day)

  it("counts milliseconds", () => {
    const cases = [
      ["1500ms", 1500],
      ["30s", 30_000],
      ["1.5m", 90_000],
      ["2h", 7_200_000],
      ["24d", 2_073_600_000]
    ] as const
    for (const [written, millis] of cases) assert.deepStrictEqual(rule(written), Either.right(millis), written)
  })

  it("refuses what has no unit, another one, or is out of bounds", () => {
    for (const written of [
      300,
      "300",
      "5 min",
      "5M",
      "1w",
      "1h30m",
      "-5m",
      "0s",
      "999ms",
      "25d",
      "1e9d",
      "∞",
      ".inf"
    ]) {
      assert.match(
        words(rule(written)),
        /^must be a duration with a unit \(ms, s, m, h, d\) from 1s to 24d, not /,
        String(written)
      )
    }
  })
})

describe("keepAlive", () => {
  it("takes durations, 0 for not at all and -1 for ever", () => {
    assert.deepStrictEqual(keepAlive("10m"), Either.right(600_000))
    assert.deepStrictEqual(keepAlive("0s"), Either.right(0))
    assert.deepStrictEqual(keepAlive(0), Either.right(0))
    assert.deepStrictEqual(keepAlive(-1), Either.right(-1))
  })

  it("refuses other bare numbers, since their unit cannot be known", () => {
    for (const written of [300, -2, 0.5, "-1m", "forever", true])
      assert.include(words(keepAlive(written)), "-1 keeps the model for ever")
  })
})
