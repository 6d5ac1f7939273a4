import type { Field } from '../../../contract/contract.ts'
import { memberOf } from '../../sheet-files/import-lines.ts'
import {
  checkRestore,
  computationBefore,
  logRestored,
  markRestored,
  restoreJudge,
  writtenValues,
  type ComputedBefore,
  type LoggedDeletion,
  type Restoring,
} from '../../rules/restore-rules.ts'
import type { RestoreRequest, RestoreResult } from '../../sheet-store.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { logOfCell } from '../log/log-of-cell.ts'
import { LogQueries } from '../log/log-queries.ts'
import { readDeletions } from '../log/read-deletions.ts'
import { readHolders } from '../changes/unique-holders.ts'

/** Records whose cells are looked up in the log at once. */
const RECORDS_AT_ONCE = 500

/** Restores deleted records as {@link SheetStore.restore} promises. The caller takes everything back when this throws. */
export async function restore(change: ChangeSet, request: RestoreRequest): Promise<RestoreResult> {
  const { db, contract, records: present } = change
  const { records, actor } = request
  await present.load(records.map(({ recordId }) => recordId))
  const found = await readDeletions(db, records)
  const deletions = new Map(records.map(({ recordId }, index) => [recordId, found[index] ?? null]))
  checkRestore(contract, request, {
    deletion: ({ recordId }) => deletions.get(recordId) ?? null,
    exists: (id) => present.get(id) !== undefined,
  })
  const judge = restoreJudge(contract, actor, change.cells)
  const all: Omit<Restoring, 'computed'>[] = []
  for (const [position, { recordId, hashes }] of records.entries()) {
    const deletion = deletions.get(recordId) ?? null
    const write = deletion === null ? null : judge.judge(deletion.values, position, null)
    if (deletion !== null && write !== null) all.push({ deletion, write, hashes })
  }
  judge.refuse(judge.claims.conflicts(await readHolders(db, judge.claims)))
  judge.throwFaults()
  for (let start = 0; start < all.length; start += RECORDS_AT_ONCE) {
    const some = all.slice(start, start + RECORDS_AT_ONCE)
    const computed = await computedCells(
      change,
      some.map(({ deletion }) => deletion),
    )
    some.forEach((restoring, index) => {
      restoreRecord(change, { ...restoring, computed: computed[index] ?? [] }, actor)
    })
  }
  return { restored: all.length }
}

/** The cells of each deleted record that had a computed value. */
async function computedCells(
  { db, contract, cells }: ChangeSet,
  deletions: readonly LoggedDeletion[],
): Promise<ComputedBefore[][]> {
  const log = new LogQueries(db)
  const active = cells.targets.flatMap((target) => {
    const field = contract.fieldByName.get(target.field)
    return target.active && field !== undefined ? [{ target, field }] : []
  })
  // All of them settle before anything is thrown, so that no statement of them runs on after that.
  const found = await Promise.allSettled(
    deletions.flatMap((deletion) => active.map((cell) => computedCell(log, deletion, cell))),
  )
  const known = found.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
  return deletions.map((_, index) =>
    known.slice(index * active.length, (index + 1) * active.length).filter((cell) => cell !== null),
  )
}

async function computedCell(
  log: LogQueries,
  { recordId, seq, life, values }: LoggedDeletion,
  { target, field }: { readonly target: StoredTarget; readonly field: Field },
): Promise<ComputedBefore | null> {
  const cell = await logOfCell(log, recordId, field)
  const entry = (await cell?.latestBefore(seq)) ?? null
  const ofLife =
    entry !== null && life !== null && (await log.isOfLife({ seq: Number(entry['seq']), key: life }))
  const computation = computationBefore(entry, memberOf(values, target.field), ofLife)
  return computation === null ? null : { target, computation }
}

function restoreRecord(change: ChangeSet, restoring: Restoring, actor: string): void {
  const key = change.newKey()
  const { last: seq, cells } = logRestored(change, key, { restoring, actor })
  const { id, record } = restoring.write
  change.insert({ id, key, seq, value: (field) => memberOf(record, field.name) })
  change.cells.created(key, writtenValues(restoring), seq)
  markRestored(change.cells, key, { cells, hashes: restoring.hashes })
}
