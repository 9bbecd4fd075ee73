import type { Bilingual } from "../domain/Settings.ts"
import type { CommandInput } from "./Command.ts"

export type FlagName = keyof CommandInput["flags"]

/** How a flag is written. `takes` is what stands behind it; a flag without it is a switch. */
export interface Flag {
  readonly takes?: string
  /** Where it takes a number: which ones. */
  readonly number?: { readonly holds: (n: number) => boolean; readonly accepted: string }
  /** May stand several times. */
  readonly many?: true
  readonly summary: Bilingual
}

/** Every flag of every command, in the order in which help shows them. */
export const flags: Readonly<Record<FlagName, Flag>> = {
  host: { takes: "H", summary: { ja: "待ち受けるアドレス", en: "the address to listen on" } },
  port: {
    takes: "N",
    number: { holds: (n) => Number.isInteger(n) && n >= 0 && n <= 65535, accepted: "a whole number from 0 to 65535" },
    summary: { ja: "待ち受けるポート。0 は空いているもの", en: "the port to listen on; 0 picks a free one" }
  },
  session: { takes: "ID", summary: { ja: "セッションの UUID", en: "the UUID of a session" } },
  temperature: {
    takes: "T",
    number: { holds: Number.isFinite, accepted: "a number from 0.0 through 2.0" },
    summary: { ja: "このタスクだけの温度（0.0〜2.0）", en: "the temperature of this task alone, 0.0 through 2.0" }
  },
  image: {
    takes: "FILE",
    many: true,
    summary: {
      ja: "添付する画像（PNG、JPEG、WebP）。何度でも書けます",
      en: "a PNG, JPEG or WebP file to send along; may stand several times"
    }
  },
  detach: {
    summary: { ja: "登録だけして終わります", en: "end as soon as the task is registered" }
  },
  state: { takes: "S", summary: { ja: "この状態のタスクだけ", en: "only tasks in this state" } },
  limit: {
    takes: "N",
    number: { holds: (n) => Number.isSafeInteger(n) && n >= 1, accepted: "a whole number from 1" },
    summary: { ja: "最大の件数（既定 20）", en: "how many at the most (20)" }
  },
  scripted: {
    summary: {
      ja: "Ollama を使わず、台本どおりに答えるモデルで動かします",
      en: "play a scripted model, whether or not Ollama answers"
    }
  },
  json: { summary: { ja: "JSON で出力します", en: "print JSON" } },
  config: { takes: "FILE", summary: { ja: "設定ファイル", en: "the settings file" } }
}

/** Those that stand on every command. */
export const everywhere: ReadonlyArray<FlagName> = ["config"]

export const isFlagName = (name: string): name is FlagName => Object.hasOwn(flags, name)
