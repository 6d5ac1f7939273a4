import type { JsonObject, JsonValue } from '../contract/json.ts'
import { renderFailure, type Failure } from '../errors/failure.ts'
import type { Result } from '../errors/result.ts'
import type { CellResult, WorkCell, WorkItem } from '../store/sheet-store.ts'
import type { Derivation, Plan } from './derivation-kind.ts'

/** A record and the derivation that a run computes for it, with its plan once there is one. */
export interface ItemOfRun {
  readonly derivation: Derivation
  readonly item: WorkItem
  readonly plan?: Plan
  readonly hash?: string
}

/** What a cell came to; `unchanged` when its last success had the same hash. */
export interface ComputedCell {
  readonly cell: WorkCell
  readonly result: Result<JsonValue, Failure> | 'unchanged'
  readonly provenance?: JsonObject
}

/** What a cell came to, as the store takes it. */
export function cellResult(
  { derivation, item, plan, hash }: ItemOfRun,
  { cell, result, provenance }: ComputedCell,
): CellResult {
  const common = { key: item.key, target: cell.target, mark: cell.mark, sha256: derivation.sha256 }
  if (result === 'unchanged') return { ...common, result: { kind: 'unchanged' } }
  if (!result.ok) {
    const { error, error_type: errorType } = renderFailure(result.error)
    return { ...common, result: { kind: 'failed', error, errorType } }
  }
  const { cached = false, ...after } = provenance ?? {}
  const said = { cached, ...plan?.provenance, ...after }
  return {
    ...common,
    result: { kind: 'computed', value: result.value, inputHash: hash ?? '', provenance: said },
  }
}
