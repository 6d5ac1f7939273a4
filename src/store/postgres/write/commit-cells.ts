import type { JsonObject } from '../../../contract/json/json.ts'
import { valueError } from '../../../contract/values/validate-value.ts'
import type { CallResults, CellCommit, CellOutcome, RecordedUsage, UsedAmounts } from '../../cell-work.ts'
import {
  commitResults,
  type CellToStore,
  type CommittedResults,
  type ResultTables,
} from '../../rules/commit-results.ts'
import { readUsage, sumOfUsage, usageByKey } from '../../rules/add-usage.ts'
import type { StoredRecord } from '../../rules/store-change.ts'
import { storeCacheEntries } from '../changes/cache-entries.ts'
import { targetVersion } from '../../rows/stored-targets.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { Connection } from '../database/connection.ts'
import { UniqueHolders } from '../changes/unique-holders.ts'
import { keepResponses } from './response-writer.ts'
import { addGain } from './run-writer.ts'

/**
 * Stores the results of a run for some cells, with their cache entries, and counts them; see {@link commitResults}. `count` adds
 * to the counts of the run.
 */
export async function commitCells(
  change: ChangeSet,
  commit: CellCommit,
  count: typeof addGain = addGain,
): Promise<readonly CellOutcome[]> {
  await storeCacheEntries(change.db, commit.cache)
  await addUsage(change, commit.usage ?? [])
  await keepResponses(change, commit)
  const keys = commit.cells.map(({ key }) => key)
  await change.records.loadKeys(keys)
  await change.cells.load(keys)
  const tables = tablesOf(change, await uniqueHolders(change, commit), await versionsOf(change, commit))
  const results = commitResults(tables, commit, commit.cells)
  await noteLast(change, commit.actor, results)
  await count(change, commit.run, results.gain)
  return results.outcomes
}

/** Stores the results of calls that belong to no run. */
export async function storeResults(
  change: ChangeSet,
  { cache, usage = [], ...responses }: CallResults,
): Promise<void> {
  await storeCacheEntries(change.db, cache)
  await addUsage(change, usage)
  await keepResponses(change, responses)
}

/** Adds what calls have used to the sums of their keys, which no other transaction changes: each locks the row of the sheet. */
async function addUsage({ db }: ChangeSet, used: readonly UsedAmounts[]): Promise<void> {
  for (const [key, added] of usageByKey(used)) {
    const before = await readUsageOf(db, key)
    await db.run(
      'INSERT INTO "$usage" (key, usage) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET usage = excluded.usage',
      key,
      JSON.stringify(before === null ? added : sumOfUsage(before, added)),
    )
  }
}

/** Returns what the computations of a key have used; null if there are none. */
export async function readUsageOf(db: Connection, key: string): Promise<RecordedUsage | null> {
  return readUsage((await db.get('SELECT usage FROM "$usage" WHERE key = $1', key))?.['usage'])
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

/** Reads the versions of the fields that the queries of these cells read, by the ids of their targets. */
async function versionsOf(
  { db, cells }: ChangeSet,
  commit: CellCommit,
): Promise<ReadonlyMap<number, string | null>> {
  const versions = new Map<number, string | null>()
  for (const name of new Set(commit.cells.map(({ target }) => target))) {
    const target = cells.target(name)
    if (target === undefined || target.reads === null) continue
    versions.set(target.id, await db.query(targetVersion(target.id)))
  }
  return versions
}

/** A cell with its record as loaded. */
interface LoadedCell extends CellToStore {
  readonly record: StoredRecord
}

function tablesOf(
  change: ChangeSet,
  holdersOf: ReadonlyMap<string, UniqueHolders>,
  versions: ReadonlyMap<number, string | null>,
): ResultTables<LoadedCell, JsonObject> {
  const { contract, at, cells, records } = change
  return {
    contract,
    at,
    cells,
    version: (target) => versions.get(target.id) ?? null,
    find(target, key) {
      const record = records.byKey(key)
      const field = contract.fieldByName.get(target.field)
      if (record === undefined || field === undefined) return null
      const { version, overridden } = cells.cell(target, key)
      return { key, id: record.id, version, overridden, record, previous: () => record.value(field) }
    },
    isTaken(field, value, { record }) {
      const holders = holdersOf.get(field.name)
      if (holders === undefined || value === null) return false
      if (holders.of(value).some(({ key }) => key !== record.key)) return true
      holders.lost(record, record.value(field))
      holders.gained(record, value)
      return false
    },
    log: (line, provenance, record) => change.logCell({ ...line, ...provenance }, record),
    update({ record }, field, { value, seq }) {
      records.update(record, { fields: [field], values: { [field.name]: value }, seq })
    },
    computed: (target, { key }, state) => cells.computed(target, key, state),
  }
}

/** Stores the time and actor of the last computation of a target, and its last failure, for status (D32). */
async function noteLast(
  { db, at }: ChangeSet,
  actor: string,
  { computed, lastErrors }: CommittedResults,
): Promise<void> {
  if (computed.size > 0) {
    const sql = 'UPDATE "$target" SET last_at = $1, last_actor = $2 WHERE field = ANY($3)'
    await db.run(sql, at, actor, [...computed])
  }
  if (lastErrors.size === 0) return
  await db.run(
    `UPDATE "$target" AS target SET last_error = new.error
     FROM unnest($1::text[], $2::text[]) AS new(field, error) WHERE target.field = new.field`,
    [...lastErrors.keys()],
    [...lastErrors.values()],
  )
}
