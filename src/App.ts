import { Context, Effect, Layer } from "effect"
import type { CommandInput } from "./cli/Command.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { AppLog } from "./log/AppLog.ts"
import { StoreFailed } from "./store/StoreFailed.ts"
import { Tasks } from "./task/Tasks.ts"

/**
 * Where layers are composed: here for each command, and in `AppWork.ts` what stands behind the door. That one is
 * loaded only by who goes through it, since a start must be fast and without side effects.
 */
const settings = (input: CommandInput) =>
  notices.pipe(Layer.provideMerge(AppLog.layer), Layer.provideMerge(AppConfig.layer(input.flags)))

const notices = Layer.effectDiscard(
  Effect.flatMap(AppConfig, (config) => Effect.forEach(config.notices, (notice) => Effect.logWarning(notice)))
)

/** A command's stderr is for a person: of the log it shows only errors, unless a file or another level was asked for. */
const quietSettings = (input: CommandInput) =>
  AppLog.layer.pipe(
    Layer.provideMerge(
      Layer.map(AppConfig.layer(input.flags), (context) => {
        const { log, ...others } = Context.get(context, AppConfig)
        const level = log.file === null && log.level === "info" ? "error" : log.level
        return Context.make(AppConfig, { ...others, log: { ...log, level } })
      })
    )
  )

const work = Effect.promise(() => import("./AppWork.ts"))
const door = Layer.unwrapEffect(Effect.map(work, (layers) => layers.door))
const doorAndQueue = Layer.unwrapEffect(Effect.map(work, (layers) => layers.doorAndQueue))
const demoTools = Layer.unwrapEffect(Effect.map(work, (layers) => layers.demoTools))
const server = Layer.unwrapEffect(Effect.map(work, (layers) => layers.server))

/** A host may start a server only to look at it: what is behind the door is opened by the first tool call. */
const serverOnFirstUse = Layer.unwrapEffect(
  Effect.map(AppConfig, (config) =>
    Tasks.layerOnFirstUse(
      Effect.map(work, (layers) => Layer.provide(layers.server, Layer.succeed(AppConfig, config))),
      (error) =>
        error._tag === "StoreFailed"
          ? error
          : new StoreFailed({ reason: "unopened", detail: error.message, cause: error })
    )
  )
)

export const stdio = (input: CommandInput) =>
  Effect.flatMap(
    Effect.promise(() => import("./cli/stdio.ts")),
    (command) => command.stdio
  ).pipe(Effect.provide(serverOnFirstUse), Effect.provide(settings(input)))

export const serve = (input: CommandInput) =>
  Effect.flatMap(
    Effect.promise(() => import("./cli/serve.ts")),
    (command) => command.serve
  ).pipe(Effect.provide(server), Effect.provide(settings(input)))

export const run = (input: CommandInput) =>
  Effect.flatMap(
    Effect.promise(() => import("./cli/run.ts")),
    (command) => command.run(input)
  ).pipe(Effect.provide(doorAndQueue), Effect.provide(quietSettings(input)))

export const status = (input: CommandInput) =>
  Effect.flatMap(
    Effect.promise(() => import("./cli/status.ts")),
    (command) => command.status(input)
  ).pipe(Effect.provide(door), Effect.provide(quietSettings(input)))

export const cancel = (input: CommandInput) =>
  Effect.flatMap(
    Effect.promise(() => import("./cli/cancel.ts")),
    (command) => command.cancel(input)
  ).pipe(Effect.provide(doorAndQueue), Effect.provide(quietSettings(input)))

export const tasks = (input: CommandInput) =>
  Effect.flatMap(
    Effect.promise(() => import("./cli/tasks.ts")),
    (command) => command.tasks(input)
  ).pipe(Effect.provide(door), Effect.provide(quietSettings(input)))

export const demo = (input: CommandInput) =>
  Effect.flatMap(
    Effect.promise(() => import("./cli/demo.ts")),
    (command) => command.demo(input)
  ).pipe(Effect.provide(demoTools), Effect.provide(quietSettings(input)))
