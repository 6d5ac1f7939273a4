import type { Field } from '../contract/contract.ts'
import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import { entryOfField, entryOfImport, type StoredLine } from '../provenance/log-line.ts'
import { begun, undoneBy, type Beginning, type PlacedEntry } from './cell-entries.ts'
import type { RecordKey } from './cell-work.ts'

/** The key of a life of a record; null for a life in an imported log. */
export type Life = RecordKey | null

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
  read(line: StoredLine): Promise<JsonObject | null>
  lines(query: LinesQuery): Promise<FoundLines>
  lineAt(seq: number): Promise<OwnedLine | null>
  /** Returns the text of the line by which a record was created; null for an imported one. */
  firstLine(key: RecordKey): Promise<StoredLine | null>
  /** Returns the line of the import that created a record; null for any other. */
  importLine(key: RecordKey): Promise<JsonObject | null>
  /** Returns the present value of a cell; null for a deleted record. */
  currentValue(cell: CellOfLife): Promise<JsonValue>
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
  /** Oldest first. */
  readonly lives: readonly Life[]
}

/** A place between the entries of a cell: after the entry `seq` of a life; 0 is its start. */
export interface EntryPlace {
  readonly life: Life
  readonly seq: number
}

/** Entries of a cell, oldest first, and the place after them; null for none. */
export interface FoundEntries {
  readonly entries: readonly JsonObject[]
  readonly next: EntryPlace | null
}

/** At most the requested number of entries, fewer where they are long, but at least one if there is one. */
export interface LatestEntries {
  readonly entries: readonly JsonObject[]
  /** Whether there are more although fewer than requested are returned. */
  readonly isCut: boolean
}

/** The most characters of lines from which the entries of one response are made, unless the first alone has more. */
const ENTRIES_LENGTH = 1 << 20

/** The entries of one cell over all lives of its record. Reads little more of the log than is requested. */
export class CellLog {
  readonly #log: LogSource
  readonly #cell: LoggedCell
  /** The number of characters of the line of an entry, where it is the only one of its line. */
  readonly #sizes = new WeakMap<JsonObject, number>()

  constructor(log: LogSource, cell: LoggedCell) {
    this.#log = log
    this.#cell = cell
  }

  /** Yields the entries of the cell, latest first. */
  async *back(): AsyncGenerator<JsonObject, void> {
    // Beginnings of later lives; their entries are known when an earlier entry is found.
    const beginnings: Beginning[] = []
    for (const life of this.#cell.lives.toReversed()) {
      let later: JsonObject | undefined
      for await (const { entry } of this.#written(life, LATEST)) {
        yield* begun(beginnings.splice(0), entry['value'] ?? null)
        yield entry
        later = entry
      }
      if (life !== null) beginnings.push(await this.#beginning(life, later))
    }
    yield* begun(beginnings, null)
  }

  /** Returns the latest entries, newest first: at most `limit`, and fewer where they are long. */
  async latest(limit: number): Promise<LatestEntries> {
    const entries: JsonObject[] = []
    let length = 0
    for await (const entry of this.back()) {
      if (length > ENTRIES_LENGTH) return { entries, isCut: true }
      entries.push(entry)
      // Finding out whether there is an earlier one may take long.
      if (entries.length === limit) break
      length += this.#sizes.get(entry) ?? JSON.stringify(entry).length
    }
    return { entries, isCut: false }
  }

  /** Returns the latest entry by which the cell was computed with an input hash; null for none. */
  async computation(inputHash: string): Promise<JsonObject | null> {
    for await (const entry of this.back()) {
      // A revert restores the hash of an earlier computation, and computes nothing.
      if (entry['input_hash'] === inputHash && entry['source'] !== 'revert') return entry
    }
    return null
  }

  /**
   * Returns the entry with this seq if its value is that of the cell: it is the latest entry, or the one that the latest
   * restored by a revert. A revert restores the entry before the one that it undid, which may be a revert again. Returns
   * null for any other seq.
   */
  async inForce(seq: number): Promise<PlacedEntry | null> {
    let entry: JsonObject | null = null
    let below = Infinity
    for await (const earlier of this.back()) {
      if (entry !== null) return { entry, before: earlier }
      const at = Number(earlier['seq'])
      if (at >= below) continue
      const undone = undoneBy(earlier)
      if (at === seq && (below === Infinity || undone === null)) entry = earlier
      else if (undone === null) return null
      else below = undone
    }
    return entry === null ? null : { entry, before: null }
  }

  /** Returns the latest entry of the cell before a seq; null for none. */
  async latestBefore(seq: number): Promise<JsonObject | null> {
    for await (const entry of this.back()) if (Number(entry['seq']) < seq) return entry
    return null
  }

  /** Returns the entry of the cell with this seq; null for none. */
  async at(seq: number): Promise<JsonObject | null> {
    const { recordId, field, lives } = this.#cell
    const line = await this.#log.lineAt(seq)
    if (line === null) return null
    const { record, earlierId, text } = line
    const imported = record === null && earlierId === null
    const ofRecord = record === null ? earlierId === recordId : lives.includes(record)
    if (!imported && !ofRecord) return null
    const parsed = imported ? null : await this.#log.read(text)
    const entry = parsed === null ? null : entryOfField(parsed, field.name)
    if (entry !== null) return entry
    // The entry of a beginning does not follow from its line alone.
    for await (const candidate of this.back()) {
      if (Number(candidate['seq']) <= seq) return candidate['seq'] === seq ? candidate : null
    }
    return null
  }

  /**
   * Returns entries of the cell after a place, oldest first: at most `limit`, and fewer where they are long. `from` null is
   * the start.
   */
  async page({
    from,
    limit,
  }: {
    readonly from: EntryPlace | null
    readonly limit: number
  }): Promise<FoundEntries> {
    const { lives } = this.#cell
    const found: { readonly entry: JsonObject; readonly life: Life }[] = []
    let length = 0
    const start = from === null ? 0 : lives.indexOf(from.life)
    // The life of a valid cursor is among those of the record.
    for (const [index, life] of lives.entries()) {
      if (index < start) continue
      for await (const { entry, size } of this.#forward(index, index === start ? (from?.seq ?? 0) : 0)) {
        length += size
        if (found.length === limit || (found.length > 0 && length > ENTRIES_LENGTH))
          return pageOf(found, true)
        found.push({ entry, life })
      }
    }
    return pageOf(found, false)
  }

  /**
   * Yields the entries of one life of the record after a seq, 0 for all, oldest first; `size` is the length of their line.
   */
  async *#forward(
    index: number,
    after: number,
  ): AsyncGenerator<{ readonly entry: JsonObject; readonly size: number }> {
    const life = this.#cell.lives[index] ?? null
    if (life !== null && after === 0) {
      const first = await firstOf(this.#written(life, { direction: 'after', seq: 0 }))
      const beginning = (await this.#beginning(life, first?.entry))(await this.#valueBefore(index))
      if (beginning !== null) yield { entry: beginning, size: 0 }
    }
    yield* this.#written(life, { direction: 'after', seq: after })
  }

  /** Returns the last value of the life before. Only an imported log has such a life without a deletion; otherwise null. */
  async #valueBefore(index: number): Promise<JsonValue> {
    if (index === 0 || this.#cell.lives[index - 1] !== null) return null
    const last = await firstOf(this.#written(null, LATEST))
    return last?.entry['value'] ?? null
  }

  /** Yields the written entries of the cell in one life of its record, before or after a seq, nearest first. */
  async *#written(
    life: Life,
    place: Pick<LinesQuery, 'direction' | 'seq'>,
  ): AsyncGenerator<{ readonly entry: JsonObject; readonly size: number }> {
    const { recordId, field } = this.#cell
    let { seq } = place
    for (let limit = FIRST_LINES; ; limit = Math.min(limit * MORE_TIMES, MOST_LINES)) {
      const { lines, rest } = await this.#log.lines({
        ...place,
        life,
        recordId,
        field: field.name,
        seq,
        limit,
      })
      for (const { text } of lines) {
        const line = await this.#log.read(text)
        const entry = line === null ? null : entryOfField(line, field.name)
        if (entry === null) continue
        this.#sizes.set(entry, text.length)
        yield { entry, size: text.length }
      }
      if (rest === null) return
      seq = rest
    }
  }

  /** Returns the beginning of a life; `later` is its first written entry. */
  async #beginning(key: RecordKey, later: JsonObject | undefined): Promise<Beginning> {
    const imported = await this.#log.importLine(key)
    if (imported === null) {
      const first = await this.#log.firstLine(key)
      const created = first === null ? null : await this.#log.read(first)
      return (previous) => this.#createdEmpty(created, { previous, later })
    }
    const { recordId, field } = this.#cell
    // The value before the first later entry, or the present one.
    const value =
      later === undefined ? await this.#log.currentValue({ key, field }) : (later['previous'] ?? null)
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

const LATEST = { direction: 'before', seq: Number.MAX_SAFE_INTEGER } as const

function pageOf(
  found: readonly { readonly entry: JsonObject; readonly life: Life }[],
  hasMore: boolean,
): FoundEntries {
  const last = found.at(-1)
  return {
    entries: found.map(({ entry }) => entry),
    next: hasMore && last !== undefined ? { life: last.life, seq: Number(last.entry['seq']) } : null,
  }
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item
  return undefined
}
