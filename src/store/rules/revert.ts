import type { JsonObject } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { mayWrite } from '../../contract/rules/permissions.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { SheetError, ValidationError } from '../../errors/service-error.ts'
import { answerOf, undoneBy } from '../cell-entries.ts'
import type { RecordKey } from '../cell-work.ts'
import { runReverted, updateRun } from '../rows/run-updates.ts'
import type { EntryRef, RevertRequest, RevertResult } from '../sheet-store.ts'
import {
  claimsOf,
  computedBy,
  denialOf,
  markUndone,
  noSuchEntry,
  resultOf,
  revertLine,
  throwIfDenied,
  type Undoing,
} from './revert-rules.ts'
import { load, type Steps } from './steps.ts'
import { sameValue, type CellHistory, type StoreChange, type StoredRecord } from './store-change.ts'

/** An entry that can be undone, and its record. */
interface RecordUndoing extends Undoing {
  readonly record: StoredRecord
}

/**
 * Undoes entries, the latest first: each cell whose value is that of its entry gets back the value and the state from
 * before. Removes the results of derivations that are undone from the cache. Validates all entries before it writes:
 * throws PermissionDeniedError for an entry that was written by hand in a field that the actor may not write (D7),
 * SheetError for a cell without the entry, ValidationError for the field `id`.
 */
export function* revert(change: StoreChange, request: RevertRequest): Steps<RevertResult> {
  const { entries, actor, run } = request
  yield* load(change.load([...new Set(entries.map(({ recordId }) => recordId))]))
  const found = yield* load(change.together(entries.map((entry) => undoingOf(change, entry, actor))))
  const latestFirst = onePerCell(found).toSorted((a, b) => b.entry.seq - a.entry.seq)
  const undoings = yield* withoutClashes(change, latestFirst)
  throwIfDenied(undoings)
  yield* load(
    change.forgetResults(
      undoings.flatMap(({ answer, field }) =>
        answer === null ? [] : [{ inputHash: answer, target: field.name }],
      ),
    ),
  )
  for (const undoing of undoings) putBack(change, undoing, request)
  const result = resultOf(request, undoings)
  if (run !== null) yield* load(change.db.change(updateRun(run, runReverted(result, change.at))))
  return result
}

/** Returns the undoings without conflicts; an entry that is named twice is undone once. */
function onePerCell(found: readonly (RecordUndoing | null)[]): readonly RecordUndoing[] {
  const cells = new Set<string>()
  return found.filter((undoing) => {
    if (undoing === null) return false
    const cell = `${undoing.record.key} ${undoing.field.name}`
    return !cells.has(cell) && cells.add(cell)
  }) as RecordUndoing[]
}

/** Returns what undoing an entry changes; null for a conflict. */
function* undoingOf(change: StoreChange, entry: EntryRef, actor: string): Steps<RecordUndoing | null> {
  const field = change.contract.fieldByName.get(entry.field)
  if (field === undefined) return null
  if (field.primaryKey) throw new ValidationError('the field "id" cannot be reverted; it never changes')
  const history = yield* load(change.log.cell(entry.recordId, field))
  if (history === null)
    throw new SheetError(`no record ${showValue(entry.recordId)} has ever existed`, 'unknown_record')
  const placed = yield* load(history.inForce(entry.seq))
  if (placed === null && (yield* load(history.at(entry.seq))) === null) throw noSuchEntry(entry)
  const record = change.records.get(entry.recordId)
  if (placed === null || record === undefined) return null
  if (!(yield* load(change.log.isOfLife({ seq: entry.seq, key: record.key })))) return null
  const value = placed.entry['previous'] ?? null
  const derived = change.cells.isDerived(field.name)
  if (!(value === null && derived) && valueError(field, value) !== null) return null
  const denied = !mayWrite(field, actor, derived) && (yield* isByHand(placed.entry, history))
  return {
    entry,
    field,
    record,
    current: record.value(field),
    value,
    computed: yield* computedBefore(change, placed.before, record.key),
    answer: answerOf(placed.entry),
    denial: denied ? denialOf(entry, field, actor) : null,
  }
}

/** Returns the computation before an entry; null when the cell had no value then, or one written by hand. */
function* computedBefore(
  { log }: StoreChange,
  before: JsonObject | null,
  key: RecordKey,
): Steps<Undoing['computed']> {
  const computed = computedBy(before)
  if (computed === null) return null
  return (yield* load(log.isOfLife({ seq: Number(before?.['seq']), key }))) ? computed : null
}

/**
 * Whether an entry was written by hand, so that only actors who may write the field may undo it. For a revert, the entry
 * that it undid counts: an actor who may undo that may also undo the revert.
 */
function* isByHand(entry: JsonObject, history: CellHistory): Steps<boolean> {
  let origin: JsonObject | null = entry
  for (let undone = undoneBy(entry); undone !== null && origin !== null;) {
    origin = yield* load(history.at(undone))
    undone = origin === null ? null : undoneBy(origin)
  }
  return origin === null || answerOf(origin) === null
}

/**
 * Returns the undoings that leave every value of a unique field with one record. A reverted cell frees its value for
 * others; a cell that cannot be reverted keeps its value, which may conflict with others.
 */
function* withoutClashes(
  change: StoreChange,
  undoings: readonly RecordUndoing[],
): Steps<readonly RecordUndoing[]> {
  const claims = claimsOf(undoings)
  if (claims.isEmpty) return undoings
  const conflicts = claims.conflicts(yield* load(change.holders(claims)))
  if (conflicts.length === 0) return undoings
  const clashing = new Set(conflicts.map(({ claim }) => claim.position))
  return yield* withoutClashes(
    change,
    undoings.filter((_, position) => !clashing.has(position)),
  )
}

function putBack(change: StoreChange, undoing: RecordUndoing, request: RevertRequest): void {
  const { field, record, current, value } = undoing
  const { key } = record
  const seq = change.logRevert(revertLine(undoing, request), key)
  markUndone(change.cells, key, { undoing, seq })
  if (sameValue(value, current)) return
  change.records.update(record, { fields: [field], values: { [field.name]: value }, seq })
  change.cells.inputWritten(field.name, key, seq)
}
