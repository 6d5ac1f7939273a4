import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { entryOfField, entryOfImport, parseLine } from '../../provenance/log-line.ts'
import { begun, undoneBy, type Beginning, type PlacedEntry } from '../cell-entries.ts'
import type { RecordKey } from '../cell-work.ts'
import type { Life, LogQueries } from './log-queries.ts'
import { canBeId } from './values.ts'

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

/** What there is to read of a cell; null for a record that never existed. */
export async function cellLogOf(
  log: LogQueries,
  { recordId, field }: Omit<LoggedCell, 'lives'>,
): Promise<CellLog | null> {
  const lives = canBeId(recordId) ? await log.lives(recordId) : []
  return lives.length === 0 ? null : new CellLog(log, { recordId, field, lives })
}

/** What the log says of one cell, over all lives of its record. Reads little more of it than is asked for. */
export class CellLog {
  readonly #log: LogQueries
  readonly #cell: LoggedCell

  constructor(log: LogQueries, cell: LoggedCell) {
    this.#log = log
    this.#cell = cell
  }

  /** The entries of the cell, the latest first. Whoever has enough ends the iteration. */
  async *back(): AsyncGenerator<JsonObject, void> {
    // Of later lives: what they say is known when an entry of before is found.
    const beginnings: Beginning[] = []
    for (const life of this.#cell.lives.toReversed()) {
      let later: JsonObject | undefined
      for await (const entry of this.#written(life)) {
        yield* begun(beginnings.splice(0), entry['value'] ?? null)
        yield entry
        later = entry
      }
      if (life !== null) beginnings.push(await this.#beginning(life, later))
    }
    yield* begun(beginnings, null)
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

  /** The entry of the cell with this seq; null when it has none. */
  async at(seq: number): Promise<JsonObject | null> {
    const { recordId, field, lives } = this.#cell
    const line = await this.#log.lineAt(seq)
    if (line === null) return null
    const { record, earlierId, text } = line
    const imported = record === null && earlierId === null
    const ofRecord = record === null ? earlierId === recordId : lives.includes(record)
    if (!imported && !ofRecord) return null
    const parsed = imported ? null : parseLine(text)
    const entry = parsed === null ? null : entryOfField(parsed, field.name)
    if (entry !== null) return entry
    // What the beginning of a life says is not in its line alone.
    for await (const candidate of this.back()) {
      if (Number(candidate['seq']) <= seq) return candidate['seq'] === seq ? candidate : null
    }
    return null
  }

  /** What was written to the cell in one life of its record, the latest first. */
  async *#written(life: Life): AsyncGenerator<JsonObject, void> {
    const { recordId, field } = this.#cell
    let below = Number.MAX_SAFE_INTEGER
    for (let limit = FIRST_LINES; ; limit = Math.min(limit * MORE_TIMES, MOST_LINES)) {
      const lines = await this.#log.linesBack({ life, recordId, field: field.name, below, limit })
      for (const { seq, text } of lines) {
        const line = parseLine(text)
        const entry = line === null ? null : entryOfField(line, field.name)
        if (entry !== null) yield entry
        below = seq
      }
      if (lines.length < limit) return
    }
  }

  /** What a life says by having begun; `later` is the first entry of it that was written. */
  async #beginning(key: RecordKey, later: JsonObject | undefined): Promise<Beginning> {
    const imported = await this.#log.importLine(key)
    if (imported === null) {
      const created = await this.#log.firstLine(key)
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
