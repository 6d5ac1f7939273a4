import type { SQLInputValue } from 'node:sqlite'
import type { Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { valueError } from '../../../contract/values/validate-value.ts'
import type { CellOutcome } from '../../cell-work.ts'
import type { FailedCell } from '../../stored-run.ts'
import type { CellRow } from '../changes/cell-states.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { CellInText, CommitInText, ComputedInText, EntryInText } from './commit-text.ts'
import { keepResponses } from './response-writer.ts'
import { addGain } from './run-writer.ts'
import { quoted } from '../database/schema.ts'
import { fromColumn, toColumn } from '../database/values.ts'
import {
  cacheEntryText,
  hashBytes,
  joinedCacheEntry,
  overwrittenIn,
  readCacheEntry,
} from '../../rows/stored-rows.ts'

/**
 * Stores the results of a run for some cells, with their cache entries (D25, D26, D30), and counts them. A cell that has
 * been written, or whose input has been written, since its planning is skipped (D28).
 */
export function commitCells(change: ChangeSet, commit: CommitInText): CellOutcome[] {
  storeCache(change, commit.cache)
  keepResponses(change, commit)
  const failures: FailedCell[] = []
  const outcomes = commit.cells.map((cell) => commitCell(change, cell, { commit, failures }))
  noteLast(change, commit, outcomes)
  const isComputed = ({ result }: CellInText, index: number): boolean =>
    result.kind === 'computed' && outcomes[index]?.outcome === 'stored'
  const materialized = commit.cells.filter(isComputed).length
  addGain(change, commit.run, {
    materialized,
    failures,
    overwritten: overwrittenIn(outcomes),
    progress: commit.progress,
  })
  return outcomes
}

/** The most new cache entries that one statement inserts. */
const ENTRIES_AT_ONCE = 256

/** Stores the results of calls. The values of several calls for one hash are joined. */
function storeCache(change: ChangeSet, entries: readonly EntryInText[]): void {
  const added = new Map<string, string>()
  for (const entry of entries) {
    const { inputHash, text } = entry
    const addedBefore = added.get(inputHash)
    if (addedBefore !== undefined) {
      added.set(inputHash, joined(addedBefore, entry) ?? addedBefore)
      continue
    }
    const hash = hashBytes(inputHash)
    const [known] = change.db.tuple('SELECT entry FROM "$cache" WHERE hash = ?', hash) ?? []
    if (known === undefined) {
      added.set(inputHash, text)
      if (added.size === ENTRIES_AT_ONCE) insertEntries(change, added)
    } else if (!String(known).startsWith(valuesIn(text))) {
      const both = joined(String(known), entry)
      if (both !== null) change.db.run('UPDATE "$cache" SET entry = ? WHERE hash = ?', both, hash)
    }
  }
  if (added.size > 0) insertEntries(change, added)
}

/** Returns the part of a cache entry's text before its provenance. */
function valuesIn(text: string): string {
  return text.slice(0, text.lastIndexOf(',"provenance":') + 1)
}

/** Returns the text of a cache entry merged with that of another call; null when the values are the same. */
function joined(before: string, { inputHash, text }: EntryInText): string | null {
  const both = joinedCacheEntry(readCacheEntry(inputHash, before), readCacheEntry(inputHash, text))
  return both === null ? null : cacheEntryText(both)
}

function insertEntries(change: ChangeSet, added: Map<string, string>): void {
  const params = [...added].flatMap(([inputHash, text]) => [hashBytes(inputHash), text])
  const more = ', (?, ?)'.repeat(added.size - 1)
  change.db.run(`INSERT INTO "$cache" (hash, entry) VALUES (?, ?)${more}`, ...params)
  added.clear()
}

/** A commit, and its failed cells. */
interface CommitUnderWay {
  readonly commit: CommitInText
  readonly failures: FailedCell[]
}

function commitCell(change: ChangeSet, cell: CellInText, { commit, failures }: CommitUnderWay): CellOutcome {
  const target = change.cells.target(cell.target)
  const field = change.contract.fieldByName.get(cell.target)
  if (target === undefined || !target.active || field === undefined) return { outcome: 'superseded' }
  const found = change.cells.cellOfRecord(target, cell.key)
  if (found?.cell.version !== cell.version) return { outcome: 'superseded' }
  const { cell: before, id, value } = found
  const current = target.sha256 === cell.sha256 && target.sources === (cell.sources ?? null)
  switch (cell.result.kind) {
    case 'unchanged':
      if (current) change.cells.unchanged(target, cell.key)
      return { outcome: 'stored' }
    case 'skipped':
      if (current) change.cells.skipped(target, cell.key)
      return { outcome: 'stored' }
    case 'failed': {
      const { kind: _kind, inputHash, ...failure } = cell.result
      change.cells.failed(target, cell.key, {
        ...failure,
        ...(inputHash !== undefined && { inputHash }),
        at: change.at,
      })
      failures.push({ recordId: id, field: field.name, ...failure })
      return { outcome: 'stored' }
    }
    case 'computed': {
      const written = { key: cell.key, id, previous: fromColumn(field, value) }
      return storeComputed(change, { before, computed: cell.result, target, field, commit, current, written })
    }
  }
}

interface ComputedCell {
  readonly before: CellRow
  readonly computed: ComputedInText
  readonly target: StoredTarget
  readonly field: Field
  readonly commit: CommitInText
  readonly current: boolean
  readonly written: { readonly key: number; readonly id: string; readonly previous: JsonValue }
}

function storeComputed(change: ChangeSet, computed: ComputedCell): CellOutcome {
  const { field, target, written } = computed
  const { value, inputHash, provenance } = computed.computed
  // The contract may have changed since the call was made.
  const fault = valueError(field, value)
  if (fault !== null) return { outcome: 'refused', detail: fault }
  const stored = toColumn(value)
  const same = stored === toColumn(written.previous)
  const seq = change.nextSeq
  if (!same) {
    if (field.unique && isTaken(change, field, stored, written.key)) {
      return {
        outcome: 'refused',
        detail: `must be unique, but another record has ${JSON.stringify(value)} already`,
      }
    }
    change.db.run(
      `UPDATE "$data" SET "$version" = ?, ${quoted(field.name)} = ? WHERE "$seq" = ?`,
      seq,
      stored,
      written.key,
    )
  }
  change.logCell(
    {
      actor: computed.commit.actor,
      source: target.kind,
      record_id: written.id,
      field: field.name,
      value,
      previous: written.previous,
      input_hash: inputHash,
      derivation: target.derivation,
      run_id: computed.commit.run,
    },
    provenance,
    written.key,
  )
  const { before, current } = computed
  change.cells.computed(target, written.key, { before, hash: hashBytes(inputHash), seq, current })
  if (!same) change.cells.inputWritten(field.name, written.key, seq)
  return { outcome: 'stored', ...(before.overridden && { overwrote: true }) }
}

function isTaken(change: ChangeSet, field: Field, value: SQLInputValue, key: number): boolean {
  const sql = `SELECT 1 FROM "$data" WHERE ${quoted(field.name)} = ? AND "$seq" <> ? LIMIT 1`
  return change.db.get(sql, value, key) !== undefined
}

/** Stores the time and actor of the last computation of a target, and its last failure, for status (D32). */
function noteLast(change: ChangeSet, commit: CommitInText, outcomes: readonly CellOutcome[]): void {
  const stored = commit.cells.filter((_, index) => outcomes[index]?.outcome === 'stored')
  const computed = new Set(
    stored.filter(({ result }) => result.kind === 'computed').map(({ target }) => target),
  )
  for (const field of computed) {
    change.db.run(
      'UPDATE "$target" SET last_at = ?, last_actor = ? WHERE field = ?',
      change.at,
      commit.actor,
      field,
    )
  }
  for (const { target, result } of stored) {
    if (result.kind !== 'failed') continue
    change.db.run('UPDATE "$target" SET last_error = ? WHERE field = ?', result.error, target)
  }
}
