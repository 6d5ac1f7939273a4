import type { CallResults, CellOutcome, UsedAmounts } from '../../cell-work.ts'
import {
  commitResults,
  type CellToStore,
  type CommittedResults,
  type ResultTables,
} from '../../rules/commit-results.ts'
import { readUsage, sumOfUsage, usageByKey } from '../../rules/add-usage.ts'
import { cacheEntryText, hashBytes, joinedCacheEntry, readCacheEntry } from '../../rows/stored-rows.ts'
import { targetVersion } from '../../rows/stored-targets.ts'
import type { CellRow } from '../changes/cell-states.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { quoted } from '../database/schema.ts'
import { fromColumn, toColumn } from '../database/values.ts'
import type { CommitInText, EntryInText } from './commit-text.ts'
import { keepResponses } from './response-writer.ts'
import { addGain } from './run-writer.ts'

/** Stores the results of a run for some cells, with their cache entries, and counts them; see {@link commitResults}. */
export function commitCells(change: ChangeSet, commit: CommitInText): readonly CellOutcome[] {
  storeCache(change, commit.cache)
  addUsage(change, commit.usage ?? [])
  keepResponses(change, commit)
  const results = commitResults(tablesOf(change), commit, commit.cells)
  noteLast(change, commit.actor, results)
  addGain(change, commit.run, results.gain)
  return results.outcomes
}

/** Stores the results of calls that belong to no run. */
export function storeResults(change: ChangeSet, { cache, usage = [], ...responses }: CallResults): void {
  storeCache(
    change,
    cache.map((entry) => ({ inputHash: entry.inputHash, text: cacheEntryText(entry) })),
  )
  addUsage(change, usage)
  keepResponses(change, responses)
}

/** Adds what calls have used to the sums of their keys. */
function addUsage({ db }: ChangeSet, used: readonly UsedAmounts[]): void {
  for (const [key, added] of usageByKey(used)) {
    const before = readUsage(db.get('SELECT usage FROM "$usage" WHERE key = ?', key)?.['usage'])
    const usage = JSON.stringify(before === null ? added : sumOfUsage(before, added))
    db.run('INSERT OR REPLACE INTO "$usage" (key, usage) VALUES (?, ?)', key, usage)
  }
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

/** A cell with its state and value as in the tables. */
interface CellInTables extends CellToStore {
  readonly row: CellRow
}

function tablesOf(change: ChangeSet): ResultTables<CellInTables, string> {
  const { contract, at, cells, db } = change
  return {
    contract,
    at,
    cells,
    version: (target) => db.query(targetVersion(target.id)),
    find(target, key) {
      const found = cells.cellOfRecord(target, key)
      const field = contract.fieldByName.get(target.field)
      if (found === null || field === undefined) return null
      const { cell: row, id, value } = found
      const { version, overridden } = row
      return { key, id, version, overridden, row, previous: () => fromColumn(field, value) }
    },
    isTaken(field, value, { key }) {
      const sql = `SELECT 1 FROM "$data" WHERE ${quoted(field.name)} = ? AND "$seq" <> ? LIMIT 1`
      return db.get(sql, toColumn(value), key) !== undefined
    },
    log: (line, provenance, record) => change.logCell(line, provenance, record),
    update({ key }, field, { value, seq }) {
      const sql = `UPDATE "$data" SET "$version" = ?, ${quoted(field.name)} = ? WHERE "$seq" = ?`
      db.run(sql, seq, toColumn(value), key)
    },
    computed(target, { key, row }, state) {
      cells.computed(target, key, { before: row, ...state })
    },
  }
}

/** Stores the time and actor of the last computation of a target, and its last failure, for status (D32). */
function noteLast({ db, at }: ChangeSet, actor: string, { computed, lastErrors }: CommittedResults): void {
  for (const field of computed) {
    db.run('UPDATE "$target" SET last_at = ?, last_actor = ? WHERE field = ?', at, actor, field)
  }
  for (const [field, error] of lastErrors) {
    db.run('UPDATE "$target" SET last_error = ? WHERE field = ?', error, field)
  }
}
