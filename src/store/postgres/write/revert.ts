import type { JsonObject } from '../../../contract/json/json.ts'
import { mayWrite } from '../../../contract/rules/permissions.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { faultOf } from '../../../contract/values/validate-value.ts'
import { SheetError, ValidationError } from '../../../errors/service-error.ts'
import { answerOf, undoneBy } from '../../cell-entries.ts'
import type { EntryRef, RevertRequest, RevertResult } from '../../sheet-store.ts'
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
} from '../../rules/revert-rules.ts'
import type { CellLog } from '../../cell-log.ts'
import { logOfCell } from '../log/log-of-cell.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { Connection } from '../database/connection.ts'
import { forgetAnswers } from './forget-results.ts'
import { LogQueries } from '../log/log-queries.ts'
import { addReverted } from './run-writer.ts'
import type { StoredRecord } from '../changes/stored-record.ts'
import { readHolders } from '../changes/unique-holders.ts'
import { canBeId, sameValue } from '../database/values.ts'

/** An entry that can be undone, and its record. */
interface RecordUndoing extends Undoing {
  readonly record: StoredRecord
}

/**
 * Undoes entries, the latest first: each cell that holds what its entry wrote gets back the value and the state from
 * before. What a derivation answered and is taken back leaves the cache as well. Goes through all of them before it
 * writes. The caller takes everything back when this throws: PermissionDeniedError for what would be undone, was written
 * by hand and the actor may not write (D7), SheetError for a cell without the entry, ValidationError for the field `id`.
 */
export async function revert(change: ChangeSet, request: RevertRequest): Promise<RevertResult> {
  const found = await findUndoings(change, request)
  const latestFirst = found.toSorted((a, b) => b.entry.seq - a.entry.seq)
  const undoings = await withoutClashes(change.db, latestFirst)
  throwIfDenied(undoings)
  await forgetAnswers(
    change.db,
    undoings.flatMap(({ answer, field }) =>
      answer === null ? [] : [{ inputHash: answer, target: field.name }],
    ),
  )
  await change.cells.load([...new Set(undoings.map(({ record }) => record.key))])
  for (const undoing of undoings) putBack(change, undoing, request)
  const result = resultOf(request, undoings)
  if (request.run !== null) await addReverted(change, request.run, result)
  return result
}

/** Finds out what undoing each of the entries comes to, all of them together; an entry named twice is undone once. */
async function findUndoings(change: ChangeSet, { entries, actor }: RevertRequest): Promise<RecordUndoing[]> {
  await change.records.load([...new Set(entries.map(({ recordId }) => recordId).filter(canBeId))])
  const finder = new UndoingFinder(change, actor)
  // All of them settle before anything is thrown, so that no statement of them runs on after that.
  const found = await Promise.allSettled(entries.map((entry) => finder.find(entry)))
  const cells = new Set<string>()
  return found.flatMap((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    const undoing = outcome.value
    if (undoing === null) return []
    const cell = `${undoing.record.key} ${undoing.field.name}`
    if (cells.has(cell)) return []
    cells.add(cell)
    return [undoing]
  })
}

/** Finds out what undoing an entry comes to. */
class UndoingFinder {
  readonly #change: ChangeSet
  readonly #actor: string
  readonly #log: LogQueries

  constructor(change: ChangeSet, actor: string) {
    this.#change = change
    this.#actor = actor
    this.#log = new LogQueries(change.db)
  }

  /** Null for a conflict. */
  async find(entry: EntryRef): Promise<RecordUndoing | null> {
    const field = this.#change.contract.fieldByName.get(entry.field)
    if (field === undefined) return null
    if (field.primaryKey) throw new ValidationError('the field "id" cannot be reverted; it never changes')
    const log = await logOfCell(this.#log, entry.recordId, field)
    if (log === null)
      throw new SheetError(`no record ${showValue(entry.recordId)} has ever existed`, 'unknown_record')
    const placed = await log.inForce(entry.seq)
    if (placed === null && (await log.at(entry.seq)) === null) throw noSuchEntry(entry)
    const record = this.#change.records.get(entry.recordId)
    if (placed === null || record === undefined) return null
    if (!(await this.#log.isOfLife({ seq: entry.seq, key: record.key }))) return null
    const value = placed.entry['previous'] ?? null
    const derived = this.#change.cells.isDerived(field.name)
    if (!(value === null && derived) && faultOf(field, value) !== null) return null
    const denied = !mayWrite(field, this.#actor, derived) && (await isByHand(placed.entry, log))
    return {
      entry,
      field,
      record,
      current: record.value(field),
      value,
      computed: await this.#computedBefore(placed.before, record.key),
      answer: answerOf(placed.entry),
      denial: denied ? denialOf(entry, field, this.#actor) : null,
    }
  }

  /** What was computed before an entry, if what the cell had then was computed; null when it was written, or missing. */
  async #computedBefore(before: JsonObject | null, key: number): Promise<Undoing['computed']> {
    const computed = computedBy(before)
    return computed !== null && (await this.#log.isOfLife({ seq: Number(before?.['seq']), key }))
      ? computed
      : null
  }
}

/**
 * Whether an entry is somebody's own writing, which only those may undo who may write the field. What a derivation
 * computed is not. Of a revert, what it undid counts: whoever may undo that may change their mind.
 */
async function isByHand(entry: JsonObject, log: CellLog): Promise<boolean> {
  let origin: JsonObject | null = entry
  for (let undone = undoneBy(entry); undone !== null && origin !== null;) {
    origin = await log.at(undone)
    undone = origin === null ? null : undoneBy(origin)
  }
  return origin === null || answerOf(origin) === null
}

/**
 * Those that leave every value of a unique field with one record, found before anything is written: what a cell has
 * that goes back is free for others. What cannot be undone keeps its value, which may stand in the way of others.
 */
async function withoutClashes(
  db: Connection,
  undoings: readonly RecordUndoing[],
): Promise<readonly RecordUndoing[]> {
  const claims = claimsOf(undoings)
  const clashing = new Set(claims.conflicts(await readHolders(db, claims)).map(({ claim }) => claim.position))
  if (clashing.size === 0) return undoings
  return withoutClashes(
    db,
    undoings.filter((_, position) => !clashing.has(position)),
  )
}

function putBack(change: ChangeSet, undoing: RecordUndoing, request: RevertRequest): void {
  const { field, record, current, value } = undoing
  const { key } = record
  const seq = change.logRevert(revertLine(undoing, request), key)
  markUndone(change.cells, key, { undoing, seq })
  if (sameValue(value, current)) return
  change.records.update(record, { [field.name]: value }, seq)
  change.cells.inputWritten(field.name, key, seq)
}
