import type { JsonObject, JsonValue } from '../../../../contract/json/json.ts'
import type { Model } from '../models/models-file.ts'
import type { Usage } from '../models/price.ts'

/** A message of the conversation after the system message. */
export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

/** A request to a model, whatever its API. */
export interface Ask {
  readonly model: Model
  readonly system: string
  readonly turns: readonly Turn[]
  /** The form that the API is to enforce. */
  readonly format:
    | { readonly type: 'text' }
    | { readonly type: 'json_object' }
    | { readonly type: 'json_schema'; readonly schema: JsonObject }
  readonly maxOutputTokens: number
  readonly temperature: number | null
}

/** The response of a model, whatever its API. */
export interface Reply {
  /** The identifier of the response; null if it has none. */
  readonly id: string | null
  /** The name of the model that answered. */
  readonly model: string | null
  /** The reason why the model stopped, as the API names it. */
  readonly finish: string | null
  readonly stopped: 'complete' | 'truncated' | 'refused' | 'other'
  readonly text: string
  /** The model's words for a refusal; empty for none. */
  readonly refusal: string
  /** Null if the response does not say. */
  readonly usage: Usage | null
}

/** One API of models: a small adapter, since requests and responses of all of them have the same parts. */
export interface Adapter {
  /** The path after the model's URL. */
  readonly path: string
  /** Headers that each request has unless the model's entry has them. */
  readonly headers: Readonly<Record<string, string>>
  body(ask: Ask): JsonObject
  /** Returns the response to a request with an answer that ends normally, for stubs. */
  respond(answer: { readonly text: string; readonly model: string; readonly usage: Usage }): JsonObject
  /** Returns null for a response that is not one of this API. */
  read(response: JsonValue): Reply | null
}

/** Returns a text member, null if it is none. */
export function textIn(object: JsonObject, name: string): string | null {
  const value = Object.hasOwn(object, name) ? object[name] : null
  return typeof value === 'string' ? value : null
}

/** Returns usage if all its counts are whole numbers and the parts fit into the whole; null otherwise. */
export function usageOf(usage: { readonly [name in keyof Usage]: JsonValue | undefined }): Usage | null {
  const input = countOf(usage.input)
  const output = countOf(usage.output)
  const cached = countOf(usage.cached ?? 0)
  const written = countOf(usage.written ?? 0)
  if (input === null || output === null || cached === null || written === null) return null
  return cached + written > input ? null : { input, cached, written, output }
}

function countOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
