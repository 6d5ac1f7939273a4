import type { JsonObject } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { sameValue } from '../../store/same-value.ts'
import { memberOf } from '../../store/sheet-files/import-lines.ts'
import type { Differences } from './differences.ts'
import type { LogReplay } from './replay-log.ts'
import { parsedRecord } from './parsed-object.ts'
import { recordOf, type ReplayedRecord, type StoredRecord } from './replayed-records.ts'

/** The records that were compared, and the cells of them that no line explains. */
export interface ComparedRecords {
  readonly records: number
  /** Cells that are as an imported file left them, which is not at hand, and the records that have some. */
  readonly imported: { readonly records: number; readonly cells: number }
  /** Cells that are as a conversion left them, which can have made several values of the one before. */
  readonly converted: number
}

/** Compares the records of a sheet, in the order of their creation, with those that the lines of its log leave. */
export function compareRecords(
  replay: LogReplay,
  records: Iterable<string>,
  differences: Differences,
): ComparedRecords {
  const comparison = new Comparison(replay, differences)
  for (const text of records) comparison.add(text)
  return comparison.end()
}

const LATE = 'comes after records that were created later'

class Comparison {
  readonly #replay: LogReplay
  readonly #differences: Differences
  readonly #ordered: Generator<StoredRecord>
  /** The next record in the order of creation; null after the last. */
  #next: StoredRecord | null
  /** Records that others have come before, by their ids: they follow, or are missing. */
  readonly #skipped = new Set<string>()
  /** The places of records whose order is not known. */
  readonly #unplaced = new Set<number>()
  #records = 0
  #converted = 0
  readonly #imported = { records: 0, cells: 0 }
  /** Imported records that no line names. */
  #unnamed = 0

  constructor(replay: LogReplay, differences: Differences) {
    this.#replay = replay
    this.#differences = differences
    this.#ordered = replay.records.inOrder()
    this.#next = this.#ordered.next().value ?? null
  }

  add(text: string): void {
    this.#records += 1
    // Most records are as their first line says: then reading them would take most of the time.
    if (this.#next?.text === text && this.#replay.isPlain(this.#next)) {
      this.#advance(this.#next)
      return
    }
    const record = parsedRecord(text)
    const id = record?.['id']
    if (record === null || typeof id !== 'string') {
      this.#differences.record(`number ${this.#records}`, null, `is not a record: ${showValue(text)}`)
    } else if (this.#next?.id === id) {
      this.#compare(record, recordOf(this.#advance(this.#next)))
    } else {
      const found = this.#replay.records.get(id)
      if (found === null) this.#addUnknown(record, id)
      else this.#addFound(record, found)
    }
  }

  end(): ComparedRecords {
    for (const id of this.#skipped) this.#missing(this.#replay.records.get(id))
    while (this.#next !== null) this.#missing(this.#advance(this.#next))
    for (const record of this.#replay.records.unplaced())
      if (!this.#unplaced.has(record.place)) this.#missing(record)
    const file = this.#replay.unknownImport
    const expected = file === null ? 0 : file.records - file.named
    if (file !== null && this.#unnamed !== expected) {
      this.#differences.line(
        file.seq,
        `imported ${expected} records that no other line names, and there are ${this.#unnamed}`,
      )
    }
    return {
      records: this.#records,
      imported: this.#imported,
      converted: this.#converted,
    }
  }

  #advance(present: StoredRecord): StoredRecord {
    this.#next = this.#ordered.next().value ?? null
    return present
  }

  #addFound(record: JsonObject, found: ReplayedRecord): void {
    const { id, place } = found
    if (place < 0) {
      if (found.imported && !this.#areImported) this.#differences.record(id, null, LATE)
      this.#unplaced.add(place)
    } else if (this.#skipped.delete(id)) {
      this.#differences.record(id, null, LATE)
    } else if (this.#next === null || place < this.#next.place) {
      this.#differences.record(id, null, 'is there twice')
    } else {
      for (let next: StoredRecord | null = this.#next; next !== null && next.id !== id; next = this.#next)
        this.#skipped.add(this.#advance(next).id)
      this.#next = this.#ordered.next().value ?? null
    }
    this.#compare(record, found)
  }

  #addUnknown(record: JsonObject, id: string): void {
    const cells = Object.keys(record).length
    if (this.#replay.unknownImport !== null && this.#areImported) {
      this.#unnamed += 1
      this.#imported.records += 1
      this.#imported.cells += cells
    } else {
      this.#differences.record(id, null, 'no line of the log has created it')
    }
  }

  /** Whether all records before this one were imported: those that were created later follow. */
  get #areImported(): boolean {
    return this.#unnamed + this.#unplaced.size === this.#records - 1
  }

  #missing(record: Omit<ReplayedRecord, 'values'> | null): void {
    if (record === null) return
    this.#differences.record(record.id, null, 'is missing, and no line of the log has deleted it')
  }

  #compare(record: JsonObject, replayed: ReplayedRecord): void {
    const { fields } = this.#replay
    const isPlain = this.#replay.isPlain(replayed)
    let imported = 0
    for (const field of Object.keys(record)) {
      const value = record[field] ?? null
      if (isPlain && sameValue(memberOf(replayed.values, field), value)) continue
      const column = fields.of(field)
      const possible = this.#replay.possible(replayed, column)
      if (possible === 'imported') imported += 1
      else {
        if (possible.length > 1) this.#converted += 1
        if (this.#replay.accepts(replayed, column, value)) continue
        const expected = this.#replay.shown(replayed, column)
        const message = `the log ends with ${expected}, and the record has ${showValue(value)}`
        this.#differences.record(replayed.id, field, message)
      }
    }
    for (const key of Object.keys(replayed.values)) {
      const value = replayed.values[key] ?? null
      const field = value === null ? null : isPlain ? key : fields.nameOf(key)
      if (field === null || Object.hasOwn(record, field)) continue
      const message = `the log ends with ${showValue(value)}, and the record has no such field`
      this.#differences.record(replayed.id, field, message)
    }
    // A conversion begins a column without values of its own.
    for (const column of fields.converted()) {
      const field = fields.nameOf(column.key)
      if (field === null || Object.hasOwn(record, field) || this.#replay.accepts(replayed, column, null))
        continue
      const message = `the log ends with ${this.#replay.shown(replayed, column)}, and the record has no such field`
      this.#differences.record(replayed.id, field, message)
    }
    if (imported > 0) this.#imported.records += 1
    this.#imported.cells += imported
  }
}
