import type { Field } from '../contract/contract.ts'
import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import { entryOfField, entryOfImport, type StoredLine } from '../provenance/log-line.ts'
import { begun, undoneBy, type Beginning, type PlacedEntry } from './cell-entries.ts'
import type { RecordKey } from './cell-work.ts'

/** A life of a record; null for one that is known from a log of before the store. */
export type Life = RecordKey | null

/** Some lines of a life of a record: before a seq, the latest first, or after one, the earliest first. */
export interface LinesQuery {
  readonly life: Life
  readonly recordId: string
  readonly field: string
  readonly direction: 'before' | 'after'
  readonly seq: number
  readonly limit: number
}

/** A line of the log. */
export interface PlacedLine {
  readonly seq: number
  readonly text: StoredLine
}

/** Lines that were found, hardly any of which says nothing of the field, unless they are of a log of before the store. */
export interface FoundLines {
  readonly lines: readonly PlacedLine[]
  /** The seq from which on there may be more, in the same direction; null when these are all. */
  readonly rest: number | null
}

/** Whose line of the log it is. */
export interface OwnedLine {
  /** Null, as `earlierId` is, for the line of an import. */
  readonly record: RecordKey | null
  /** The record's id in a log of before the store. */
  readonly earlierId: string | null
  readonly text: StoredLine
}

/** A cell of a life of a record. */
export interface CellOfLife {
  readonly key: RecordKey
  readonly field: Field
}

/**
 * What is asked of the log to tell what happened to a cell. Each answer is bounded in lines and bytes, but for one line; all
 * of them are of one state of the store.
 */
export interface LogSource {
  /** Reads a line that it returned; null when it is no line of a provenance log. */
  read(line: StoredLine): Promise<JsonObject | null>
  lines(query: LinesQuery): Promise<FoundLines>
  lineAt(seq: number): Promise<OwnedLine | null>
  /** The text of the line by which a record was created, when it was not imported. */
  firstLine(key: RecordKey): Promise<StoredLine | null>
  /** The line of the import that brought a record; null when it came otherwise. */
  importLine(key: RecordKey): Promise<JsonObject | null>
  /** The value that a cell has now; null for one of a record that is gone. */
  currentValue(cell: CellOfLife): Promise<JsonValue>
}

/** Lines that are read at first: the latest entry and the one before it. Each time after that it is eight times as many. */
const FIRST_LINES = 2
const MORE_TIMES = 8
const MOST_LINES = 512

/** A cell, and what else is known of it. */
export interface LoggedCell {
  readonly recordId: string
  readonly field: Field
  /** The lives of its record, oldest first. */
  readonly lives: readonly Life[]
}

/** A place between the entries of a cell: after the entry `seq` of a life; 0 stands for its start. */
export interface EntryPlace {
  readonly life: Life
  readonly seq: number
}

/** Entries of a cell, the oldest first, and where those after them start; null when there are none. */
export interface FoundEntries {
  readonly entries: readonly JsonObject[]
  readonly next: EntryPlace | null
}

/** At most as many entries as were asked for, and fewer where they are long, but at least one if there is one. */
export interface LatestEntries {
  readonly entries: readonly JsonObject[]
  /** Whether there are more, though fewer than were asked for are here. */
  readonly isCut: boolean
}

/** Characters of lines that the entries of one answer are made of, unless the first alone takes more. */
const ENTRIES_LENGTH = 1 << 20

/** What the log says of one cell, over all lives of its record. Reads little more of it than is asked for. */
export class CellLog {
  readonly #log: LogSource
  readonly #cell: LoggedCell
  /** Characters of the lines of entries that were read from one. */
  readonly #sizes = new WeakMap<JsonObject, number>()

  constructor(log: LogSource, cell: LoggedCell) {
    this.#log = log
    this.#cell = cell
  }

  /** The entries of the cell, the latest first. Whoever has enough ends the iteration. */
  async *back(): AsyncGenerator<JsonObject, void> {
    // Of later lives: what they say is known when an entry of before is found.
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

  /** The latest entries, the newest first: at most `limit`, and fewer where they are long. */
  async latest(limit: number): Promise<LatestEntries> {
    const entries: JsonObject[] = []
    let length = 0
    for await (const entry of this.back()) {
      if (length > ENTRIES_LENGTH) return { entries, isCut: true }
      entries.push(entry)
      // Whether there is an earlier one may take long to find out.
      if (entries.length === limit) break
      length += this.#sizes.get(entry) ?? JSON.stringify(entry).length
    }
    return { entries, isCut: false }
  }

  /** The latest entry by which the cell was computed with an input hash; null when there is none. */
  async computation(inputHash: string): Promise<JsonObject | null> {
    for await (const entry of this.back()) {
      // A revert puts the hash of an earlier computation back, and computes nothing.
      if (entry['input_hash'] === inputHash && entry['source'] !== 'revert') return entry
    }
    return null
  }

  /**
   * The entry with this seq when it is what the cell holds: its latest entry, or the one that the latest stands for,
   * being a revert. A revert stands for the entry before the one that it undid, which may be a revert again. Null for
   * any other seq.
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

  /** The latest entry of the cell before a seq; null when there is none. */
  async latestBefore(seq: number): Promise<JsonObject | null> {
    for await (const entry of this.back()) if (Number(entry['seq']) < seq) return entry
    return null
  }

  /** The entry of the cell with this seq; null when it has none. */
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
    // What the beginning of a life says is not in its line alone.
    for await (const candidate of this.back()) {
      if (Number(candidate['seq']) <= seq) return candidate['seq'] === seq ? candidate : null
    }
    return null
  }

  /**
   * Entries of the cell after a place, the oldest first: at most `limit`, and fewer where they are long. `from` null is the
   * start.
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
    // The life of a cursor that was issued is among those of the record.
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

  /** The entries of one life of the record after a seq, 0 for all, the oldest first; `size` is the length of their line. */
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

  /** The value with which the life before one ended. A deleted record has none: only a log from before the store has. */
  async #valueBefore(index: number): Promise<JsonValue> {
    if (index === 0 || this.#cell.lives[index - 1] !== null) return null
    const last = await firstOf(this.#written(null, LATEST))
    return last?.entry['value'] ?? null
  }

  /** What was written to the cell in one life of its record, before or after a seq, the nearest first. */
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

  /** What a life says by having begun; `later` is the first entry of it that was written. */
  async #beginning(key: RecordKey, later: JsonObject | undefined): Promise<Beginning> {
    const imported = await this.#log.importLine(key)
    if (imported === null) {
      const first = await this.#log.firstLine(key)
      const created = first === null ? null : await this.#log.read(first)
      return (previous) => this.#createdEmpty(created, { previous, later })
    }
    const { recordId, field } = this.#cell
    // The value before the first later entry, or that of today.
    const value =
      later === undefined ? await this.#log.currentValue({ key, field }) : (later['previous'] ?? null)
    // Null is worth an entry when a log from before the import says otherwise (D34).
    return (previous) =>
      value === null && previous === null
        ? null
        : entryOfImport(imported, { recordId, field: field.name, value, previous })
  }

  /**
   * What the creation of a record says of a field that it left empty. Worth an entry when the life before ended without
   * a deletion, with its store, and the log of that time has a value for the cell (D34).
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
