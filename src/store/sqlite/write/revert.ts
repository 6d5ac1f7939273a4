import type { Field } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { mayWrite } from '../../../contract/rules/permissions.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { faultOf } from '../../../contract/values/validate-value.ts'
import { SheetError, ValidationError } from '../../../errors/service-error.ts'
import { answerOf, undoneBy } from '../../cell-entries.ts'
import type { RecordKey } from '../../cell-work.ts'
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
import type { CellLog } from '../log/cell-log-reader.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { Connection } from '../database/connection.ts'
import { ProvenanceReader } from '../log/provenance-reader.ts'
import { isOfLife } from '../log/life-entries.ts'
import { addReverted } from './run-writer.ts'
import { quoted } from '../database/schema.ts'
import { holdersIn } from '../changes/unique-holders.ts'
import { canBeId, fromColumn, toColumn } from '../database/values.ts'
import { cacheEntryText, hashBytes, readCacheEntry } from '../../rows/stored-rows.ts'

/** An entry that can be undone, and the key of its record. */
interface RecordUndoing extends Undoing {
  readonly key: RecordKey
}

/**
 * Undoes entries, the latest first: each cell that holds what its entry wrote gets back the value and the state from
 * before. What a derivation answered and is taken back leaves the cache as well. Goes through all of them before it
 * writes. The caller takes everything back when this throws: PermissionDeniedError for what would be undone, was written
 * by hand and the actor may not write (D7), SheetError for a cell without the entry, ValidationError for the field `id`.
 */
export function revert(change: ChangeSet, request: RevertRequest): RevertResult {
  // Histories are read from the table, and earlier changes of this transaction count.
  change.insertLines()
  const finder = new UndoingFinder(change, request.actor)
  const found = request.entries.map((entry) => finder.find(entry)).filter((undoing) => undoing !== null)
  const undoings = withoutClashes(
    change.db,
    found.toSorted((a, b) => b.entry.seq - a.entry.seq),
  )
  throwIfDenied(undoings)
  for (const undoing of undoings) putBack(change, undoing, request)
  const result = resultOf(request, undoings)
  if (request.run !== null) addReverted(change, request.run, result)
  return result
}

/** Finds out what undoing an entry comes to. */
class UndoingFinder {
  readonly #change: ChangeSet
  readonly #actor: string
  readonly #provenance: ProvenanceReader
  /** Cells for which an entry has been found that can be undone. */
  readonly #cells = new Set<string>()

  constructor(change: ChangeSet, actor: string) {
    this.#change = change
    this.#actor = actor
    this.#provenance = new ProvenanceReader(change.db)
  }

  /** Null for a conflict. */
  find(entry: EntryRef): RecordUndoing | null {
    const field = this.#change.contract.fieldByName.get(entry.field)
    if (field === undefined) return null
    if (field.primaryKey) throw new ValidationError('the field "id" cannot be reverted; it never changes')
    const log = this.#log(entry, field)
    const placed = log.inForce(entry.seq)
    if (placed === null && log.at(entry.seq) === null) throw noSuchEntry(entry)
    const cell = this.#cell(entry, field)
    if (placed === null || cell === null || !this.#isOfLife(entry.seq, cell.key)) return null
    const value = placed.entry['previous'] ?? null
    const derived = this.#change.cells.isDerived(field.name)
    const fault = value === null && derived ? null : faultOf(field, value)
    if (fault !== null) return null
    const denied = isByHand(placed.entry, log) && !mayWrite(field, this.#actor, derived)
    return this.#once({
      entry,
      field,
      ...cell,
      value,
      computed: this.#computedBefore(placed.before, cell.key),
      answer: answerOf(placed.entry),
      denial: denied ? denialOf(entry, field, this.#actor) : null,
    })
  }

  #log({ recordId }: EntryRef, field: Field): CellLog {
    const log = canBeId(recordId) ? this.#provenance.log(recordId, field) : null
    if (log === null)
      throw new SheetError(`no record ${showValue(recordId)} has ever existed`, 'unknown_record')
    return log
  }

  /** The cell as it is now; null when its record is gone. */
  #cell({ recordId }: EntryRef, field: Field): Pick<RecordUndoing, 'key' | 'current'> | null {
    const sql = `SELECT "$seq" AS key, ${quoted(field.name)} AS current FROM "$data" WHERE id = ?`
    const row = this.#change.db.get(sql, recordId)
    if (row === undefined) return null
    return { key: Number(row['key']), current: fromColumn(field, row['current']) }
  }

  #isOfLife(seq: number, key: RecordKey): boolean {
    return isOfLife(this.#change.db, { seq, key })
  }

  /** What was computed before an entry, if what the cell had then was computed; null when it was written, or missing. */
  #computedBefore(before: JsonObject | null, key: RecordKey): Undoing['computed'] {
    const computed = computedBy(before)
    return computed !== null && this.#isOfLife(Number(before?.['seq']), key) ? computed : null
  }

  /** An entry that is named twice is undone once. */
  #once(undoing: RecordUndoing): RecordUndoing | null {
    const cell = `${undoing.key} ${undoing.field.name}`
    if (this.#cells.has(cell)) return null
    this.#cells.add(cell)
    return undoing
  }
}

/**
 * Whether an entry is somebody's own writing, which only those may undo who may write the field. What a derivation
 * computed is not. Of a revert, what it undid counts: whoever may undo that may change their mind.
 */
function isByHand(entry: JsonObject, log: CellLog): boolean {
  let origin: JsonObject | null = entry
  for (let undone = undoneBy(entry); undone !== null && origin !== null;) {
    origin = log.at(undone)
    undone = origin === null ? null : undoneBy(origin)
  }
  return origin === null || answerOf(origin) === null
}

/**
 * Those that leave every value of a unique field with one record, found before anything is written: what a cell has
 * that goes back is free for others. What cannot be undone keeps its value, which may stand in the way of others.
 */
function withoutClashes(db: Connection, undoings: readonly RecordUndoing[]): readonly RecordUndoing[] {
  const clashing = new Set(
    claimsOf(undoings)
      .conflicts(holdersIn(db))
      .map(({ claim }) => claim.position),
  )
  if (clashing.size === 0) return undoings
  return withoutClashes(
    db,
    undoings.filter((_, position) => !clashing.has(position)),
  )
}

function putBack(change: ChangeSet, undoing: RecordUndoing, request: RevertRequest): void {
  const { field, key, current, value, answer } = undoing
  if (answer !== null) forgetAnswer(change, answer, field.name)
  const seq = change.logRevert(revertLine(undoing, request), key)
  markUndone(change.cells, key, { undoing, seq })
  const stored = toColumn(value)
  if (stored === toColumn(current)) return
  const column = quoted(field.name)
  change.db.run(`UPDATE "$data" SET "$version" = ?, ${column} = ? WHERE "$seq" = ?`, seq, stored, key)
  change.cells.inputWritten(field.name, key, seq)
}

/** Takes the answer for a field out of the cache, lest the next run bring it back, or another record get it. */
function forgetAnswer({ db }: ChangeSet, inputHash: string, field: string): void {
  const hash = hashBytes(inputHash)
  const stored = db.get('SELECT entry FROM "$cache" WHERE hash = ?', hash)
  if (stored === undefined) return
  const { values, provenance } = readCacheEntry(inputHash, stored['entry'])
  const left = Object.fromEntries(Object.entries(values).filter(([target]) => target !== field))
  if (Object.keys(left).length === 0) {
    db.run('DELETE FROM "$cache" WHERE hash = ?', hash)
  } else {
    db.run('UPDATE "$cache" SET entry = ? WHERE hash = ?', cacheEntryText({ values: left, provenance }), hash)
  }
}
