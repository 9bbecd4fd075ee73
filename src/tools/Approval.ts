import { Context, Effect, Layer, Option } from "effect"
import ignore from "ignore"
import type { ToolRule, ToolSettings } from "../domain/Settings.ts"
import type { ToolEnvironment } from "./ToolBox.ts"

/** A call that waits for a person. `subject` is what it works on, in full: a path or a command. */
export interface ApprovalRequest {
  readonly environment: ToolEnvironment
  readonly tool: string
  readonly subject: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** `reason` tells the model why not. `forTask`: calls like this one need not be asked about again in this task. */
export type ApprovalAnswer =
  | { readonly allowed: true; readonly forTask: boolean }
  | { readonly allowed: false; readonly reason: string }

/** Whoever can ask a person. */
export class Approver extends Context.Tag("sagyo/tools/Approver")<
  Approver,
  {
    /** Waits for the answer; interruption withdraws the question. */
    readonly ask: (request: ApprovalRequest) => Effect.Effect<ApprovalAnswer>
  }
>() {
  /** Nobody is there. */
  static readonly nobody = Layer.succeed(Approver, {
    ask: () => Effect.succeed({ allowed: false, reason: "nobody can be asked for approval here" })
  })
}

/** What rules look at: `paths` are the path as it was given and as it is once links are followed, both relative. */
export interface CallTarget {
  readonly tool: string
  readonly dangerous: boolean
  readonly paths: ReadonlyArray<string>
  readonly command: string | null
}

/** The first rule that matches decides; else `tools.approval`. Where nobody is to be asked, a rule that asks denies. */
export const decide = (tools: ToolSettings, target: CallTarget): "allow" | "ask" | "deny" => {
  const rule = tools.rules.find((rule) => matches(rule, target))
  const action =
    rule?.action ??
    (tools.approval === "always" || (tools.approval === "dangerous" && target.dangerous) ? "ask" : "allow")
  return action === "ask" && tools.approval === "never" ? "deny" : action
}

const matches = (rule: ToolRule, target: CallTarget): boolean =>
  (rule.tool === "*" || rule.tool === target.tool) &&
  (rule.command === undefined || (target.command !== null && hasPrefix(rule.command, rule.action, target.command))) &&
  (rule.path === undefined || hasPath(rule.path, rule.action, target.paths))

/** A permission must hold for all names of the place; a prohibition holds for each. */
const hasPath = (glob: string, action: ToolRule["action"], paths: ReadonlyArray<string>): boolean => {
  const rules = ignore().add(glob)
  const within = (path: string) => ignore.isPathValid(path) && rules.ignores(path)
  return action === "allow" ? paths.length > 0 && paths.every(within) : paths.some(within)
}

const OPERATORS = /&&|\|\||[;&|\n(){}`]|\$\(|[<>]\(/

/**
 * Whether a command begins with the words of `prefix`. Permission is given to one plain command only, since
 * anything may stand behind an operator; a prohibition looks at each part.
 */
const hasPrefix = (prefix: string, action: ToolRule["action"], command: string): boolean => {
  if (action === "allow" && /[;&|\n<>$`(){}\\]/.test(command)) return false
  return command.split(OPERATORS).some((part) => startsWithWords(part, prefix))
}

const startsWithWords = (command: string, prefix: string): boolean => {
  const [given, wanted] = [command.trim().split(/\s+/), prefix.trim().split(/\s+/)]
  return wanted.every((word, index) => given[index] === word)
}

/** Asks where asking is needed. None: the call may run; else why it may not, in words for the model. */
export const approve = Effect.fn("Approval.approve")(function* (
  approver: Context.Tag.Service<Approver>,
  request: ApprovalRequest,
  target: CallTarget
) {
  const { tools } = request.environment.settings
  const decision = decide(tools, target)
  if (decision === "allow") return Option.none<string>()
  if (decision === "deny") return Option.some("a rule of the owner forbids it")
  const answer = yield* approver.ask(request).pipe(
    Effect.timeoutTo({
      duration: tools.approvalTimeout,
      onSuccess: (answer): ApprovalAnswer => answer,
      onTimeout: (): ApprovalAnswer => ({ allowed: false, reason: "nobody answered in time" })
    })
  )
  return answer.allowed ? Option.none<string>() : Option.some(answer.reason)
})
