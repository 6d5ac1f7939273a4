import type { StatementSync } from 'node:sqlite'
import type { Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { entryOfField, entryOfImport } from '../../../provenance/log-line.ts'
import { begun, undoneBy, type Beginning, type PlacedEntry } from '../../cell-entries.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { fromColumn } from '../database/values.ts'
import { parsedLineOf } from './stored-line.ts'

/**
 * Lines of a life of a record, the latest first, and of those hardly any that say nothing of the field: the store writes
 * the names of fields as JSON.stringify does. So a long log of other fields costs next to nothing.
 */
const LINES_OF_FIELD =
  'SELECT line FROM "$provenance" WHERE record = ? AND instr(line, ?) > 0 ORDER BY seq DESC'
/** In a log that was there before the store, names may be written otherwise. */
const EARLIER_LINES = 'SELECT line FROM "$provenance" WHERE earlier_id = ? ORDER BY seq DESC'

/** A life of a record; null for one that is known from a log of before the store. */
export type Life = RecordKey | null

/** What the log says of one cell, over all lives of its record. Reads no more of it than is asked for. */
export class CellLog {
  readonly #db: Connection
  readonly #recordId: string
  readonly #field: Field
  /** Oldest first. */
  readonly #lives: readonly Life[]

  constructor(db: Connection, cell: { recordId: string; field: Field; lives: readonly Life[] }) {
    this.#db = db
    this.#recordId = cell.recordId
    this.#field = cell.field
    this.#lives = cell.lives
  }

  /**
   * The entries of the cell, the latest first. Whoever has enough ends the iteration, as `for … of`, `find` and
   * destructuring do: until then, a statement is under way.
   */
  *back(): Generator<JsonObject, void> {
    const statement = this.#db.db.prepare(LINES_OF_FIELD)
    // Of later lives: what they say is known when an entry of before is found.
    const beginnings: Beginning[] = []
    for (const life of this.#lives.toReversed()) {
      let later: JsonObject | undefined
      for (const entry of this.#written(life, statement)) {
        yield* begun(beginnings.splice(0), entry['value'] ?? null)
        yield entry
        later = entry
      }
      if (life === null) continue
      const first = later
      beginnings.push((previous) => this.#beginning(life, { previous, later: first }))
    }
    yield* begun(beginnings, null)
  }

  /**
   * The entry with this seq when it is what the cell holds: its latest entry, or the one that the latest stands for,
   * being a revert. A revert stands for the entry before the one that it undid, which may be a revert again. Null for
   * any other seq.
   */
  inForce(seq: number): PlacedEntry | null {
    let entry: JsonObject | null = null
    let below = Infinity
    for (const earlier of this.back()) {
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
  latestBefore(seq: number): JsonObject | null {
    return this.back().find((entry) => Number(entry['seq']) < seq) ?? null
  }

  /** The entry of the cell with this seq; null when it has none. */
  at(seq: number): JsonObject | null {
    const row = this.#db.get('SELECT record, earlier_id, line FROM "$provenance" WHERE seq = ?', seq)
    if (row === undefined) return null
    const { record, earlier_id: earlierId } = row
    const imported = record === null && earlierId === null
    const ofRecord = record === null ? earlierId === this.#recordId : this.#lives.includes(Number(record))
    if (!imported && !ofRecord) return null
    const line = imported ? null : parsedLineOf(row)
    const entry = line === null ? null : entryOfField(line, this.#field.name)
    if (entry !== null) return entry
    // What the beginning of a life says is not in its line alone.
    const found = this.back().find((candidate) => Number(candidate['seq']) <= seq)
    return found?.['seq'] === seq ? found : null
  }

  /** What was written to the cell in one life of its record, the latest first. */
  *#written(life: Life, statement: StatementSync): Generator<JsonObject, void> {
    const { name } = this.#field
    const rows =
      life === null
        ? this.#db.db.prepare(EARLIER_LINES).iterate(this.#recordId)
        : statement.iterate(life, JSON.stringify(name))
    for (const row of rows) {
      const line = parsedLineOf(row)
      const entry = line === null ? null : entryOfField(line, name)
      if (entry !== null) yield entry
    }
  }

  /** `previous` is the value of the life before, `later` the first entry of this one. */
  #beginning(
    key: RecordKey,
    { previous, later }: { previous: JsonValue; later: JsonObject | undefined },
  ): JsonObject | null {
    const imported = this.#importLine(key)
    if (imported === null) return this.#createdEmpty(key, { previous, later })
    // The value before the first later entry, or that of today.
    const value = later === undefined ? this.#currentValue(key) : (later['previous'] ?? null)
    // Null is worth an entry when a log from before the import says otherwise (D34).
    return value === null && previous === null
      ? null
      : entryOfImport(imported, { recordId: this.#recordId, field: this.#field.name, value, previous })
  }

  /** The line of the import that brought a record, null when it came otherwise. */
  #importLine(key: RecordKey): JsonObject | null {
    const row = this.#db.get(
      'SELECT line FROM "$import" JOIN "$provenance" USING (seq) WHERE first <= ?1 AND last >= ?1',
      key,
    )
    return parsedLineOf(row)
  }

  #currentValue(key: RecordKey): JsonValue {
    const column = quoted(this.#field.name)
    const row = this.#db.get(`SELECT ${column} AS value FROM "$data" WHERE "$seq" = ?`, key)
    return fromColumn(this.#field, row?.['value'])
  }

  /**
   * What the creation of a record says of a field that it left empty. Worth an entry when the life before ended without
   * a deletion, with its store, and the log of that time has a value for the cell (D34).
   */
  #createdEmpty(
    key: RecordKey,
    { previous, later }: { previous: JsonValue; later: JsonObject | undefined },
  ): JsonObject | null {
    if (previous === null) return null
    const row = this.#db.get('SELECT line FROM "$provenance" WHERE record = ? ORDER BY seq LIMIT 1', key)
    const created = parsedLineOf(row)
    if (created === null || later?.['seq'] === created['seq']) return null
    const { name } = this.#field
    return entryOfField({ ...created, values: { [name]: null }, previous: { [name]: previous } }, name)
  }
}
