import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { Database } from '../database/database.ts'
import { parseStoreUrl } from '../database/store-url.ts'
import {
  ALLOWED_FUNCTIONS,
  PLAIN_WORDS,
  REFUSED_TYPES,
  REVEALING_WORDS,
  WORDS_BEFORE_BRACKETS,
} from './sql-functions.ts'

/** Functions that are keywords of the grammar, and not in the catalog. */
const OF_THE_GRAMMAR = [
  'coalesce', 'extract', 'greatest', 'grouping', 'json', 'json_array', 'json_arrayagg', 'json_exists', 'json_objectagg', 'json_query',
  'json_scalar', 'json_serialize', 'json_table', 'json_value', 'jsonb', 'least', 'nullif', 'trim', 'uuidv4',
] // prettier-ignore

/** Functions whose result differs from call to call. */
const VOLATILE = [
  'array_sample', 'array_shuffle', 'clock_timestamp', 'gen_random_uuid', 'random', 'random_normal', 'timeofday', 'uuidv4', 'uuidv7',
] // prettier-ignore

suite('the lists of names that SQL from users may use', () => {
  let database: Database

  before(async () => {
    database = new Database(parseStoreUrl((await startPostgres()).freshUrl()))
  })

  after(() => database.close())

  async function names(sql: string, ...params: readonly (readonly string[])[]): Promise<readonly string[]> {
    return (await database.all(sql, ...params)).map(({ name }) => String(name))
  }

  test('D18: every allowed function exists in PostgreSQL, and neither writes nor reads anything', async () => {
    const known = await names(
      "SELECT DISTINCT proname AS name FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace",
    )
    const unknown = [...ALLOWED_FUNCTIONS].filter((name) => !known.includes(name))
    assert.deepEqual(unknown.toSorted(), OF_THE_GRAMMAR.filter((name) => !known.includes(name)).toSorted())
    const changing = await names(
      "SELECT DISTINCT proname AS name FROM pg_proc WHERE proname = ANY ($1) AND provolatile = 'v' ORDER BY 1",
      [...ALLOWED_FUNCTIONS],
    )
    assert.deepEqual(changing, VOLATILE)
    const dangerous = [...ALLOWED_FUNCTIONS].filter((name) =>
      /^pg_|^lo_|^loread|^lowrite|^txid|^inet|_to_xml|^xml|^ts_(?!rank)|setting|config|^set|role|user|database|schema|reg(class|proc)|sleep|[^cw]lock|notify|file|backend/.test(
        name,
      ),
    )
    assert.deepEqual(dangerous, [])
  })

  test('D18: keywords before a bracket hide no function except casts and figures', async () => {
    const hidden = await names(
      "SELECT DISTINCT proname AS name FROM pg_proc WHERE proname = ANY ($1) AND NOT proname = ANY ($2) AND pronamespace = 'pg_catalog'::regnamespace ORDER BY 1",
      [...WORDS_BEFORE_BRACKETS],
      [...ALLOWED_FUNCTIONS],
    )
    assert.deepEqual(hidden, ['bit', 'char', 'interval', 'like', 'notnull', 'isnull', 'overlaps', 'path', 'time', 'timestamp', 'range'].filter((name) => hidden.includes(name)).toSorted()) // prettier-ignore
    const tables = await names(
      "SELECT relname AS name FROM pg_class WHERE relname = ANY ($1) AND relnamespace = 'pg_catalog'::regnamespace",
      [...PLAIN_WORDS],
    )
    assert.deepEqual(tables, [])
  })

  test('D18: keywords that return users or the database without a bracket are all listed', async () => {
    const telling = await names("SELECT word AS name FROM pg_get_keywords() WHERE catcode IN ('R', 'T') AND word ~ '(user|role|catalog|schema)$'") // prettier-ignore
    for (const word of telling) assert.ok(REVEALING_WORDS.has(word), word)
  })

  test('D18: types that look up texts in the catalog are all refused', async () => {
    const looking = await names(
      "SELECT typname AS name FROM pg_type WHERE typinput::text ~ '^reg' OR typname IN ('xml', 'aclitem')",
    )
    assert.ok(looking.length > 10)
    for (const name of looking) assert.ok(REFUSED_TYPES.has(name) && REFUSED_TYPES.has(`_${name}`), name)
  })
})
