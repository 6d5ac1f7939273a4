import { sameValue } from '../same-value.ts'
import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { mayWrite, writeDenial } from '../../contract/rules/permissions.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { PermissionDeniedError, SheetError, ValidationError } from '../../errors/service-error.ts'
import { computationOf, undoneBy, type Computation } from '../cell-entries.ts'
import type { RecordKey } from '../cell-work.ts'
import { runReverted, updateRun } from '../rows/run-updates.ts'
import { hashBytes } from '../rows/stored-rows.ts'
import type { EntryRef, RevertRequest, RevertResult, RunEntry } from '../sheet-store.ts'
import type { CellLog } from './cell-log.ts'
import { deleteCreated } from './delete-created.ts'
import { load, type Steps } from './steps.ts'
import type { StoreChange, StoredRecord } from './store-change.ts'
import { UniqueClaims } from './unique-claims.ts'
import { Violations } from './upsert-body.ts'

/** An entry that can be undone, and the state of its cell afterwards. */
interface Undoing {
  readonly entry: EntryRef
  readonly field: Field
  readonly record: StoredRecord
  /** The present value of the cell. */
  readonly current: JsonValue
  /** The value after the revert. */
  readonly value: JsonValue
  /** The computation of that value; null when it was not computed. */
  readonly computation: Computation | null
  /** The input hash of the result that is undone; null when the entry is not computed. */
  readonly undoneHash: string | null
  /** The reason why the actor may not undo the entry; null when they may. */
  readonly denial: string | null
}

/**
 * Undoes entries, the latest first: each cell whose value is that of its entry gets back the value and the state from
 * before. Created records are deleted first, so that their unique values are free. Removes the results of derivations that are
 * undone from the cache. Validates all entries before it writes:
 * throws PermissionDeniedError for an entry that was written by hand in a field that the actor may not write (D7),
 * the same for an actor that may not delete records, SheetError for a cell without the entry, ValidationError for the field `id`.
 */
export function* revert(change: StoreChange, request: RevertRequest): Steps<RevertResult> {
  const { actor, run } = request
  yield* load(change.load([...new Set(request.entries.map(({ recordId }) => recordId))]))
  const created = yield* deleteCreated(
    change,
    request.entries.filter((entry) => entry.field === null && entry.values !== null),
    request,
  )
  const entries = request.entries.filter(isOfCell)
  const found = yield* load(change.together(entries.map((entry) => undoingOf(change, entry, actor))))
  const latestFirst = onePerCell(found).toSorted((a, b) => b.entry.seq - a.entry.seq)
  const undoings = yield* withoutConflicts(change, latestFirst)
  const denials = new Violations()
  for (const { denial } of undoings) if (denial !== null) denials.add(() => denial)
  if (denials.count > 0) throw new PermissionDeniedError(denials.message(), 'write_not_permitted')
  yield* load(
    change.forgetResults(
      undoings.flatMap(({ undoneHash, field }) =>
        undoneHash === null ? [] : [{ inputHash: undoneHash, target: field.name }],
      ),
    ),
  )
  for (const undoing of undoings) undo(change, undoing, request)
  const undone = new Set(undoings.map(({ entry }) => entry))
  const conflicts = entries
    .filter((entry) => !undone.has(entry))
    .map(({ recordId, field }) => ({ recordId, field }))
  const result = {
    reverted: created.size + undone.size,
    conflicts: [
      ...conflicts,
      ...request.entries
        .filter((entry) => !isOfCell(entry) && !created.has(entry))
        .map(({ recordId }) => ({ recordId, field: 'id' })),
    ],
  }
  if (run !== null) yield* load(change.db.change(updateRun(run, runReverted(result, change.at))))
  return result
}

function isOfCell(entry: RunEntry): entry is EntryRef {
  return entry.field !== null
}

/** Returns the undoings without conflicts; an entry that is named twice is undone once. */
function onePerCell(found: readonly (Undoing | null)[]): readonly Undoing[] {
  const cells = new Set<string>()
  return found.filter((undoing) => {
    if (undoing === null) return false
    const cell = `${undoing.record.key} ${undoing.field.name}`
    return !cells.has(cell) && cells.add(cell)
  }) as Undoing[]
}

/** Returns what undoing an entry changes; null for a conflict. */
function* undoingOf(change: StoreChange, entry: EntryRef, actor: string): Steps<Undoing | null> {
  const field = change.contract.fieldByName.get(entry.field)
  if (field === undefined) return null
  if (field.primaryKey) throw new ValidationError('the field "id" cannot be reverted; it never changes')
  const history = yield* load(change.log.cell(entry.recordId, field))
  if (history === null)
    throw new SheetError(`no record ${showValue(entry.recordId)} has ever existed`, 'unknown_record')
  const placed = yield* history.inForce(entry.seq)
  if (placed === null && (yield* history.at(entry.seq)) === null) {
    throw new SheetError(`${nameOf(entry)}: there is no provenance entry ${entry.seq}`, 'unknown_entry', {
      hint: { action: 'list_entries' },
    })
  }
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
    computation: yield* computationBefore(change, placed.before, record.key),
    undoneHash: computedHash(placed.entry),
    denial: denied ? `${nameOf(entry)}: ${writeDenial(field, actor)}` : null,
  }
}

/** Returns the computation before an entry; null when the cell had no value then, or one written by hand. */
function* computationBefore(
  { log }: StoreChange,
  before: JsonObject | null,
  key: RecordKey,
): Steps<Computation | null> {
  const computation = computationOf(before)
  if (computation === null) return null
  return (yield* load(log.isOfLife({ seq: Number(before?.['seq']), key }))) ? computation : null
}

/** Returns the input hash of a computed entry; null for any other, such as a revert. */
function computedHash(entry: JsonObject): string | null {
  return entry['source'] === 'revert' ? null : (computationOf(entry)?.input_hash ?? null)
}

/**
 * Whether an entry was written by hand, so that only actors who may write the field may undo it. For a revert, the entry
 * that it undid counts: an actor who may undo that may also undo the revert.
 */
function* isByHand(entry: JsonObject, history: CellLog): Steps<boolean> {
  let origin: JsonObject | null = entry
  for (let undone = undoneBy(entry); undone !== null && origin !== null;) {
    origin = yield* history.at(undone)
    undone = origin === null ? null : undoneBy(origin)
  }
  return origin === null || computedHash(origin) === null
}

/**
 * Returns the undoings that leave every value of a unique field with one record. A reverted cell frees its value for
 * others; a cell that cannot be reverted keeps its value, which may conflict with others.
 */
function* withoutConflicts(change: StoreChange, undoings: readonly Undoing[]): Steps<readonly Undoing[]> {
  const claims = new UniqueClaims()
  undoings.forEach(({ field, entry, value }, index) => {
    if (field.unique) claims.add({ field, id: entry.recordId, index, value })
  })
  if (claims.isEmpty) return undoings
  const conflicts = claims.conflicts(yield* load(change.holders(claims)))
  if (conflicts.length === 0) return undoings
  const conflicting = new Set(conflicts.map(({ claim }) => claim.index))
  return yield* withoutConflicts(
    change,
    undoings.filter((_, index) => !conflicting.has(index)),
  )
}

/** Undoes an entry: adds the line, and sets the value and the state of the cell. */
function undo(change: StoreChange, undoing: Undoing, { actor, run }: RevertRequest): void {
  const { entry, field, record, current, value, computation } = undoing
  const { records, cells } = change
  const { key } = record
  const seq = change.logRevert(
    {
      actor,
      source: 'revert',
      record_id: entry.recordId,
      field: field.name,
      value,
      previous: current,
      reverts: entry.seq,
      ...(run === null ? {} : { run_id: run }),
      ...computation,
    },
    key,
  )
  const target = cells.target(field.name)
  if (target !== undefined) {
    if (computation === null) cells.writtenByHand(target, key, { hasValue: value !== null, seq })
    else cells.restored(target, key, { hash: hashBytes(computation.input_hash), seq })
  }
  if (sameValue(value, current)) return
  records.update(record, { fields: [field], values: { [field.name]: value }, seq })
  cells.inputWritten(field.name, key, seq)
}

function nameOf({ recordId, field }: EntryRef): string {
  return `record ${showValue(recordId)}, field ${showValue(field)}`
}
