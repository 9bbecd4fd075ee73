import type { Locale } from "../domain/Settings.ts"
import type { Command } from "./Command.ts"
import { everywhere, type FlagName, flags } from "./Flags.ts"

type Commands = Readonly<Record<string, Command>>

/** Help for one command, or for all. */
export const helpText = (name: string | undefined, commands: Commands, locale: Locale): string => {
  const command = name === undefined ? undefined : commands[name]
  return command === undefined ? overview(commands, locale) : details(command, locale)
}

/** What stands below the sentence that says what was wrong with a command line. */
export const usageHint = (name: string | undefined, commands: Commands): string => {
  const command = name === undefined ? undefined : commands[name]
  return command === undefined
    ? `Commands: ${Object.keys(commands).join(", ")}. See sagyo --help`
    : `Usage: sagyo ${command.usage}. See sagyo ${name} --help`
}

/** The language of what is said before any settings are read: `SAGYO_LOCALE`, then the terminal's. */
export const helpLocale = (env: Readonly<Record<string, string | undefined>>): Locale => {
  if (env.SAGYO_LOCALE === "ja" || env.SAGYO_LOCALE === "en") return env.SAGYO_LOCALE
  const language = env.LC_ALL || env.LC_MESSAGES || env.LANG || ""
  return language.startsWith("ja") ? "ja" : "en"
}

const overview = (commands: Commands, locale: Locale): string => {
  const lines = Object.values(commands).map((command) => `  sagyo ${command.usage}\n      ${command.summary[locale]}`)
  return `${texts.what[locale]}\n\n${lines.join("\n")}\n\n${texts.everywhere[locale]}\n`
}

const details = (command: Command, locale: Locale): string => {
  const lines = [...command.flags, ...everywhere].map(
    (name) => `  ${spelled(name).padEnd(17)} ${flags[name].summary[locale]}`
  )
  return `${command.summary[locale]}

  sagyo ${command.usage}

${lines.join("\n")}

${texts.example[locale]}
  ${command.example}
`
}

const spelled = (name: FlagName) => `--${name}${flags[name].takes === undefined ? "" : ` ${flags[name].takes}`}`

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
