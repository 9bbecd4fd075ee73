import { join } from "node:path"
import { Layer } from "effect"
import type { AgentLoop } from "../../src/agent/AgentLoop.ts"
import { AuditFile } from "../../src/audit/AuditFile.ts"
import { AuditLog } from "../../src/audit/AuditLog.ts"
import type { Settings } from "../../src/config/AppConfig.ts"
import { ProcessRepo } from "../../src/store/ProcessRepo.ts"
import { RunnerLock } from "../../src/store/RunnerLock.ts"
import { RunnerRepo } from "../../src/store/RunnerRepo.ts"
import { SessionRepo } from "../../src/store/SessionRepo.ts"
import { Sql } from "../../src/store/Sql.ts"
import { StoreChanges } from "../../src/store/StoreChanges.ts"
import { TaskIntake } from "../../src/store/TaskIntake.ts"
import { TaskRepo } from "../../src/store/TaskRepo.ts"
import { ImageValidator } from "../../src/task/ImageValidator.ts"
import { RefusalLog } from "../../src/task/RefusalLog.ts"
import { TaskQueue } from "../../src/task/TaskQueue.ts"
import { TaskRecovery } from "../../src/task/TaskRecovery.ts"
import { layer as tasksLayer } from "../../src/task/TasksLive.ts"
import { testConfig } from "./TestSettings.ts"

/** The real store on disk, in the data folder of `settings`. */
export const testStore = (settings: Settings) =>
  Layer.mergeAll(
    TaskIntake.layer,
    TaskRepo.layer,
    RunnerRepo.layer,
    SessionRepo.layer,
    ProcessRepo.layer,
    AuditFile.layer
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(AuditLog.layer, StoreChanges.layer)),
    Layer.provideMerge(Sql.layer(join(settings.dataDir, "sagyo.db"))),
    Layer.provideMerge(testConfig(settings))
  )

/** The door and the queue over the real store, with another agent than the real one. */
export const testTasks = (settings: Settings, agent: Layer.Layer<AgentLoop>) =>
  Layer.mergeAll(tasksLayer, TaskQueue.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(ImageValidator.layer, RefusalLog.layer, TaskRecovery.layer, agent)),
    Layer.provideMerge(RunnerLock.layer(join(settings.dataDir, "runner.db"), "10 millis")),
    Layer.provideMerge(testStore(settings))
  )
