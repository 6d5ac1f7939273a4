import { jsonEqual, type JsonValue } from '../../contract/json/json.ts'
import type { Derivation, InputValues, Plan } from '../../derivation/definition/derivation-kind.ts'
import { planComputation } from '../../derivation/plan/plan-computation.ts'
import { inputHash } from '../../derivation/plan/input-hash.ts'

/** A part of the input hash (D24) that is another than when the cell was last computed: what it was, and what it is. */
export type Reason =
  | { readonly part: 'input'; readonly field: string; readonly was: JsonValue; readonly is: JsonValue }
  /** Hex SHA-256 of the derivation file; `was` is null when that version of it is not known any more. */
  | {
      readonly part: 'derivation'
      readonly was: string | null
      readonly is: string
      /** What the file said then, and what it says now. */
      readonly wasText?: string
      readonly isText?: string
    }
  /** `is` is null when no request can be made of the inputs. */
  | { readonly part: 'url'; readonly was: string; readonly is: string | null }
  | { readonly part: 'body'; readonly was: JsonValue; readonly is: JsonValue }

/** What a computation of the cell would be now. */
export interface Present {
  readonly derivation: Derivation
  readonly inputs: InputValues
  /** Null when no request can be made of the inputs. */
  readonly request: Plan['hashed'] | null
}

/** What is known of the last computation of the cell. */
export interface Past {
  readonly inputHash: string
  /** The record as it was then; null when that is not known any more. */
  readonly values: InputValues | null
  /** What the derivation file may have been. */
  readonly candidates: readonly Derivation[]
  /** As its provenance entry has it; null when it has none. */
  readonly url: string | null
}

/** What differs between the last computation of a cell and one that would be made now: inputs first, then the rest. */
export function reasonsBetween(past: Past, present: Present): readonly Reason[] {
  const { derivation, inputs, request } = present
  const found = findComputation(past)
  const fields = derivation.inputs.filter((field) => found?.derivation.inputs.includes(field) ?? true)
  const reasons: Reason[] = []
  for (const field of past.values === null ? [] : fields) {
    const [was, is] = [past.values?.[field] ?? null, inputs[field] ?? null]
    if (!jsonEqual(was, is)) reasons.push({ part: 'input', field, was, is })
  }
  const [was, is] = [found?.derivation.sha256 ?? null, derivation.sha256]
  const texts = found === null ? {} : { wasText: found.derivation.text, isText: derivation.text }
  if (was !== is) reasons.push({ part: 'derivation', was, is, ...texts })
  const url = { was: found?.request.url ?? past.url, is: request?.url ?? null }
  if (url.was !== null && url.was !== url.is) reasons.push({ part: 'url', was: url.was, is: url.is })
  if (found === null) return reasons
  const body = { was: found.request.body, is: request?.body ?? null }
  return jsonEqual(body.was, body.is) ? reasons : [...reasons, { part: 'body', ...body }]
}

interface Computation {
  readonly derivation: Derivation
  readonly request: Plan['hashed']
}

/** The last computation, as the inputs and one of the candidates make it: the hash covers all of it and proves it. */
function findComputation({ inputHash: hash, values, candidates }: Past): Computation | null {
  if (values === null) return null
  for (const derivation of candidates) {
    const inputs = Object.fromEntries(derivation.inputs.map((field) => [field, values[field] ?? null]))
    const request = requestOf(derivation, inputs)
    const parts = { derivationSha256: derivation.sha256, inputs }
    if (request !== null && inputHash({ ...parts, ...request }) === hash) return { derivation, request }
  }
  return null
}

/** What of the request goes into the hash; null when no request can be made of the inputs. */
function requestOf(derivation: Derivation, inputs: InputValues): Plan['hashed'] | null {
  const planned = planComputation(derivation, inputs)
  return planned.outcome === 'run' ? planned.plan.hashed : null
}
