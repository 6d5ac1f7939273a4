import { setImmediate as nextTurn } from 'node:timers/promises'
import { jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import type { Derivation, InputValues, Plan } from '../../derivation/definition/derivation-kind.ts'
import { hashesOfPlan } from '../../derivation/hash/hash-of-values.ts'
import { inputHash } from '../../derivation/hash/input-hash.ts'
import { planComputation } from '../../derivation/hash/plan-computation.ts'

/** A part of the input hash (D24) that differs from the last computation of the cell: its value then, and now. */
export type Reason =
  | { readonly part: 'input'; readonly field: string; readonly was: JsonValue; readonly is: JsonValue }
  /** SHA-256 of the derivation file in hex; `was` is null when that version is no longer known. */
  | {
      readonly part: 'derivation'
      readonly was: string | null
      readonly is: string
      /** The text of the file then, and now. */
      readonly wasText?: string
      readonly isText?: string
    }
  /** A member that the kind hashes, for http `url` or `body`; `is` is null when nothing can be computed from the inputs. */
  | { readonly part: 'member'; readonly name: string; readonly was: JsonValue; readonly is: JsonValue }

/** A computation of the cell as it would be now. */
export interface Present {
  readonly derivation: Derivation
  readonly inputs: InputValues
  /** Null when nothing can be computed from the inputs. */
  readonly hashed: Plan['hashed'] | null
}

/** The facts known of the last computation of the cell. */
export interface Past {
  readonly inputHash: string
  /** The record as it was then; null when that is no longer known. */
  readonly values: InputValues | null
  /** The derivation file as it is, and the versions that it had. */
  readonly candidates: readonly Derivation[]
  /** The evidence in its provenance entry; empty when it has none. */
  readonly evidence: JsonObject
}

/** Returns the differences between the last computation of a cell and one that would be made now: inputs first. */
export async function reasonsBetween(past: Past, present: Present): Promise<readonly Reason[]> {
  const { derivation, inputs, hashed } = present
  const found = await findComputation(past, Object.keys(hashed ?? past.evidence))
  const fields = derivation.inputs.filter((field) => found?.derivation.inputs.includes(field) ?? true)
  const reasons: Reason[] = []
  for (const field of past.values === null ? [] : fields) {
    const [was, is] = [past.values?.[field] ?? null, inputs[field] ?? null]
    if (!jsonEqual(was, is)) reasons.push({ part: 'input', field, was, is })
  }
  const [was, is] = [found?.derivation.sha256 ?? null, derivation.sha256]
  const texts = found === null ? {} : { wasText: found.derivation.text, isText: derivation.text }
  if (was !== is) reasons.push({ part: 'derivation', was, is, ...texts })
  return [...reasons, ...memberReasons(found?.hashed ?? past.evidence, hashed, found !== null)]
}

/**
 * Compares the members that a kind hashed with those that it would hash now. `isAll`: whether `before` has all that were
 * hashed; otherwise those that it lacks are not known.
 */
function memberReasons(before: JsonObject, now: JsonObject | null, isAll: boolean): Reason[] {
  const names = isAll ? Object.keys({ ...before, ...now }) : Object.keys(now ?? {})
  return names.flatMap((name): Reason[] => {
    if (!isAll && !Object.hasOwn(before, name)) return []
    const [was, is] = [before[name] ?? null, now?.[name] ?? null]
    return jsonEqual(was, is) ? [] : [{ part: 'member', name, was, is }]
  })
}

interface Computation {
  readonly derivation: Derivation
  readonly hashed: Plan['hashed']
}

/** Finds the last computation, made from the inputs and one of the candidates: the hash covers all of it and proves it. */
async function findComputation(past: Past, names: readonly string[]): Promise<Computation | null> {
  const { inputHash: hash, values, candidates, evidence } = past
  if (values === null) return null
  const isLogged = names.every((name) => Object.hasOwn(evidence, name))
  // The content of a source at that time is only in the evidence.
  const logged = isLogged ? Object.fromEntries(names.map((name) => [name, evidence[name] ?? null])) : null
  for (const derivation of candidates) {
    const inputs = Object.fromEntries(derivation.inputs.map((field) => [field, values[field] ?? null]))
    const planned = planComputation(derivation, inputs)
    if (planned.outcome === 'run' && hashesOfPlan(derivation, planned.plan, inputs).valid.includes(hash)) {
      return { derivation, hashed: planned.plan.hashed }
    }
    const parts = { derivationSha256: derivation.sha256, inputs }
    if (logged !== null && inputHash({ ...parts, hashed: logged }) === hash)
      return { derivation, hashed: logged }
    // Planning and hashing take as long as the inputs are: other requests have their turn.
    await nextTurn()
  }
  return null
}

/** Returns the members that the kind hashes; null when nothing can be computed from the inputs. */
export function hashedBy(derivation: Derivation, inputs: InputValues): Plan['hashed'] | null {
  const planned = planComputation(derivation, inputs)
  return planned.outcome === 'run' ? planned.plan.hashed : null
}
