import { realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { Context, Effect, Layer, Option } from "effect"
import type { Bilingual } from "../domain/Settings.ts"
import { runChild } from "./ChildProcess.ts"
import { guardGit, removeUnwanted } from "./GitGuard.ts"
import { plainLine } from "./PlainText.ts"
import { findProgram } from "./Programs.ts"
import { sandboxArguments } from "./SandboxArguments.ts"
import type { Workspace } from "./Workspace.ts"

const PROBE_MILLIS = 5_000

/** A command line that runs another one confined, and what is to be done when it has ended. */
export interface Confinement {
  readonly argv: ReadonlyArray<string>
  /** Undoes what could not be forbidden; gives the paths that it removed. */
  readonly restore: Effect.Effect<ReadonlyArray<string>>
}

/** Confines commands to a workspace: no other files to write, no network, no other processes. */
export class Sandbox extends Context.Tag("sagyo/tools/Sandbox")<
  Sandbox,
  {
    /** None where it works; else why it does not and what mends it. Found out by trying, once a minute at the most. */
    readonly problem: Effect.Effect<Option.Option<Bilingual>>
    readonly confine: (workspace: Workspace, network: boolean) => Effect.Effect<Confinement>
  }
>() {
  /** Bubblewrap, from PATH. */
  static readonly layer = Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const problem = yield* Effect.cachedWithTTL(probe, "1 minute")
      return { problem, confine }
    })
  )
}

const confine = Effect.fn("Sandbox.confine")(function* (workspace: Workspace, network: boolean) {
  const program = yield* Effect.promise(() => findProgram("bwrap", workspace.root))
  const guard = yield* Effect.promise(() => guardGit(workspace.root))
  const args = yield* Effect.promise(() => sandboxArguments(workspace, guard, network))
  return {
    argv: [program ?? "bwrap", ...args],
    restore: removeUnwanted(workspace, guard)
  } satisfies Confinement
})

/** Runs the least command in the very sandbox that commands get. */
const probe: Effect.Effect<Option.Option<Bilingual>> = Effect.gen(function* () {
  if (process.platform !== "linux") return Option.some(NOT_HERE)
  const root = yield* Effect.promise(() => realpath(tmpdir()))
  const program = yield* Effect.promise(() => findProgram("bwrap", root))
  if (program === null) return Option.some(NOT_INSTALLED)
  const guard = { pinned: [], readOnly: [], unwanted: [] }
  const args = yield* Effect.promise(() => sandboxArguments({ root, hidden: [] }, guard, false))
  let said = ""
  const end = yield* runChild({
    argv: [program, ...args, "/bin/sh", "-c", ":"],
    cwd: root,
    env: {},
    timeoutMillis: PROBE_MILLIS,
    graceMillis: 0,
    marker: null,
    onStdout: () => undefined,
    onStderr: (chunk) => {
      said = (said + chunk.toString("utf8")).slice(0, 1000)
    }
  })
  return end.exitCode === 0 ? Option.none() : Option.some(broken(end.timedOut ? "timeout" : plainLine(said, 200)))
}).pipe(Effect.catchTag("ToolFailed", ({ message }) => Effect.succeed(Option.some(broken(message)))))

const NOT_HERE: Bilingual = {
  ja: "この OS ではサンドボックスをまだ使えないため、shell は使えません。危険を承知で使うには agent.yaml に tools.shell.sandbox: off と書いてください。",
  en: "There is no sandbox for this system yet, so shell is not offered. To use it without one, at your own risk, set tools.shell.sandbox: off in agent.yaml."
}

const NOT_INSTALLED: Bilingual = {
  ja: "サンドボックスに要る bubblewrap がないため、shell は使えません。`apt-get install bubblewrap` などで入れてください（サンドボックスなしで使うには agent.yaml に tools.shell.sandbox: off）。",
  en: "bubblewrap, which the sandbox needs, is not installed, so shell is not offered. Install it, for example with `apt-get install bubblewrap` (or set tools.shell.sandbox: off in agent.yaml to go without a sandbox)."
}

const broken = (reason: string): Bilingual => ({
  ja: `サンドボックスが動かないため、shell は使えません（bubblewrap: ${reason}）。非特権ユーザー名前空間が必要です: \`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\` または \`sysctl -w kernel.unprivileged_userns_clone=1\`、コンテナーでは seccomp の制限を緩めてください。bubblewrap がなければ \`apt-get install bubblewrap\`。サンドボックスなしで使うには agent.yaml に tools.shell.sandbox: off と書いてください。`,
  en: `The sandbox does not work, so shell is not offered (bubblewrap: ${reason}). It needs unprivileged user namespaces: \`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\` or \`sysctl -w kernel.unprivileged_userns_clone=1\`, in a container a less strict seccomp profile. If bubblewrap is missing: \`apt-get install bubblewrap\`. To go without a sandbox set tools.shell.sandbox: off in agent.yaml.`
})
