import { join } from "node:path"
import { Effect, Layer } from "effect"
import { AgentLoop } from "./agent/AgentLoop.ts"
import { AuditFile } from "./audit/AuditFile.ts"
import { AuditLog } from "./audit/AuditLog.ts"
import { AppConfig } from "./config/AppConfig.ts"
import type { StartedGroup } from "./domain/StartedGroup.ts"
import { OllamaClient } from "./ollama/OllamaClient.ts"
import { checkNativeModule, prepareDataFolder } from "./store/DataFolder.ts"
import { ProcessRepo } from "./store/ProcessRepo.ts"
import { RunnerLock } from "./store/RunnerLock.ts"
import { RunnerRepo } from "./store/RunnerRepo.ts"
import { SessionRepo } from "./store/SessionRepo.ts"
import { Sql } from "./store/Sql.ts"
import { StoreChanges } from "./store/StoreChanges.ts"
import { TaskIntake } from "./store/TaskIntake.ts"
import { TaskRepo } from "./store/TaskRepo.ts"
import { ImageValidator } from "./task/ImageValidator.ts"
import { RefusalLog } from "./task/RefusalLog.ts"
import { TaskQueue } from "./task/TaskQueue.ts"
import { TaskRecovery } from "./task/TaskRecovery.ts"
import { layer as tasks } from "./task/TasksLive.ts"
import { Approver } from "./tools/Approval.ts"
import { ProcessLedger } from "./tools/ProcessLedger.ts"
import { Sandbox } from "./tools/Sandbox.ts"
import { ToolBox } from "./tools/ToolBox.ts"

/** The data folder's database, made where it is missing. */
const sql = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    yield* checkNativeModule
    yield* prepareDataFolder(dataDir)
    return Sql.layer(join(dataDir, "sagyo.db"))
  })
)

const lock = Layer.unwrapEffect(Effect.map(AppConfig, ({ dataDir }) => RunnerLock.layer(join(dataDir, "runner.db"))))

const store = Layer.mergeAll(
  TaskIntake.layer,
  TaskRepo.layer,
  RunnerRepo.layer,
  SessionRepo.layer,
  ProcessRepo.layer,
  AuditFile.layer
).pipe(Layer.provideMerge(Layer.mergeAll(AuditLog.layer, StoreChanges.layer)), Layer.provideMerge(sql))

/** A command whose group cannot be written down runs all the same: only a crash would miss the row. */
const ledger = Layer.effect(
  ProcessLedger,
  Effect.map(ProcessRepo, (repo) => ({
    record: (group: StartedGroup) => Effect.ignoreLogged(repo.record(group)),
    forget: (group: StartedGroup) => Effect.ignoreLogged(repo.forget(group))
  }))
)

const tools = ToolBox.layer.pipe(Layer.provide([Sandbox.layer, Approver.nobody, ledger]))

/** The door alone: accepts, answers and cancels; others run the tasks. */
export const door = tasks.pipe(Layer.provide([ImageValidator.layer, RefusalLog.layer]), Layer.provideMerge(store))

/** The door, and the queue for who wants to run tasks. */
export const doorAndQueue = TaskQueue.layer.pipe(
  Layer.provide([AgentLoop.layer, TaskRecovery.layer, lock]),
  Layer.provide([tools, OllamaClient.layer]),
  Layer.provideMerge(door)
)

/** The door of a server: its process runs tasks as soon as no other one does. */
export const server = TaskQueue.layerRunning.pipe(Layer.provideMerge(doorAndQueue))

/** What the demo needs itself: its task runs in a server of its own. */
export const demoTools = Layer.merge(Sandbox.layer, OllamaClient.layer)
