import { sameValue } from '../same-value.ts'
import type { Field } from '../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { entryOfField, entryOfImport, type StoredLine } from '../../provenance/log-line.ts'
import {
  begun,
  computationOf,
  type Computation,
  undoneBy,
  type Beginning,
  type EntryPlace,
  type FoundEntries,
  type LatestEntries,
  type Life,
  type PlacedEntry,
} from '../cell-entries.ts'
import type { RecordKey } from '../cell-work.ts'
import { spanAt, type FieldSpan } from '../fields/field-lineage.ts'
import { isKeptColumn } from '../fields/kept-columns.ts'
import { load, type Loaded, type Steps } from './steps.ts'

/** A query for lines of a life of a record: before a seq, the latest first, or after one, the earliest first. */
export interface LinesQuery {
  readonly life: Life
  readonly recordId: string
  readonly field: string
  readonly direction: 'before' | 'after'
  readonly seq: number
  readonly limit: number
}

export interface PlacedLine {
  readonly seq: number
  readonly text: StoredLine
}

/** Lines that were found. Nearly all concern the field, except those of an imported log. */
export interface FoundLines {
  readonly lines: readonly PlacedLine[]
  /** The seq from which there may be more lines, in the same direction; null for none. */
  readonly rest: number | null
}

/** A line of the log and its record. */
export interface OwnedLine {
  /** Null, as `earlierId` is, for the line of an import. */
  readonly record: RecordKey | null
  /** The record's id in an imported log. */
  readonly earlierId: string | null
  readonly text: StoredLine
}

/** A cell of a life of a record. */
export interface CellOfLife {
  readonly key: RecordKey
  readonly field: Field
}

/**
 * Queries of the log about a cell. Each result is bounded in lines and bytes, except a single line; all are of one state of
 * the store.
 */
export interface LogSource {
  /** Parses a line that it returned; null when it is not a line of a provenance log. */
  read(line: StoredLine): Loaded<JsonObject | null>
  lines(query: LinesQuery): Loaded<FoundLines>
  lineAt(seq: number): Loaded<OwnedLine | null>
  /** Returns the text of the line by which a record was created; null for an imported one. */
  firstLine(key: RecordKey): Loaded<StoredLine | null>
  /** Returns the line of the import that created a record; null for any other. */
  importLine(key: RecordKey): Loaded<JsonObject | null>
  /** Returns the present value of a cell; null for a deleted record. */
  currentValue(cell: CellOfLife): Loaded<JsonValue>
}

/**
 * The number of lines read at first, for the latest entry and the one before it, and the factor by which it grows with each
 * read.
 */
const FIRST_LINES = 2
const MORE_TIMES = 8
const MOST_LINES = 512

/** A cell and the lives of its record. */
export interface LoggedCell {
  readonly recordId: string
  readonly field: Field
  /** The names and types that the field has had, oldest first. */
  readonly spans: readonly FieldSpan[]
  /** Oldest first. */
  readonly lives: readonly Life[]
}

/** An entry of a cell, and the place after it; `order` is that of the lives. */
interface EntryWithPlace {
  readonly entry: JsonObject
  readonly place: EntryPlace & { readonly order: number }
}

interface EntriesWithPlaces {
  readonly entries: readonly EntryWithPlace[]
  readonly isFull: boolean
}

/** A query for entries of a cell; see {@link CellLog.page}. */
export interface PlacedEntries {
  readonly from: EntryPlace | null
  readonly limit: number
  readonly upTo?: number | undefined
}

/** The most characters of lines from which the entries of one response are made, unless the first alone has more. */
export const ENTRIES_LENGTH = 1 << 20

/** Takes an entry and the length of its line, 0 for one that has no line of its own, and returns whether no more are wanted. */
type Visit = (entry: JsonObject, length: number) => boolean

/** The entries of one cell over all lives of its record. Reads little more of the log than is requested. */
export class CellLog {
  readonly #log: LogSource
  readonly #cell: LoggedCell

  constructor(log: LogSource, cell: LoggedCell) {
    this.#log = log
    this.#cell = { ...cell, spans: withAbsences(cell.spans) }
  }

  /** Returns the latest entries, newest first: at most `limit`, and fewer where they are long. */
  *latest(limit: number): Steps<LatestEntries> {
    const entries: JsonObject[] = []
    let length = 0
    let isCut = false
    yield* this.#back((entry, ofLine) => {
      isCut = length > ENTRIES_LENGTH
      if (isCut) return true
      entries.push(entry)
      length += ofLine
      // Finding out whether there is an earlier one may take long.
      return entries.length === limit
    })
    return { entries, isCut }
  }

  /** Returns the latest entry by which the cell was computed with an input hash; null for none. */
  computation(inputHash: string): Steps<JsonObject | null> {
    // A revert restores the hash of an earlier computation, a conversion keeps it, and neither computes anything.
    return this.#find(
      ({ input_hash: hash, source }) => hash === inputHash && source !== 'revert' && source !== 'contract',
    )
  }

  /**
   * Returns the entry with this seq if its value is that of the cell: it is the latest entry, or the one that the latest
   * restored by a revert. A revert restores the entry before the one that it undid, which may be a revert again. Returns
   * null for any other seq.
   */
  *inForce(seq: number): Steps<PlacedEntry | null> {
    let found = null as JsonObject | null
    let before = null as JsonObject | null
    let below = Infinity
    yield* this.#back((entry) => {
      if (found !== null) {
        before = entry
        return true
      }
      const at = Number(entry['seq'])
      if (at >= below) return false
      const undone = undoneBy(entry)
      if (at === seq && (below === Infinity || undone === null)) found = entry
      else if (undone === null) return true
      else below = undone
      return false
    })
    return found === null ? null : { entry: found, before }
  }

  /** Returns the latest entry of the cell before a seq; null for none. */
  latestBefore(seq: number): Steps<JsonObject | null> {
    return this.#find((entry) => Number(entry['seq']) < seq)
  }

  /** Returns the entry of the cell with this seq; null for none. */
  *at(seq: number): Steps<JsonObject | null> {
    const { recordId, spans, lives } = this.#cell
    const line = yield* load(this.#log.lineAt(seq))
    if (line === null) return null
    const { record, earlierId, text } = line
    const imported = record === null && earlierId === null
    const ofRecord = record === null ? earlierId === recordId : lives.includes(record)
    if (!imported && !ofRecord) return null
    const parsed = imported ? null : yield* load(this.#log.read(text))
    const name = spanAt(spans, seq)?.name
    const entry = parsed === null || name === undefined ? null : this.#named(parsed, name)
    if (entry !== null) return entry
    // The entry of a beginning does not follow from its line alone.
    const nearest = yield* this.#find((candidate) => Number(candidate['seq']) <= seq)
    return nearest?.['seq'] === seq ? nearest : null
  }

  /**
   * Returns entries of the cell after a place, oldest first: at most `limit`, and fewer where they are long. `from` null is
   * the start, `upTo` the seq of the last entry.
   */
  *page(query: PlacedEntries): Steps<FoundEntries> {
    const { entries, isFull } = yield* this.entriesAfter(query)
    return {
      entries: entries.map(({ entry }) => entry),
      next: isFull ? (entries.at(-1)?.place ?? null) : null,
    }
  }

  /** Returns what {@link page} does, with the place of each entry, and whether more follow. */
  *entriesAfter({ from, limit, upTo = Infinity }: PlacedEntries): Steps<EntriesWithPlaces> {
    const { lives } = this.#cell
    const entries: EntryWithPlace[] = []
    let length = 0
    let [isFull, isOver] = [false, false]
    // The life of a valid cursor is among those of the record.
    const start = from === null ? 0 : lives.indexOf(from.life)
    for (let index = start; index < lives.length && !isFull && !isOver; index++) {
      const life = lives[index] ?? null
      yield* this.#forward(index, index === start ? (from?.seq ?? 0) : 0, (entry, ofLine) => {
        isOver = Number(entry['seq']) > upTo
        if (isOver) return true
        length += ofLine
        isFull = entries.length === limit || (entries.length > 0 && length > ENTRIES_LENGTH)
        if (isFull) return true
        const place = { life, seq: Number(entry['seq']), order: index }
        entries.push({ entry, place })
        return false
      })
    }
    return { entries, isFull }
  }

  /** Returns the latest entry that meets a condition; null for none. */
  *#find(meets: (entry: JsonObject) => boolean): Steps<JsonObject | null> {
    let found = null as JsonObject | null
    yield* this.#back((entry) => {
      if (!meets(entry)) return false
      found = entry
      return true
    })
    return found
  }

  /** Visits the entries of the cell, latest first. */
  *#back(visit: Visit): Steps<void> {
    // Beginnings of later lives; their entries are known when an earlier entry is found.
    const beginnings: Beginning[] = []
    const visitBegun = (value: JsonValue): boolean =>
      begun(beginnings.splice(0), value).some((entry) => visit(entry, JSON.stringify(entry).length))
    for (const life of this.#cell.lives.toReversed()) {
      let later = undefined as JsonObject | undefined
      const isDone = yield* this.#written(life, LATEST, (entry, length) => {
        later = entry
        return visitBegun(entry['value'] ?? null) || visit(entry, length)
      })
      if (isDone) return
      if (life !== null) beginnings.push(yield* this.#beginning(life, later))
    }
    visitBegun(null)
  }

  /** Visits the entries of one life of the record after a seq, 0 for all, oldest first. */
  *#forward(index: number, after: number, visit: Visit): Steps<void> {
    const life = this.#cell.lives[index] ?? null
    if (life !== null && after === 0) {
      const first = yield* this.#first(life, EARLIEST)
      const beginning = (yield* this.#beginning(life, first))(yield* this.#valueBefore(index))
      if (beginning !== null && visit(beginning, 0)) return
    }
    yield* this.#written(life, { direction: 'after', seq: after }, visit)
  }

  /** Returns the last value of the life before. Only an imported log has such a life without a deletion; otherwise null. */
  *#valueBefore(index: number): Steps<JsonValue> {
    if (index === 0 || this.#cell.lives[index - 1] !== null) return null
    const last = yield* this.#first(null, LATEST)
    return last?.['value'] ?? null
  }

  /** Returns the nearest written entry of the cell in one life of its record; undefined for none. */
  *#first(life: Life, place: LinesPlace): Steps<JsonObject | undefined> {
    let first = undefined as JsonObject | undefined
    yield* this.#written(life, place, (entry) => {
      first = entry
      return true
    })
    return first
  }

  /**
   * Visits the written entries of the cell in one life of its record, before or after a seq, nearest first, with those of
   * conversions. Returns whether the visitor ended that.
   */
  *#written(life: Life, { direction, seq }: LinesPlace, visit: Visit): Steps<boolean> {
    const { spans } = this.#cell
    const count = spans.length
    for (let step = 0; step < count; step++) {
      const index = direction === 'before' ? count - 1 - step : step
      const span = spans[index] as FieldSpan
      const converted = (): Steps<boolean> => this.#visitConversion(life, index, visit)
      if (direction === 'before') {
        if (span.from >= seq) continue
        if (span.to < seq && (yield* converted())) return true
        if (yield* this.#ofSpan(life, span, { direction, seq: Math.min(seq, span.to) }, visit)) return true
      } else {
        if (span.to <= seq) continue
        if (yield* this.#ofSpan(life, span, { direction, seq: Math.max(seq, span.from) }, visit)) return true
        if (yield* converted()) return true
      }
    }
    return false
  }

  /** Visits the entries of the lines in a span, from a place on; returns as {@link #written} does. */
  *#ofSpan(life: Life, span: FieldSpan, { direction, seq }: LinesPlace, visit: Visit): Steps<boolean> {
    const { recordId } = this.#cell
    let from = Math.min(seq, LATEST.seq)
    for (let limit = FIRST_LINES; ; limit = Math.min(limit * MORE_TIMES, MOST_LINES)) {
      const query = { direction, life, recordId, field: span.name, seq: from, limit }
      const { lines, rest } = yield* load(this.#log.lines(query))
      for (const { seq: at, text } of lines) {
        if (at <= span.from || at >= span.to) return false
        const line = yield* load(this.#log.read(text))
        const entry = line === null ? null : this.#named(line, span.name)
        if (entry !== null && visit(entry, text.length)) return true
      }
      if (rest === null || rest <= span.from || rest >= span.to) return false
      from = rest
    }
  }

  /** Returns the entry of a line for the cell under the name that its field had; null for none. */
  #named(line: JsonObject, name: string): JsonObject | null {
    const { field } = this.#cell
    const entry = isKeptColumn(name) ? deletionOfKept(line, name) : entryOfField(line, name)
    return entry === null || name === field.name ? entry : { ...entry, field: field.name }
  }

  /** Visits the entry of the conversion at the end of a span, if it changed the value. */
  *#visitConversion(life: Life, index: number, visit: Visit): Steps<boolean> {
    const span = this.#cell.spans[index]
    if (span?.converted !== true || life === null) return false
    const created = yield* this.#createdAt(life)
    if (created === null || created > span.to) return false
    const { value: previous, computation } = yield* this.#valueAtEnd(life, index)
    const value = yield* this.#valueAtStart(life, index + 1)
    if (sameValue(value, previous)) return false
    const line = yield* load(this.#log.lineAt(span.to))
    const change = line === null ? null : yield* load(this.#log.read(line.text))
    if (change === null) return false
    const { seq = null, at = null, actor = null, source = null } = change
    const { recordId, field } = this.#cell
    const entry = {
      seq,
      at,
      actor,
      source,
      record_id: recordId,
      field: field.name,
      value,
      previous,
      ...computation,
    }
    return visit(entry, 0)
  }

  /** Returns the seq of the line that created a life of the record; null where that is not known. */
  *#createdAt(key: RecordKey): Steps<number | null> {
    const imported = yield* load(this.#log.importLine(key))
    if (imported !== null) return Number(imported['seq'])
    const text = yield* load(this.#log.firstLine(key))
    const first = text === null ? null : yield* load(this.#log.read(text))
    return first === null ? null : Number(first['seq'])
  }

  /** Returns the value of the cell when a span began. */
  *#valueAtStart(key: RecordKey, index: number): Steps<JsonValue> {
    const { spans, field } = this.#cell
    for (const [at, span] of spans.entries()) {
      if (at < index) continue
      let first = undefined as JsonObject | undefined
      yield* this.#ofSpan(key, span, { direction: 'after', seq: span.from }, (entry) => {
        first = entry
        return true
      })
      if (first !== undefined) return first['previous'] ?? null
      if (span.converted) return yield* this.#keptValue(key, span)
    }
    return yield* load(this.#log.currentValue({ key, field }))
  }

  /** Returns the value of the cell when a span ended, and its computation, where it was computed. */
  *#valueAtEnd(
    key: RecordKey,
    index: number,
  ): Steps<{ readonly value: JsonValue; readonly computation: Computation | null }> {
    const { spans } = this.#cell
    for (let at = index; at >= 0; at--) {
      const span = spans[at] as FieldSpan
      if (at < index && span.converted) {
        const { computation } = yield* this.#valueAtEnd(key, at)
        return { value: yield* this.#keptValue(key, spans[index] as FieldSpan), computation }
      }
      let last = undefined as JsonObject | undefined
      yield* this.#ofSpan(key, span, { direction: 'before', seq: span.to }, (entry) => {
        last = entry
        return true
      })
      if (last !== undefined) return { value: last['value'] ?? null, computation: computationOf(last) }
    }
    return { value: yield* this.#keptValue(key, spans[index] as FieldSpan), computation: null }
  }

  /** Returns the value that a record keeps in a column, or had when it was deleted. */
  *#keptValue(key: RecordKey, { column, type }: FieldSpan): Steps<JsonValue> {
    const { recordId, field } = this.#cell
    if (column === null) return null
    const kept = { ...field, name: column, type: type ?? field.type }
    const value = yield* load(this.#log.currentValue({ key, field: kept }))
    if (value !== null) return value
    const query = { life: key, recordId, field: column, ...LATEST, limit: 1 }
    const [last] = (yield* load(this.#log.lines(query))).lines
    const line = last === undefined ? null : yield* load(this.#log.read(last.text))
    const values = line?.['kept']
    return isJsonObject(values) && Object.hasOwn(values, column) ? (values[column] ?? null) : null
  }

  /** Returns the beginning of a life; `later` is its first written entry. */
  *#beginning(key: RecordKey, later: JsonObject | undefined): Steps<Beginning> {
    const imported = yield* load(this.#log.importLine(key))
    if (imported === null) {
      const first = yield* load(this.#log.firstLine(key))
      const created = first === null ? null : yield* load(this.#log.read(first))
      return (previous) => this.#createdEmpty(created, { previous, later })
    }
    const { recordId, field } = this.#cell
    // The value before the first later entry, or the present one.
    const value =
      later === undefined ? yield* load(this.#log.currentValue({ key, field })) : (later['previous'] ?? null)
    // Null makes an entry where the imported log has another value (D34).
    return (previous) =>
      value === null && previous === null
        ? null
        : entryOfImport(imported, { recordId, field: field.name, value, previous })
  }

  /**
   * Returns the entry for a field that the creation of a record left empty: one is needed when the previous life ended
   * without a deletion, in an imported log that has a value for the cell (D34).
   */
  #createdEmpty(
    created: JsonObject | null,
    { previous, later }: { previous: JsonValue; later: JsonObject | undefined },
  ): JsonObject | null {
    if (previous === null || created === null || later?.['seq'] === created['seq']) return null
    const { name } = this.#cell.field
    return entryOfField({ ...created, values: { [name]: null }, previous: { [name]: previous } }, name)
  }
}

/** Returns the entry of a deletion while a field was removed, whose values a column kept; null for any other line. */
function deletionOfKept(line: JsonObject, column: string): JsonObject | null {
  const { kept } = line
  if (!isJsonObject(kept) || !Object.hasOwn(kept, column)) return null
  return entryOfField({ ...line, values: { [column]: null }, previous: kept }, column)
}

/** Returns spans with those between them in which the field was removed, when deletions have its value as kept. */
function withAbsences(spans: readonly FieldSpan[]): readonly FieldSpan[] {
  return spans.flatMap((span, index) => {
    const next = spans[index + 1]
    if (span.removedAs === null || next === undefined) return [span]
    return [span, { ...span, name: span.removedAs, from: span.to, to: next.from, removedAs: null }]
  })
}

type LinesPlace = Pick<LinesQuery, 'direction' | 'seq'>

const LATEST: LinesPlace = { direction: 'before', seq: Number.MAX_SAFE_INTEGER }
const EARLIEST: LinesPlace = { direction: 'after', seq: 0 }
