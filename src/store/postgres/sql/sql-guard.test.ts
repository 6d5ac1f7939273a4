import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Client } from 'pg'
import { createPostgresRecords, type PostgresRecords } from '../../../../test/support/postgres-records.ts'
import { HOSTILE_POSTGRES_STATEMENTS } from '../../../../test/support/hostile-postgres-sql.ts'
import { HOSTILE_STATEMENTS } from '../../../../test/support/hostile-sql.ts'
import { field } from '../../../../test/support/sheet-database.ts'
import { PostgresGrammar } from '../../../../test/support/postgres-grammar.ts'
import { spoiled } from '../../../../test/support/sql-spoiler.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { fuzzRun } from '../../../../test/support/fuzz.ts'
import { ClientConnection } from '../database/connection.ts'
import { checkStatement } from './sql-checks.ts'
import { ALLOWED_FUNCTIONS } from './sql-functions.ts'
import { checkNames } from './sql-guard.ts'

const FIELDS = [
  field('id', 'string'),
  field('n', 'integer'),
  field('price', 'number'),
  field('done', 'boolean'),
  field('title', 'string'),
  field('day', 'date'),
  field('tags', 'array'),
  field('details', 'object'),
  field('verdict', 'string'),
]

const NAMES = new Set(FIELDS.map(({ name }) => name))

const { count, random, again } = fuzzRun({ test: 1000, fuzz: 20_000 })

/** Pieces of statements that PostgreSQL accepts, many of them not allowed for users. */
const PIECES = [
  'pg_sleep(1)', 'pg_class', "current_setting('x')", "set_config('a.b', 'c', true)", 'pg_catalog.', 'records.', '(records).', '::regclass',
  "'pg_class'::", 'regclass', 'version()', 'lower(id)', 'pg_typeof', 'to_json', '.pg_column_size', '.row_to_json', 'xmlelement(name a)',
  "E'\\''", '"pg_sleep"(1)', 'PG_SLEEP (1)', '/* ( */', '-- (\n', 'current_user', 'CURRENT_SCHEMA', '(SELECT oid FROM pg_class LIMIT 1)',
  'LATERAL (SELECT 1) AS l', 'jsonb_array_elements(tags)', "query_to_xml('SELECT 1', true, true, '')", 'count(*)', 'OVER ()', 'pg_backend_pid()',
  'FILTER (WHERE true)', 'COLLATE "C"', "AT TIME ZONE 'UTC'", 'ARRAY[n]', 'ROW(n, id)', 'CAST(n AS text)', 'TABLE pg_authid', ', pg_proc', '"$data"',
  "OPERATOR(pg_catalog.+)", 'IS JSON', 'GROUP BY GROUPING SETS ((id), ())', "JSON_VALUE('1', '$' RETURNING int)", 'generate_series(1, 2) AS g',
  'int4(1)', 'text(n)', 'name(id)', 'has_schema_privilege(id, id)', 'information_schema.tables', 'txid_current()', 'inet_server_port()',
] // prettier-ignore

suite('statements that pass the checks of names', () => {
  let sheet: PostgresRecords
  let client: Client

  before(async () => {
    sheet = await createPostgresRecords(FIELDS)
    client = await sheet.database.dedicated()
    await client.query(
      'CREATE FUNCTION allowed_function_of_the_sheet() RETURNS int LANGUAGE sql AS $$SELECT 1$$',
    )
  })

  after(async () => {
    await client.end()
    await sheet.close()
  })

  /** Whether a statement passes. */
  async function passes(sql: string): Promise<string | null> {
    try {
      const { text, names } = checkStatement(sql, 0, NAMES)
      await checkNames(new ClientConnection(client), names)
      return text
    } catch (error) {
      assert.ok(error instanceof QueryError, String(error))
      return null
    }
  }

  /** Returns a statement after PostgreSQL has resolved its names, as it stores that of a view; null when it refuses it. */
  async function meaning(text: string): Promise<string | null> {
    try {
      await client.query('BEGIN')
      await client.query(`CREATE TEMP VIEW "$meaning" AS SELECT 1 AS one FROM (\n${text}\n) AS "$whole"`)
      const { rows } = await client.query<{ tree: string }>(
        `SELECT ev_action::text AS tree FROM pg_rewrite WHERE ev_class = '"$meaning"'::regclass`,
      )
      return rows[0]?.tree ?? null
    } catch {
      return null
    } finally {
      await client.query('ROLLBACK')
    }
  }

  /** Functions that are called, and tables that are read, by their names. */
  async function namedIn(tree: string): Promise<{ functions: string[]; tables: string[] }> {
    const numbers = (pattern: RegExp): number[] =>
      [...tree.matchAll(pattern)].map((match) => Number(match[1]))
    // Only calls by name: operators and casts are called in other forms.
    const called = [
      ...numbers(/:funcid (\d+) :funcresulttype \d+ :funcretset \w+ :funcvariadic \w+ :funcformat [03]/g),
      ...numbers(/:aggfnoid (\d+)/g),
      ...numbers(/:winfnoid (\d+)/g),
    ]
    const { rows } = await client.query<{ kind: string; name: string }>(
      `SELECT 'function' AS kind, proname AS name FROM pg_proc WHERE oid = ANY ($1)
      UNION SELECT 'table', relname FROM pg_class WHERE oid = ANY ($2)`,
      [called, numbers(/:relid (\d+)/g)],
    )
    const of = (kind: string): string[] => rows.filter((row) => row.kind === kind).map(({ name }) => name)
    return { functions: of('function'), tables: of('table') }
  }

  /** Calls that the grammar makes of allowed words. */
  const BY_GRAMMAR = new Set([
    'pg_catalog', 'date_part', 'btrim', 'like_escape', 'similar_to_escape', 'is_normalized', 'overlaps', 'ts_match_vq', 'timezone',
    'notnull', 'json_agg', 'row_to_json', 'bit', 'interval', 'timestamp', 'time', 'bpchar', 'path', 'char', 'like', 'isnull',
  ]) // prettier-ignore

  async function isSafe(sql: string): Promise<boolean> {
    const text = await passes(sql)
    const tree = text === null ? null : await meaning(text)
    if (tree === null) return false
    const { functions, tables } = await namedIn(tree)
    const shown = JSON.stringify(sql)
    assert.deepEqual(
      tables.filter((name) => name !== 'records' && name !== '$meaning'),
      [],
      shown,
    )
    assert.deepEqual(
      functions.filter((name) => !ALLOWED_FUNCTIONS.has(name) && !BY_GRAMMAR.has(name)),
      [],
      shown,
    )
    const telling = /\{(?:SQLVALUEFUNCTION :op (?:9|1\d)\b|XMLEXPR|ROWMARKCLAUSE)/.exec(tree)
    assert.equal(telling?.[0], undefined, shown)
    return true
  }

  test('D18: the check finds all called and read names, however they are written', async () => {
    const tree = await meaning(
      "SELECT pg_sleep(1), (records).pg_typeof, version() || 'x', (SELECT max(relname) FROM pg_class) FROM records WHERE has_schema_privilege('public', 'usage')",
    )
    const { functions, tables } = await namedIn(tree ?? '')
    assert.deepEqual(functions.toSorted(), [
      'has_schema_privilege',
      'max',
      'pg_sleep',
      'pg_typeof',
      'version',
    ])
    assert.deepEqual(tables.toSorted(), ['pg_class', 'records'])
  })

  test('D18: accepted statements of the hostile corpus use only allowed functions, over records alone', async () => {
    for (const sql of [...HOSTILE_POSTGRES_STATEMENTS, ...HOSTILE_STATEMENTS]) {
      if (sql.length < 10_000) await isSafe(sql)
    }
  })

  test(`D18: so do ${count} random statements`, async (t) => {
    const grammar = new PostgresGrammar(random)
    let understood = 0
    for (let number = 0; number < count; number += 1) {
      const wellFormed = (): string => withPieces(grammar.statement())
      const sql = random.chance(0.3) ? spoiled(random, wellFormed(), wellFormed) : wellFormed()
      if (await isSafe(sql)) understood += 1
    }
    t.diagnostic(`understood ${understood}`)
    assert.ok(understood > count / 20, `${understood}; ${again}`)
  })

  test('D18: an unused name can be that of a table expression, with or without columns', async () => {
    for (const sql of [
      'WITH t(a, b) AS (VALUES (1, 2)) SELECT t.a FROM t',
      'SELECT x.y FROM (SELECT 1 AS y) AS x',
      'SELECT u.i FROM unnest(ARRAY[1]) AS u(i)',
      'SELECT "count"(*) FROM records AS "Überblick"',
      'SELECT t.name FROM (SELECT id AS name FROM records) AS t',
      'SELECT records.n, r."id" FROM records JOIN records AS r USING (n)',
    ]) {
      assert.notEqual(await passes(sql), null, sql)
      assert.notEqual(await meaning(sql), null, sql)
    }
  })

  test('D18: functions that were added to the schema cannot be called', async () => {
    assert.equal(await passes('SELECT allowed_function_of_the_sheet()'), null)
    assert.equal(await passes('SELECT Allowed_Function_Of_The_Sheet /**/ ()'), null)
    assert.notEqual(await passes('SELECT not_there()'), null)
  })

  test('D18: row types of tables other than records cannot be used', async () => {
    await client.query('CREATE TABLE beside (secret int); CREATE TYPE "Made" AS ENUM (\'a\')')
    for (const type of ['beside', '_beside', 'BESIDE[]', 'pg_class', '_pg_class', '"Made"', '"_Made"']) {
      assert.equal(await passes(`SELECT NULL::${type}`), null, type)
    }
    for (const type of [
      'records',
      '_records',
      'records[]',
      'int',
      '_int4',
      'jsonb',
      'text[]',
      'double precision',
      'timestamp with time zone',
      'numeric(10, 2)',
    ]) {
      assert.notEqual(await passes(`SELECT NULL::${type}`), null, type)
    }
    await client.query('DROP TABLE beside; DROP TYPE "Made"')
  })

  test('D18: fields may have names that begin like those of PostgreSQL', async () => {
    const { names } = checkStatement(
      'SELECT pg_rating, pg_class FROM records',
      0,
      new Set(['pg_rating', 'pg_class']),
    )
    assert.deepEqual([...names.tables], ['pg_rating', 'pg_class'])
    await assert.rejects(checkNames(new ClientConnection(client), names), /no such table: pg_class/)
    await checkNames(new ClientConnection(client), { ...names, tables: new Set(['pg_rating']) })
  })
})

/** Puts some of {@link PIECES} where there is a space. */
function withPieces(sql: string): string {
  return sql.replaceAll(' ', () => (random.chance(0.03) ? ` ${random.pick(PIECES)} ` : ' '))
}
