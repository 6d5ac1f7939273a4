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
import type { ChangeSet } from '../changes/change-set.ts'
import { isOfLife } from '../log/life-entries.ts'
import { NewRecords } from '../changes/new-records.ts'
import { storedRow } from '../read/present-record.ts'
import { ProvenanceReader } from '../log/provenance-reader.ts'
import { readDeletion } from '../log/read-deletion.ts'
import { holdersIn } from '../changes/unique-holders.ts'

/** Restores deleted records as {@link SheetStore.restore} promises. The caller takes everything back when this throws. */
export function restore(change: ChangeSet, request: RestoreRequest): RestoreResult {
  // The log is read from the table, and earlier changes of this transaction count.
  change.insertLines()
  const { db, contract } = change
  const { records, actor } = request
  const deletions = new Map(records.map((ref) => [ref.recordId, readDeletion(db, ref)]))
  checkRestore(contract, request, {
    deletion: ({ recordId }) => deletions.get(recordId) ?? null,
    exists: (id) => storedRow(db, id) !== undefined,
  })
  const judge = restoreJudge(contract, actor, change.cells)
  const all: Restoring[] = []
  for (const [position, { recordId, hashes }] of records.entries()) {
    const deletion = deletions.get(recordId) ?? null
    const write = deletion === null ? null : judge.judge(deletion.values, position, null)
    if (deletion === null || write === null) continue
    all.push({ deletion, write, computed: computedCells(change, deletion), hashes })
  }
  judge.refuse(judge.claims.conflicts(holdersIn(db)))
  judge.throwFaults()
  for (const restoring of all) restoreRecord(change, restoring, actor)
  return { restored: all.length }
}

/** The cells of a deleted record that had a computed value. */
function computedCells(
  { db, contract, cells }: ChangeSet,
  { recordId, seq, life, values }: LoggedDeletion,
): ComputedBefore[] {
  const provenance = new ProvenanceReader(db)
  return cells.targets.flatMap((target) => {
    const field = contract.fieldByName.get(target.field)
    if (!target.active || field === undefined) return []
    const entry = provenance.log(recordId, field)?.latestBefore(seq) ?? null
    const ofLife = entry !== null && life !== null && isOfLife(db, { seq: Number(entry['seq']), key: life })
    const computation = computationBefore(entry, memberOf(values, target.field), ofLife)
    return computation === null ? [] : [{ target, computation }]
  })
}

function restoreRecord(change: ChangeSet, restoring: Restoring, actor: string): void {
  const key = change.newRecord()
  const { last, cells } = logRestored(change, key, { restoring, actor })
  const records = new NewRecords(change)
  const { values } = restoring.write
  records.add({ record: key, seq: last, values, value: writtenValues(restoring) })
  records.flush()
  markRestored(change.cells, key, { cells, hashes: restoring.hashes })
}
