import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { JsonObject } from '../../contract/json/json.ts'

/** A record while the log is replayed. */
export interface ReplayedRecord {
  readonly id: string
  /** The place in the order of creation, from 1; of an imported record whose place is not known a negative number. */
  readonly place: number
  /** The seq of the line that created it. */
  readonly created: number
  /** Whether its first values are those of an imported file that is not at hand. */
  readonly imported: boolean
  /** Values by the keys of their columns; those that are absent are as they were in the beginning. */
  readonly values: JsonObject
}

/** A record as it is stored: with its values as JSON. */
export interface StoredRecord extends Omit<ReplayedRecord, 'values'> {
  readonly text: string
}

type Row = readonly [id: string, place: number, created: number, imported: number, values: string]

const COLUMNS = 'id, place, created, imported, vals'

/**
 * The records of a sheet while its log is replayed, in a file that SQLite deletes: many records take little memory. Those that
 * changed last are in memory, since lines of a record often follow each other.
 */
export class ReplayedRecords {
  readonly #database = new DatabaseSync('')
  readonly #update: StatementSync
  readonly #insert: StatementSync
  readonly #find: StatementSync
  readonly #remove: StatementSync
  readonly #recent = new Map<string, ReplayedRecord>()

  constructor() {
    this.#database.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -65536;
      CREATE TABLE replayed (id TEXT NOT NULL, place INTEGER PRIMARY KEY, created INTEGER NOT NULL, imported INTEGER NOT NULL,
        vals TEXT NOT NULL);
      CREATE UNIQUE INDEX replayed_id ON replayed (id);
      BEGIN
    `)
    const values = '(?, ?, ?, ?, ?)'
    this.#insert = this.#database.prepare(
      `INSERT INTO replayed (${COLUMNS}) VALUES ${values} ON CONFLICT DO NOTHING`,
    )
    this.#update = this.#database.prepare('UPDATE replayed SET vals = ? WHERE place = ?')
    this.#find = this.#database.prepare(`SELECT ${COLUMNS} FROM replayed WHERE id = ?`)
    this.#find.setReturnArrays(true)
    this.#remove = this.#database.prepare('DELETE FROM replayed WHERE id = ?')
  }

  /** Adds a record; returns false where there is one of its id, which stays. */
  add(record: ReplayedRecord): boolean {
    if (this.#recent.has(record.id)) return false
    return this.#insert.run(...rowOf(record)).changes === 1
  }

  get(id: string): ReplayedRecord | null {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent
    const row = this.#find.get(id) as Row | undefined
    return row === undefined ? null : recordOf(storedOf(row))
  }

  /** Replaces a record that was added. */
  set(record: ReplayedRecord): void {
    this.#recent.delete(record.id)
    this.#recent.set(record.id, record)
    if (this.#recent.size > MOST_RECENT) this.#write()
  }

  delete(id: string): void {
    this.#recent.delete(id)
    this.#remove.run(id)
  }

  /** Yields the records whose place in the order of creation is known, in this order. */
  inOrder(): Generator<StoredRecord> {
    return this.#rows('place > 0')
  }

  /** Yields the others. */
  unplaced(): Generator<StoredRecord> {
    return this.#rows('place < 0')
  }

  /** Yields all records. */
  *all(): Generator<ReplayedRecord> {
    for (const record of this.#rows('place <> 0')) yield recordOf(record)
  }

  close(): void {
    this.#database.close()
  }

  *#rows(condition: string): Generator<StoredRecord> {
    this.#write()
    const statement = this.#database.prepare(
      `SELECT ${COLUMNS} FROM replayed WHERE ${condition} ORDER BY place`,
    )
    statement.setReturnArrays(true)
    for (const row of statement.iterate()) yield storedOf(row as unknown as Row)
  }

  #write(): void {
    for (const record of this.#recent.values()) {
      this.#update.run(JSON.stringify(record.values), record.place)
    }
    this.#recent.clear()
  }
}

/** Records whose changes are in memory: few, since each can be as large as a request. */
const MOST_RECENT = 500

function rowOf({ id, place, created, imported, values }: ReplayedRecord): Row {
  return [id, place, created, imported ? 1 : 0, JSON.stringify(values)]
}

function storedOf([id, place, created, imported, text]: Row): StoredRecord {
  return { id, place, created, imported: imported === 1, text }
}

/** Reads the values of a stored record. */
export function recordOf({ text, ...record }: StoredRecord): ReplayedRecord {
  return { ...record, values: JSON.parse(text) as JsonObject }
}
