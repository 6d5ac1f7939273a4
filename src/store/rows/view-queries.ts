import type { SavedView, StoredView, ViewState } from '../stored-view.ts'
import type { Query, Statement } from './query.ts'

/** A view with the names of fields that it was saved with. */
export interface ViewRow extends StoredView {
  readonly fieldsSeq: number
}

export const VIEWS: Query<readonly ViewRow[]> = {
  sql: 'SELECT id, name, state, fields_seq, actor, at FROM "$view"',
  params: [],
  result: (rows) =>
    rows.map((row) => ({
      id: String(row['id']),
      name: String(row['name']),
      state: JSON.parse(String(row['state'])) as ViewState,
      fieldsSeq: Number(row['fields_seq']),
      actor: String(row['actor']),
      at: String(row['at']),
    })),
}

/** Inserts a view, or replaces that of the id. */
export function writeView(id: string, { name, state, actor }: SavedView, at: string): Statement {
  return {
    sql: `INSERT INTO "$view" (id, name, state, fields_seq, actor, at)
      VALUES (?1, ?2, ?3, (SELECT coalesce(max(seq), 0) FROM "$field_change"), ?4, ?5)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, state = excluded.state, fields_seq = excluded.fields_seq,
        actor = excluded.actor, at = excluded.at`,
    params: [id, name, JSON.stringify(state), actor, at],
  }
}

export function deleteViewRow(id: string): Statement {
  return { sql: 'DELETE FROM "$view" WHERE id = ?1', params: [id] }
}
