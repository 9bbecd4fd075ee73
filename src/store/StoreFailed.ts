import { Schema } from "effect"
import type { Bilingual } from "../domain/Settings.ts"

/** What the store may meet while it works: the task fails or waits with this reason, and nothing stored is damaged. */
export class StoreFailed extends Schema.TaggedError<StoreFailed>()("StoreFailed", {
  reason: Schema.Literal("full", "readonly", "busy", "damaged", "io", "unopened"),
  /** What mends it, where the reason alone does not say. */
  detail: Schema.optional(Schema.String),
  cause: Schema.Defect
}) {
  /** What happened and what mends it. */
  get text(): Bilingual {
    const text = texts[this.reason]
    return this.detail === undefined ? text : { ja: `${text.ja} ${this.detail}`, en: `${text.en} ${this.detail}` }
  }
}

const texts: Record<StoreFailed["reason"], Bilingual> = {
  full: {
    ja: "ディスクの空きがなく、保存できませんでした。データフォルダのあるディスクに空きを作ってから、もう一度実行してください。",
    en: "The disk is full, so nothing could be stored. Free some space on the disk of the data folder and try again."
  },
  readonly: {
    ja: "データフォルダに書き込めませんでした。フォルダの権限と、読み取り専用でマウントされていないかを確かめてください。",
    en: "The data folder cannot be written. Check its permissions, and whether its disk is mounted read-only."
  },
  busy: {
    ja: "別のプログラムがデータベースを使用中で、保存できませんでした。それを閉じてから、もう一度実行してください。",
    en: "Another program keeps the database locked, so nothing could be stored. Close it and try again."
  },
  damaged: {
    ja: "データベースが壊れています。すべて終了してから、バックアップを sagyo.db の場所に置いてください。",
    en: "The database is damaged. Put a backup in the place of sagyo.db while nothing runs."
  },
  io: {
    ja: "データフォルダの読み書きに失敗しました。ディスクの状態と権限を確かめてください。",
    en: "The data folder could not be read or written. Check the disk and the permissions."
  },
  unopened: {
    ja: "データフォルダを開けませんでした。",
    en: "The data folder could not be opened."
  }
}
