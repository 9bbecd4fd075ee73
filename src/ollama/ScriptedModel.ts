/** A model that a scripted server has. */
export interface ScriptedModel {
  readonly name: string
  readonly capabilities?: ReadonlyArray<string>
  /** What the model was trained for; null leaves it out of `/api/show`. */
  readonly contextLength?: number | null
  /** Set where the model runs in a cloud. */
  readonly remoteHost?: string
  readonly size?: number
}

/** `smol` and `smol:latest` are one model. */
export const sameModel = (left: string, right: string): boolean => tagged(left) === tagged(right)

const tagged = (name: string): string => (name.includes(":") ? name : `${name}:latest`)

export const capabilitiesOf = (model: ScriptedModel): ReadonlyArray<string> =>
  model.capabilities ?? ["completion", "tools"]

const contextOf = (model: ScriptedModel): number | null =>
  model.contextLength === undefined ? 40_960 : model.contextLength

const details = {
  parent_model: "",
  format: "gguf",
  family: "scripted",
  families: ["scripted"],
  parameter_size: "1B",
  quantization_level: "Q4_K_M"
}

export const showBody = (model: ScriptedModel): unknown => ({
  details,
  model_info: {
    "general.architecture": "scripted",
    ...(contextOf(model) === null ? {} : { "scripted.context_length": contextOf(model) })
  },
  capabilities: capabilitiesOf(model),
  modified_at: "2026-01-01T00:00:00Z",
  ...(model.remoteHost === undefined ? {} : { remote_host: model.remoteHost, remote_model: model.name })
})

const listed = (model: ScriptedModel) => ({
  name: tagged(model.name),
  model: tagged(model.name),
  size: model.size ?? 1_000_000,
  digest: "0".repeat(64),
  details
})

export const tagBody = (model: ScriptedModel): unknown => ({ ...listed(model), modified_at: "2026-01-01T00:00:00Z" })

/** A loaded model: the context that it was given is never more than it was trained for. */
export const runningBody = (model: ScriptedModel, numCtx: number): unknown => ({
  ...listed(model),
  expires_at: "2026-01-01T00:10:00Z",
  size_vram: 0,
  context_length: Math.min(numCtx, contextOf(model) ?? numCtx)
})

/** The refusal that a real server gives before the model is asked, or null. */
export const refusalOf = (
  model: ScriptedModel | undefined,
  asked: { readonly model: string; readonly tools?: ReadonlyArray<unknown>; readonly think?: unknown }
): { readonly status: number; readonly message: string } | null => {
  if (model === undefined) return { status: 404, message: `model '${asked.model}' not found` }
  const capabilities = capabilitiesOf(model)
  if ((asked.tools?.length ?? 0) > 0 && !capabilities.includes("tools")) {
    return { status: 400, message: `registry.ollama.ai/library/${tagged(model.name)} does not support tools` }
  }
  if (asked.think !== undefined && asked.think !== false && !capabilities.includes("thinking")) {
    return { status: 400, message: `"${asked.model}" does not support thinking` }
  }
  return null
}
