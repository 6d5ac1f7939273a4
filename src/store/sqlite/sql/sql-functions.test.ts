import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { ALLOWED_FUNCTIONS } from './sql-functions.ts'

/** The functions that SQL from users may not call, by reason. */
const REFUSED = [
  // Code, the log, the build, the connection.
  'load_extension sqlite_log sqlite_version sqlite_source_id sqlite_compileoption_get sqlite_compileoption_used',
  'changes total_changes last_insert_rowid',
  // Functions that are only meaningful inside full-text, r-tree and geometry tables, or in C.
  'bm25 fts3_tokenizer fts5 fts5_get_locale fts5_insttoken fts5_locale fts5_source_id highlight match matchinfo',
  'offsets optimize snippet rtreecheck rtreedepth rtreenode subtype',
  'geopoly_area geopoly_bbox geopoly_blob geopoly_ccw geopoly_contains_point geopoly_debug geopoly_group_bbox',
  'geopoly_json geopoly_overlap geopoly_regular geopoly_svg geopoly_within geopoly_xform',
]

test('D18: every function of SQLite is listed as allowed or refused', () => {
  const database = new DatabaseSync(':memory:')
  const functions = database.prepare('SELECT DISTINCT name FROM pragma_function_list ORDER BY name').all()
  const known = new Set([...ALLOWED_FUNCTIONS, ...REFUSED.join(' ').split(' ')])
  assert.deepEqual(functions.map(({ name }) => String(name)).toSorted(), [...known].toSorted())
  database.close()
})

test('D18: every allowed function can be called', () => {
  const database = new DatabaseSync(':memory:')
  for (const name of ALLOWED_FUNCTIONS) {
    const { length } = database.prepare('SELECT 1 FROM pragma_function_list WHERE name = ?').all(name)
    assert.ok(length > 0, name)
  }
  database.close()
})
