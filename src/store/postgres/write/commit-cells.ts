import type { Field } from '../../../contract/contract.ts'
import { valueError } from '../../../contract/values/validate-value.ts'
import type { CellCommit, CellOutcome, CellResult } from '../../cell-work.ts'
import type { FailedCell } from '../../stored-run.ts'
import { storeCacheEntries } from '../changes/cache-entries.ts'
import { keepResponses } from './response-writer.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { addGain } from './run-writer.ts'
import { UniqueHolders } from '../changes/unique-holders.ts'
import { sameValue, type StoredRecord } from '../../rules/store-change.ts'
import { hashBytes, overwrittenIn } from '../../rows/stored-rows.ts'

/**
 * Stores the results of a run for some cells, with their cache entries (D25, D26, D30), and counts them. A cell that has
 * been written, or whose input has been written, since its planning is skipped (D28). `count` adds to the counts of the
 * run.
 */
export async function commitCells(
  change: ChangeSet,
  commit: CellCommit,
  count: typeof addGain = addGain,
): Promise<CellOutcome[]> {
  await storeCacheEntries(change.db, commit.cache)
  await keepResponses(change, commit)
  const keys = commit.cells.map(({ key }) => key)
  await change.records.loadKeys(keys)
  await change.cells.load(keys)
  const group = new CommitGroup(change, commit, await uniqueHolders(change, commit))
  const outcomes = commit.cells.map((cell) => group.store(cell))
  await noteLast(change, commit, outcomes)
  const isComputed = ({ result }: CellResult, index: number): boolean =>
    result.kind === 'computed' && outcomes[index]?.outcome === 'stored'
  const materialized = commit.cells.filter(isComputed).length
  const { failures } = group
  const overwritten = overwrittenIn(outcomes)
  await count(change, commit.run, { materialized, failures, overwritten, progress: commit.progress })
  return outcomes
}

/** Reads which records have the values to be stored in unique fields. */
async function uniqueHolders(
  change: ChangeSet,
  { cells }: CellCommit,
): Promise<ReadonlyMap<string, UniqueHolders>> {
  const holders = new Map<string, UniqueHolders>()
  for (const name of new Set(cells.map(({ target }) => target))) {
    const field = change.contract.fieldByName.get(name)
    if (field?.unique !== true) continue
    const values = cells.flatMap(({ target, result }) => {
      // A value that the contract refuses may not fit into the column either.
      const fits = target === name && result.kind === 'computed' && valueError(field, result.value) === null
      return fits ? [result.value] : []
    })
    holders.set(name, await UniqueHolders.read(change.db, field, values))
  }
  return holders
}

interface ComputedCell {
  readonly cell: CellResult
  readonly computed: Extract<CellResult['result'], { kind: 'computed' }>
  readonly target: StoredTarget
  readonly field: Field
  readonly record: StoredRecord
  /** Whether the derivation file and its sources are still those of the run. */
  readonly current: boolean
}

/** Stores cells one after the other; all that it needs is loaded. */
class CommitGroup {
  readonly #change: ChangeSet
  readonly #commit: CellCommit
  readonly #holders: ReadonlyMap<string, UniqueHolders>
  readonly failures: FailedCell[] = []

  constructor(change: ChangeSet, commit: CellCommit, holders: ReadonlyMap<string, UniqueHolders>) {
    this.#change = change
    this.#commit = commit
    this.#holders = holders
  }

  store(cell: CellResult): CellOutcome {
    const { cells, contract, records, at } = this.#change
    const target = cells.target(cell.target)
    const field = contract.fieldByName.get(cell.target)
    if (target === undefined || !target.active || field === undefined) return { outcome: 'superseded' }
    if (cells.cell(target, cell.key).version !== cell.version) return { outcome: 'superseded' }
    const record = records.byKey(cell.key)
    if (record === undefined) return { outcome: 'superseded' }
    const current = target.sha256 === cell.sha256 && target.sources === (cell.sources ?? null)
    switch (cell.result.kind) {
      case 'unchanged':
        if (current) cells.unchanged(target, cell.key)
        return { outcome: 'stored' }
      case 'skipped':
        if (current) cells.skipped(target, cell.key)
        return { outcome: 'stored' }
      case 'failed': {
        const { kind: _kind, inputHash, ...failure } = cell.result
        cells.failed(target, cell.key, { ...failure, ...(inputHash !== undefined && { inputHash }), at })
        this.failures.push({ recordId: record.id, field: field.name, ...failure })
        return { outcome: 'stored' }
      }
      case 'computed':
        return this.#storeComputed({ cell, computed: cell.result, target, field, record, current })
    }
  }

  #storeComputed(computed: ComputedCell): CellOutcome {
    const { field, target, record, current } = computed
    const { value, inputHash } = computed.computed
    // The contract may have changed since the call was made.
    const fault = valueError(field, value)
    if (fault !== null) return { outcome: 'refused', detail: fault }
    const { cells, records } = this.#change
    const previous = record.value(field)
    const same = sameValue(value, previous)
    if (!same && field.unique && this.#isTaken(computed)) {
      return {
        outcome: 'refused',
        detail: `must be unique, but another record has ${JSON.stringify(value)} already`,
      }
    }
    const { overridden } = cells.cell(target, record.key)
    const seq = this.#log(computed)
    if (!same) records.update(record, { fields: [field], values: { [field.name]: value }, seq })
    cells.computed(target, record.key, { hash: hashBytes(inputHash), seq, current })
    if (!same) cells.inputWritten(field.name, record.key, seq)
    return { outcome: 'stored', ...(overridden && { overwrote: true }) }
  }

  #log({ computed, target, field, record }: ComputedCell): number {
    const { value, inputHash, provenance } = computed
    return this.#change.logCell(
      {
        actor: this.#commit.actor,
        source: target.kind,
        record_id: record.id,
        field: field.name,
        value,
        previous: record.value(field),
        input_hash: inputHash,
        derivation: target.derivation,
        run_id: this.#commit.run,
        ...provenance,
      },
      record.key,
    )
  }

  /** Whether another record has the value; if not, registers this record as having it. */
  #isTaken({ computed: { value }, field, record }: ComputedCell): boolean {
    const holders = this.#holders.get(field.name)
    if (holders === undefined || value === null) return false
    if (holders.of(value).some(({ key }) => key !== record.key)) return true
    holders.lost(record, record.value(field))
    holders.gained(record, value)
    return false
  }
}

/** Stores the time and actor of the last computation of a target, and its last failure, for status (D32). */
async function noteLast(
  change: ChangeSet,
  commit: CellCommit,
  outcomes: readonly CellOutcome[],
): Promise<void> {
  const stored = commit.cells.filter((_, index) => outcomes[index]?.outcome === 'stored')
  const computed = new Set(
    stored.filter(({ result }) => result.kind === 'computed').map(({ target }) => target),
  )
  if (computed.size > 0) {
    const sql = 'UPDATE "$target" SET last_at = $1, last_actor = $2 WHERE field = ANY($3)'
    await change.db.run(sql, change.at, commit.actor, [...computed])
  }
  const failed = new Map(
    stored.flatMap(({ target, result }) =>
      result.kind === 'failed' ? [[target, result.error] as const] : [],
    ),
  )
  if (failed.size > 0) {
    await change.db.run(
      `UPDATE "$target" AS target SET last_error = new.error
       FROM unnest($1::text[], $2::text[]) AS new(field, error) WHERE target.field = new.field`,
      [...failed.keys()],
      [...failed.values()],
    )
  }
}
