import type { Locale } from "../domain/Settings.ts"
import type { Command } from "./Command.ts"

/** Help for one command, or for all; its language follows `SAGYO_LOCALE`, then `LANG`. */
export const helpText = (
  name: string | undefined,
  commands: Readonly<Record<string, Command>>,
  env: Readonly<Record<string, string | undefined>>
): string => {
  const locale = localeOf(env)
  const command = name === undefined ? undefined : commands[name]
  return command === undefined
    ? overview(commands, locale)
    : `${command.summary[locale]}\n\n  sagyo ${command.usage}\n\n${texts.example[locale]}\n  ${command.example}\n`
}

const overview = (commands: Readonly<Record<string, Command>>, locale: Locale): string => {
  const lines = Object.values(commands).map((command) => `  sagyo ${command.usage}\n      ${command.summary[locale]}`)
  return `${texts.what[locale]}\n\n${lines.join("\n")}\n\n${texts.everywhere[locale]}\n`
}

const localeOf = (env: Readonly<Record<string, string | undefined>>): Locale => {
  if (env.SAGYO_LOCALE === "ja" || env.SAGYO_LOCALE === "en") return env.SAGYO_LOCALE
  const language = env.LC_ALL || env.LC_MESSAGES || env.LANG || ""
  return language.startsWith("ja") ? "ja" : "en"
}

const texts = {
  what: {
    ja: "sagyo: 手元のモデルを、MCP クライアントが仕事を任せられるエージェントにします。",
    en: "sagyo: turns a model on your own machine into an agent that any MCP client can hand work to."
  },
  everywhere: {
    ja: "すべてのコマンドで: --config FILE（設定ファイル）、--help。\n終了コード: 0 成功、1 失敗、2 使い方・設定・データフォルダの誤り、130 取り消し。",
    en: "On every command: --config FILE (the settings file), --help.\nExit codes: 0 done, 1 failed, 2 wrong usage, settings or data folder, 130 cancelled."
  },
  example: { ja: "例:", en: "Example:" }
}
