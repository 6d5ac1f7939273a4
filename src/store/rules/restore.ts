import type { RecordKey } from '../cell-work.ts'
import { memberOf } from '../sheet-files/import-lines.ts'
import type { RestoreRequest, RestoreResult } from '../sheet-store.ts'
import {
  checkRestore,
  computationBefore,
  logRestored,
  markRestored,
  restoreJudge,
  writtenValues,
  type ComputedBefore,
  type Restoring,
} from './restore-rules.ts'
import { load, type Steps } from './steps.ts'
import type { LoggedDeletion, StoreChange } from './store-change.ts'

/** A restored record, and its computed cells whose states are to be restored. */
interface RestoredRecord extends Pick<Restoring, 'hashes'> {
  readonly key: RecordKey
  readonly cells: Parameters<typeof markRestored>[2]['cells']
}

/** Records whose cells are looked up in the log together. */
const RECORDS_AT_ONCE = 500

/** Restores deleted records; see {@link SheetStore.restore}. */
export function* restore(change: StoreChange, request: RestoreRequest): Steps<RestoreResult> {
  const { contract } = change
  const { records, actor } = request
  yield* load(change.load(records.map(({ recordId }) => recordId)))
  const found = yield* load(change.log.deletions(records))
  const deletions = new Map(records.map(({ recordId }, index) => [recordId, found[index] ?? null]))
  checkRestore(contract, request, {
    deletion: ({ recordId }) => deletions.get(recordId) ?? null,
    exists: (id) => change.records.get(id) !== undefined,
  })
  const judge = restoreJudge(contract, actor, change.cells)
  const all: Omit<Restoring, 'computed'>[] = []
  for (const [position, { recordId, hashes }] of records.entries()) {
    const deletion = deletions.get(recordId) ?? null
    const write = deletion === null ? null : judge.judge(deletion.values, position, null)
    if (deletion !== null && write !== null) all.push({ deletion, write, hashes })
  }
  const { claims } = judge
  if (!claims.isEmpty) judge.refuse(claims.conflicts(yield* load(change.holders(claims))))
  judge.throwFaults()
  for (let start = 0; start < all.length; start += RECORDS_AT_ONCE) {
    const some = all.slice(start, start + RECORDS_AT_ONCE)
    const computed = yield* load(change.together(some.map(({ deletion }) => computedCells(change, deletion))))
    const restored = some.map((restoring, index) =>
      insertRestored(change, { ...restoring, computed: computed[index] ?? [] }, actor),
    )
    yield* load(change.flush())
    for (const { key, cells, hashes } of restored) markRestored(change.cells, key, { cells, hashes })
  }
  return { restored: all.length }
}

/** Returns the cells of a deleted record that had a computed value. */
function* computedCells(change: StoreChange, deletion: LoggedDeletion): Steps<ComputedBefore[]> {
  const targets = change.cells.targets.filter(({ active }) => active)
  const cells = yield* load(change.together(targets.map((target) => computedCell(change, deletion, target))))
  return cells.filter((cell) => cell !== null)
}

function* computedCell(
  { contract, log }: StoreChange,
  { recordId, seq, life, values }: LoggedDeletion,
  target: ComputedBefore['target'],
): Steps<ComputedBefore | null> {
  const field = contract.fieldByName.get(target.field)
  if (field === undefined) return null
  const history = yield* load(log.cell(recordId, field))
  const entry = history === null ? null : yield* load(history.latestBefore(seq))
  const isOfLife =
    entry !== null && life !== null && (yield* load(log.isOfLife({ seq: Number(entry['seq']), key: life })))
  const computation = computationBefore(entry, memberOf(values, target.field), isOfLife)
  return computation === null ? null : { target, computation }
}

function insertRestored(change: StoreChange, restoring: Restoring, actor: string): RestoredRecord {
  const key = change.newKey()
  const { last: seq, cells } = logRestored(change, key, { restoring, actor })
  const { id, record, values } = restoring.write
  change.insert({ id, key, seq, record, values, written: writtenValues(restoring) })
  return { key, cells, hashes: restoring.hashes }
}
