import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { isLasting, renderFailure, responseBodyOf, type Failure } from '../../errors/failure.ts'
import type { Result } from '../../errors/result.ts'
import type { CellResult, WorkCell, WorkItem } from '../../store/cell-work.ts'
import type { Derivation, Plan } from '../definition/derivation-kind.ts'
import type { CellChange } from '../run-request.ts'

/** A record and the derivation that a run computes for it, with its plan once there is one. */
export interface ItemOfRun {
  readonly derivation: Derivation
  readonly item: WorkItem
  readonly plan?: Plan
  readonly hash?: string
}

/** The result of a cell: `unchanged` if its last success had the same hash, `skipped` if nothing is computed for its inputs. */
export interface ComputedCell {
  readonly cell: WorkCell
  readonly result: Result<JsonValue, Failure> | 'unchanged' | 'skipped'
  /** Whether another call brought the value than one for this cell. */
  readonly cached?: boolean
  /** Members of the provenance entry beside the plan's evidence. */
  readonly provenance?: JsonObject | undefined
  /** The input hash of the value, where it is not that of the plan. */
  readonly inputHash?: string
}

/** The result of a cell as the store and the observers of the run receive it. */
export interface ResultOfRun {
  readonly stored: CellResult
  /** Null when the cell is as it was. */
  readonly change: CellChange | null
}

/** Converts the result of a cell for the store and the observers of the run. */
export function resultOfRun(of: ItemOfRun, computed: ComputedCell): ResultOfRun {
  const { derivation, item, plan, hash } = of
  const { cell, result, cached = false, provenance } = computed
  const { sha256, sources } = derivation
  const common = { key: item.key, target: cell.target, version: cell.version, sha256, sources }
  const changed = { recordId: item.id, field: cell.target }
  if (result === 'unchanged' || result === 'skipped') {
    return { stored: { ...common, result: { kind: result } }, change: null }
  }
  if (!result.ok) {
    const rendered = renderFailure(result.error)
    const responseBody = responseBodyOf(result.error)
    return {
      stored: {
        ...common,
        result: {
          kind: 'failed',
          ...rendered,
          ...(responseBody !== undefined && { responseBody }),
          ...(hash !== undefined && isLasting(result.error) && { inputHash: hash }),
        },
      },
      change: { ...changed, state: 'failed', ...rendered },
    }
  }
  const said = { cached, ...plan?.evidence, ...provenance }
  const { value } = result
  return {
    stored: {
      ...common,
      result: { kind: 'computed', value, inputHash: computed.inputHash ?? hash ?? '', provenance: said },
    },
    change: { ...changed, state: 'fresh', value },
  }
}
