import { sameValue } from '../same-value.ts'
import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import type { CellLineStart, Unnumbered } from '../../provenance/log-line.ts'
import type { CellCommit, CellOutcome, CellResult, RecordKey } from '../cell-work.ts'
import { hashBytes } from '../rows/stored-rows.ts'
import type { StoredTarget } from '../rows/stored-targets.ts'
import type { CellFailureNote } from '../sheet-store.ts'
import type { FailedCell } from '../stored-run.ts'
import type { RunGain } from '../rows/run-updates.ts'

type Computed = Extract<CellResult['result'], { kind: 'computed' }>

/** A {@link CellResult} whose provenance has the type that the engine stores, an object or its JSON text. */
export interface ResultToStore<P> extends Omit<CellResult, 'result'> {
  readonly result: Exclude<CellResult['result'], Computed> | ComputedToStore<P>
}

type ComputedToStore<P> = Omit<Computed, 'provenance'> & { readonly provenance: P }

/** A cell of an existing record. */
export interface CellToStore {
  readonly key: RecordKey
  /** The id of its record. */
  readonly id: string
  /** See {@link WorkCell.version}. */
  readonly version: string
  readonly overridden: boolean
  previous(): JsonValue
}

/** The reads and writes of an engine that stores results; `C` is its type of a cell. All that is read is loaded before. */
export interface ResultTables<C extends CellToStore, P> {
  readonly contract: Contract
  /** The time of the change. */
  readonly at: string
  readonly cells: {
    target(field: string): StoredTarget | undefined
    unchanged(target: StoredTarget, record: RecordKey): void
    skipped(target: StoredTarget, record: RecordKey): void
    failed(target: StoredTarget, record: RecordKey, failure: CellFailureNote): void
    inputWritten(field: string, record: RecordKey, seq: number): void
  }
  /** Returns the version of the fields that the query of a target reads, as it was before the transaction. */
  version(target: StoredTarget): string | null
  /** Returns the cell of a target in a record; null when the record does not exist. */
  find(target: StoredTarget, key: RecordKey): C | null
  /** Whether another record has a value in a unique field; if not, the cell's record is about to get it. */
  isTaken(field: Field, value: JsonValue, cell: C): boolean
  /** Adds the line of a computed value to the log, and returns its seq. */
  log(line: Unnumbered<CellLineStart>, provenance: P, record: RecordKey): number
  update(cell: C, field: Field, written: { readonly value: JsonValue; readonly seq: number }): void
  /** Stores that a value was computed; `current` is false when the derivation or its sources have changed during the run. */
  computed(target: StoredTarget, cell: C, computed: ComputedState): void
}

export interface ComputedState {
  readonly hash: Uint8Array
  readonly seq: number
  readonly current: boolean
}

/** The outcome of a commit. */
export interface CommittedResults {
  readonly outcomes: readonly CellOutcome[]
  readonly gain: RunGain
  /** The fields of which a value was stored. */
  readonly computed: ReadonlySet<string>
  /** The last error of each field of which a failure was stored. */
  readonly lastErrors: ReadonlyMap<string, string>
}

/**
 * Stores the results of a run for some cells (D25, D26, D30). A cell that has been written, or whose input has been written, since
 * its planning is superseded (D28), and so is one whose derivation and fields have changed since.
 */
export function commitResults<C extends CellToStore, P>(
  tables: ResultTables<C, P>,
  { actor, run, progress }: Pick<CellCommit, 'actor' | 'run' | 'progress'>,
  cells: readonly ResultToStore<P>[],
): CommittedResults {
  const failures: FailedCell[] = []
  const computed = new Set<string>()
  const lastErrors = new Map<string, string>()
  let [materialized, overwritten] = [0, 0]
  const outcomes = cells.map((cell): CellOutcome => {
    const target = tables.cells.target(cell.target)
    const field = tables.contract.fieldByName.get(cell.target)
    if (target === undefined || !target.active || field === undefined) return { outcome: 'superseded' }
    const found = tables.find(target, cell.key)
    if (found?.version !== cell.version) return { outcome: 'superseded' }
    // After a change of fields, the names of an earlier derivation may be those of other fields.
    if (target.changed > 0 && target.sha256 !== cell.sha256) return { outcome: 'superseded' }
    const { result } = cell
    const sources = target.reads === null ? target.sources : tables.version(target)
    const current = target.sha256 === cell.sha256 && sources === (cell.sources ?? null)
    switch (result.kind) {
      case 'unchanged':
      case 'skipped':
        if (current) tables.cells[result.kind](target, cell.key)
        return { outcome: 'stored' }
      case 'failed': {
        const { kind: _kind, inputHash, ...failure } = result
        const hash = inputHash === undefined ? {} : { inputHash }
        tables.cells.failed(target, cell.key, { ...failure, ...hash, at: tables.at })
        failures.push({ recordId: found.id, field: field.name, ...failure })
        lastErrors.set(cell.target, result.error)
        return { outcome: 'stored' }
      }
      case 'computed': {
        const detail = storeComputed(tables, { found, result, target, field, current, actor, run })
        if (detail !== null) return { outcome: 'refused', detail }
        computed.add(cell.target)
        materialized += 1
        if (!found.overridden) return { outcome: 'stored' }
        overwritten += 1
        return { outcome: 'stored', overwrote: true }
      }
    }
  })
  return { outcomes, gain: { materialized, failures, overwritten, progress }, computed, lastErrors }
}

interface ComputedCell<C, P> extends Pick<CellCommit, 'actor' | 'run'> {
  readonly found: C
  readonly result: ComputedToStore<P>
  readonly target: StoredTarget
  readonly field: Field
  readonly current: boolean
}

/** Stores a computed value. Returns the reason why the contract refuses it; null when it is stored. */
function storeComputed<C extends CellToStore, P>(
  tables: ResultTables<C, P>,
  { found, result, target, field, current, actor, run }: ComputedCell<C, P>,
): string | null {
  const { value, inputHash, provenance } = result
  // The contract may have changed since the call was made.
  const fault = valueError(field, value)
  if (fault !== null) return fault
  const previous = found.previous()
  const same = sameValue(value, previous)
  if (!same && field.unique && tables.isTaken(field, value, found)) {
    return `must be unique, but another record has ${JSON.stringify(value)} already`
  }
  const line = {
    actor,
    source: target.kind,
    record_id: found.id,
    field: field.name,
    value,
    previous,
    input_hash: inputHash,
    derivation: target.derivation,
    run_id: run,
  }
  const seq = tables.log(line, provenance, found.key)
  if (!same) tables.update(found, field, { value, seq })
  tables.computed(target, found, { hash: hashBytes(inputHash), seq, current })
  if (!same) tables.cells.inputWritten(field.name, found.key, seq)
  return null
}
