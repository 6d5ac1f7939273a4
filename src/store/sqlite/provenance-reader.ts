import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { entryOfField, entryOfImport, parseLine } from '../../provenance/log-line.ts'
import type { CellProvenance, RecordKey } from '../sheet-store.ts'
import type { Connection } from './connection.ts'
import { quoted } from './schema.ts'
import { fromColumn } from './values.ts'

interface CellOfLife {
  readonly recordId: string
  readonly field: Field
  /** Null for a life that is known from a log of before the store. */
  readonly key: RecordKey | null
}

/** Works out, from the lines of the log, what happened to one cell. */
export class ProvenanceReader {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /** The entries of a cell, oldest first; just the latest unless `history` (D35). */
  read(recordId: string, field: Field, history: boolean): CellProvenance {
    const entries: JsonObject[] = []
    let known = false
    for (const incarnation of this.#incarnations(recordId)) {
      known = true
      entries.push(...this.#entries({ recordId, field, key: incarnation }, entries.at(-1)))
    }
    if (!known) return { known: false }
    return { known: true, entries: history ? entries : entries.slice(-1) }
  }

  /** The lives of a record: deleted and created again, it has several. Oldest first; null for a log from before. */
  #incarnations(recordId: string): (RecordKey | null)[] {
    const earlier = this.#db.get('SELECT 1 FROM "$provenance" WHERE earlier_id = ? LIMIT 1', recordId)
    const keys = this.#db.all(
      'SELECT record AS key FROM "$deleted" WHERE record_id = ?1 UNION SELECT "$seq" FROM "$data" WHERE id = ?1 ORDER BY 1',
      recordId,
    )
    const lives = keys.map((row) => Number(row['key']))
    return earlier === undefined ? lives : [null, ...lives]
  }

  /** The entries of a cell in one life of its record; `earlier` is the last of the life before. */
  #entries(cell: CellOfLife, earlier: JsonObject | undefined): JsonObject[] {
    const { recordId, field, key } = cell
    const [column, value] = key === null ? ['earlier_id', recordId] : ['record', key]
    const lines = this.#db
      .all(`SELECT line FROM "$provenance" WHERE ${column} = ? ORDER BY seq`, value)
      .map((row) => parseLine(String(row['line'])))
      .filter((line) => line !== null)
    const entries = lines.map((line) => entryOfField(line, field.name)).filter((entry) => entry !== null)
    if (key === null) return entries
    const previous = earlier?.['value'] ?? null
    const imported = this.#importLine(key)
    const beginning =
      imported === null
        ? createdEmpty(field, previous, { created: lines[0], later: entries[0] })
        : this.#importEntry(imported, { recordId, field, key }, { previous, later: entries[0] })
    return beginning === null ? entries : [beginning, ...entries]
  }

  /** The line of the import that brought a record, null when it came otherwise. */
  #importLine(key: RecordKey): JsonObject | null {
    const row = this.#db.get(
      'SELECT line FROM "$import" JOIN "$provenance" USING (seq) WHERE first <= ?1 AND last >= ?1',
      key,
    )
    return row === undefined ? null : parseLine(String(row['line']))
  }

  /**
   * What an import brought to a cell: the value before the first later entry, or that of today. Null is worth an entry
   * when a log from before the import says otherwise (D34).
   */
  #importEntry(
    line: JsonObject,
    cell: CellOfLife & { key: RecordKey },
    { previous, later }: { previous: JsonValue; later: JsonObject | undefined },
  ): JsonObject | null {
    const value = later === undefined ? this.#currentValue(cell) : (later['previous'] ?? null)
    return value === null && previous === null
      ? null
      : entryOfImport(line, { recordId: cell.recordId, field: cell.field.name, value, previous })
  }

  #currentValue({ field, key }: CellOfLife): JsonValue {
    const row = this.#db.get(`SELECT ${quoted(field.name)} AS value FROM "$data" WHERE "$seq" = ?`, key)
    return fromColumn(field, row?.['value'])
  }
}

/**
 * What the creation of a record says of a field that it left empty. Worth an entry when the life before ended without a
 * deletion, with its store, and the log of that time has a value for the cell (D34).
 */
function createdEmpty(
  field: Field,
  previous: JsonValue,
  { created, later }: { created: JsonObject | undefined; later: JsonObject | undefined },
): JsonObject | null {
  if (created === undefined || previous === null || later?.['seq'] === created['seq']) return null
  return entryOfField(
    { ...created, values: { [field.name]: null }, previous: { [field.name]: previous } },
    field.name,
  )
}
