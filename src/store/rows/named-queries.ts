import type { SavedNamed, StoredNamed } from '../named/named-store.ts'
import type { NamedTable } from './named-tables.ts'
import type { Query, Statement } from './query.ts'

/** A view or a chart with the names of fields that it was saved with. */
export interface NamedRow<State> extends StoredNamed<State> {
  readonly fieldsSeq: number
}

/** Reads all rows of a table, whose states are JSON of this type. */
export function namedRows<State>(table: NamedTable): Query<readonly NamedRow<State>[]> {
  return {
    sql: `SELECT id, name, state, fields_seq, actor, at FROM "${table}"`,
    params: [],
    result: (rows) =>
      rows.map((row) => ({
        id: String(row['id']),
        name: String(row['name']),
        state: JSON.parse(String(row['state'])) as State,
        fieldsSeq: Number(row['fields_seq']),
        actor: String(row['actor']),
        at: String(row['at']),
      })),
  }
}

/** Inserts a row, or replaces that of the id. */
export function writeNamed(
  table: NamedTable,
  id: string,
  { name, state, actor }: SavedNamed<unknown>,
  at: string,
): Statement {
  return {
    sql: `INSERT INTO "${table}" (id, name, state, fields_seq, actor, at)
      VALUES (?1, ?2, ?3, (SELECT coalesce(max(seq), 0) FROM "$field_change"), ?4, ?5)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, state = excluded.state, fields_seq = excluded.fields_seq,
        actor = excluded.actor, at = excluded.at`,
    params: [id, name, JSON.stringify(state), actor, at],
  }
}

export function deleteNamedRow(table: NamedTable, id: string): Statement {
  return { sql: `DELETE FROM "${table}" WHERE id = ?1`, params: [id] }
}
