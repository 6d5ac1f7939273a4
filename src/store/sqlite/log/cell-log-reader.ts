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
 * Selects lines of a life of a record, latest first, nearly all of which concern the field: the store writes the names of
 * fields as JSON.stringify does. So a long log of other fields costs next to nothing.
 */
const LINES_OF_FIELD =
  'SELECT line FROM "$provenance" WHERE record = ? AND instr(line, ?) > 0 ORDER BY seq DESC'
/** Selects lines of an imported log, in which names may be escaped otherwise. */
const EARLIER_LINES = 'SELECT line FROM "$provenance" WHERE earlier_id = ? ORDER BY seq DESC'

/** The key of a life of a record; null for a life in an imported log. */
export type Life = RecordKey | null

/** The entries of one cell over all lives of its record. Reads no more of the log than is requested. */
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
   * Yields the entries of the cell, latest first. End the iteration early, as `for … of`, `find` and destructuring do:
   * until then, a statement is open.
   */
  *back(): Generator<JsonObject, void> {
    const statement = this.#db.db.prepare(LINES_OF_FIELD)
    // Beginnings of later lives; their entries are known when an earlier entry is found.
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
   * Returns the entry with this seq if its value is that of the cell: it is the latest entry, or the one that the latest
   * restored by a revert. A revert restores the entry before the one that it undid, which may be a revert again. Returns
   * null for any other seq.
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

  /** Returns the latest entry of the cell before a seq; null for none. */
  latestBefore(seq: number): JsonObject | null {
    return this.back().find((entry) => Number(entry['seq']) < seq) ?? null
  }

  /** Returns the entry of the cell with this seq; null for none. */
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
    // The entry of a beginning does not follow from its line alone.
    const found = this.back().find((candidate) => Number(candidate['seq']) <= seq)
    return found?.['seq'] === seq ? found : null
  }

  /** Yields the written entries of the cell in one life of its record, latest first. */
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

  /**
   * Returns the beginning of a life; `previous` is the value of the life before, `later` the first written entry of this
   * one.
   */
  #beginning(
    key: RecordKey,
    { previous, later }: { previous: JsonValue; later: JsonObject | undefined },
  ): JsonObject | null {
    const imported = this.#importLine(key)
    if (imported === null) return this.#createdEmpty(key, { previous, later })
    // The value before the first later entry, or the present one.
    const value = later === undefined ? this.#currentValue(key) : (later['previous'] ?? null)
    // Null makes an entry where the imported log has another value (D34).
    return value === null && previous === null
      ? null
      : entryOfImport(imported, { recordId: this.#recordId, field: this.#field.name, value, previous })
  }

  /** Returns the line of the import that created a record; null for any other. */
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
   * Returns the entry for a field that the creation of a record left empty: one is needed when the previous life ended
   * without a deletion, in an imported log that has a value for the cell (D34).
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
