import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createPostgresRecords, type PostgresRecords } from '../../../../test/support/postgres-records.ts'
import { field } from '../../../../test/support/sheet-database.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { SqlParam } from '../../sheet-store.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool } from './sql-pool.ts'

const FIELDS = [
  field('id', 'string'),
  field('n', 'integer'),
  field('price', 'number'),
  field('done', 'boolean'),
  field('tags', 'array'),
  field('order', 'object'),
  field('at', 'timestamp'),
  field('day', 'date'),
]

suite('a query', () => {
  let sheet: PostgresRecords
  let pool: SqlPool

  before(async () => {
    sheet = await createPostgresRecords(FIELDS)
    await sheet.insert(
      { id: 'a', n: 1, price: 180, done: true, tags: ['x', 'y'], order: { k: [1] }, at: '2024-01-01T00:00:00Z', day: '2024-02-29' },
      { id: 'b', n: 2, price: 0.5, done: false, tags: [], order: {} },
      { id: 'c' },
    ) // prettier-ignore
    pool = new SqlPool({ database: sheet.database, limits: DEFAULT_QUERY_LIMITS })
  })

  after(async () => {
    await pool.close()
    await sheet.close()
  })

  async function text(sql: string, params: readonly SqlParam[] = [], maxRows?: number): Promise<string> {
    if (maxRows === undefined) return String(await pool.query({ sql, params, allFields: FIELDS }))
    const capped = new SqlPool({ database: sheet.database, limits: { ...DEFAULT_QUERY_LIMITS, maxRows } })
    try {
      return String(await capped.query({ sql, params, allFields: FIELDS }))
    } finally {
      await capped.close()
    }
  }

  async function rows(sql: string, ...params: readonly SqlParam[]): Promise<readonly unknown[]> {
    const result = JSON.parse(await text(sql, params)) as { rows: readonly unknown[]; count: number }
    assert.deepEqual(Object.keys(result), ['rows', 'count'])
    assert.equal(result.count, result.rows.length)
    return result.rows
  }

  async function refused(sql: string, words: RegExp, params: readonly SqlParam[] = []): Promise<void> {
    await assert.rejects(
      text(sql, params),
      (error) => error instanceof QueryError && words.test(error.message),
      sql,
    )
  }

  test("D18: SELECT * gives exactly the contract's fields, in its order and with its types", async () => {
    assert.deepEqual(JSON.parse(await text('SELECT * FROM records WHERE n = 1')), {
      rows: [
        { id: 'a', n: 1, price: 180, done: true, tags: ['x', 'y'], order: { k: [1] }, at: '2024-01-01T00:00:00Z', day: '2024-02-29' },
      ],
      count: 1,
    }) // prettier-ignore
    assert.deepEqual(await rows("SELECT * FROM records WHERE id = 'c'"), [
      { id: 'c', n: null, price: null, done: null, tags: null, order: null, at: null, day: null },
    ])
    assert.equal(await text('SELECT id FROM records WHERE false'), '{"rows":[],"count":0}')
  })

  test('the columns are named if requested, in their order, with or without rows', async () => {
    const sql = 'SELECT n AS "2", id AS "1" FROM records WHERE false'
    const answer = await pool.query({ sql, params: [], allFields: FIELDS, columns: true })
    assert.equal(String(answer), '{"rows":[],"count":0,"columns":["2","1"]}')
  })

  /** Statements over `records` alone, and their results. */
  const ALLOWED: readonly (readonly [string, readonly unknown[]])[] = [
    ['select id from RECORDS where n = 1', [{ id: 'a' }]],
    ['SELECT r.id FROM "records" AS r WHERE r.n = 1;', [{ id: 'a' }]],
    ['/* first /* within */ */ -- second\rSELECT id FROM records WHERE n = 1 ; -- last', [{ id: 'a' }]],
    ['SELECT \';\' AS ";" -- ; SELECT 2', [{ ';': ';' }]],
    ["SELECT E'a\\'; b' AS t, 'it''s' AS s", [{ t: "a'; b", s: "it's" }]],
    ['SELECT count(*) AS c FROM records AS a, records AS b', [{ c: 9 }]],
    ['SELECT (SELECT count(*) FROM records) AS c', [{ c: 3 }]],
    ['WITH t AS MATERIALIZED (SELECT n FROM records) SELECT count(*) AS c FROM t, t AS u', [{ c: 9 }]],
    ['WITH t(x) AS (VALUES (1), (2)) SELECT count(*) AS c FROM t', [{ c: 2 }]],
    ['WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 5) SELECT sum(x) AS s FROM t', [{ s: 15 }]],
    ['WITH records AS (SELECT 7 AS seven) SELECT * FROM records', [{ seven: 7 }]],
    ["SELECT r.id, value FROM records AS r, jsonb_array_elements_text(tags) AS t(value) WHERE value <> 'x'", [{ id: 'a', value: 'y' }]],
    ['SELECT key, value FROM records, jsonb_each("order")', [{ key: 'k', value: [1] }]],
    ['SELECT id FROM records WHERE EXISTS (SELECT 1 FROM records AS o WHERE o.n > records.n)', [{ id: 'a' }]],
    ['SELECT id FROM records WHERE n = 1 UNION SELECT id FROM records WHERE n = 2 ORDER BY id', [{ id: 'a' }, { id: 'b' }]],
    ['SELECT id, rank() OVER (ORDER BY n DESC NULLS LAST) AS r FROM records ORDER BY r LIMIT 1', [{ id: 'b', r: 1 }]],
    ['SELECT done, count(*) AS c FROM records GROUP BY done HAVING done', [{ done: true, c: 1 }]],
    ["SELECT \"order\" #>> '{k,0}' AS k FROM records WHERE id = 'a'", [{ k: '1' }]],
    ["SELECT jsonb_path_query_first(\"order\", '$.k[*] ? (@ > 0)') AS k FROM records WHERE id = 'a'", [{ k: 1 }]],
    ["SELECT upper('é' || 'e') AS u, round(sqrt(2)::numeric, 2) AS s, 3 / 2 AS i, 3 / 2.0 AS d", [{ u: 'ÉE', s: 1.41, i: 1, d: 1.5 }]],
    ['SELECT 1 AS "__proto__", 2 AS "a""b"', [JSON.parse('{"__proto__":1,"a\\"b":2}')]],
    ['SELECT id AS "$ of the table" FROM records LIMIT 1', [{ '$ of the table': 'a' }]],
    ['SELECT id FROM records ORDER BY id DESC FETCH FIRST 1 ROW ONLY', [{ id: 'c' }]],
    ['SELECT DISTINCT ON (done) id FROM records ORDER BY done, id', [{ id: 'b' }, { id: 'a' }, { id: 'c' }]],
    ["SELECT date_trunc('month', day)::date AS m, extract(year FROM day) AS y, day + 1 AS next FROM records WHERE id = 'a'", [{ m: '2024-02-01', y: 2024, next: '2024-03-01' }]],
    ['SELECT t.x FROM generate_series(1, 3) AS t(x) WHERE t.x > 2', [{ x: 3 }]],
    ["SELECT t.x FROM json_table('[1,2]', '$[*]' COLUMNS (x int PATH '$')) AS t WHERE x = 2", [{ x: 2 }]],
    ['SELECT GROUPING(done) AS g, count(*) AS c FROM records GROUP BY GROUPING SETS ((), (done)) ORDER BY 1, 2', [{ g: 0, c: 1 }, { g: 0, c: 1 }, { g: 0, c: 1 }, { g: 1, c: 3 }]],
  ] // prettier-ignore

  for (const [sql, expected] of ALLOWED) {
    test(`D18: ${JSON.stringify(sql)} is answered`, async () => {
      assert.deepEqual(await rows(sql), expected)
    })
  }

  test('D18: values of every type are JSON where it has the type, and text otherwise', async () => {
    assert.deepEqual(
      await rows(`SELECT 9007199254740991 AS a, 9007199254740992 AS b, -9007199254740992 AS c, '\\x00ff10'::bytea AS d, ''::bytea AS e,
        'Infinity'::float8 AS f, 'NaN'::numeric AS g, 1e300::float8 AS h, 123456789012345678901::numeric AS i, 1.50 AS j, true AS k,
        NULL AS l, '{"b":1,"a":[2]}'::json AS m, 'null'::jsonb AS n, interval '1 day 02:00' AS o, time '10:00' AS p,
        timestamp '2024-01-02 03:04:05.678' AS q, timestamptz '2024-01-02 03:04:05+02' AS r, 'infinity'::timestamptz AS s,
        date '2024-01-02' AS t, ROW(1, 'x') AS u, B'101' AS v, 0.1::float4 AS w`),
      [
        {
          a: 9007199254740991, b: '9007199254740992', c: '-9007199254740992', d: 'AP8Q', e: '', f: null, g: null, h: 1e300,
          i: '123456789012345678901', j: 1.5, k: true, l: null, m: { b: 1, a: [2] }, n: null, o: 'P1DT2H', p: '10:00:00',
          q: '2024-01-02T03:04:05.678', r: '2024-01-02T01:04:05Z', s: 'infinity', t: '2024-01-02', u: '(1,x)', v: '101', w: 0.1,
        },
      ],
    ) // prettier-ignore
  })

  test('D18: a number that is a field stays a number, however large', async () => {
    await sheet.insert({ id: 'large', price: 1e300 })
    assert.deepEqual(await rows("SELECT price, price + 0 AS sum FROM records WHERE id = 'large'"), [
      { price: 1e300, sum: `1${'0'.repeat(300)}` },
    ])
    await sheet.database.run(`DELETE FROM "$data" WHERE id = 'large'`)
  })

  test('D18: arrays of PostgreSQL are arrays, with their items converted like other values', async () => {
    assert.deepEqual(
      await rows(
        `SELECT ARRAY['a', NULL, 'NULL', 'b,"c}\\', ''] AS a, ARRAY[[1, 2], [3, 4]] AS b, '{}'::int[] AS c, ARRAY[true] AS d,
          ARRAY[9007199254740993] AS e, ARRAY[1.5] AS f, ARRAY['{"k":[1]}'::jsonb] AS g, '[5:6]={7,8}'::int[] AS h,
          ARRAY['\\x00'::bytea] AS i, ARRAY[timestamptz '2024-01-01 00:00+00'] AS j, array_agg(id ORDER BY id) AS k FROM records`,
      ),
      [
        {
          a: ['a', null, 'NULL', 'b,"c}\\', ''], b: [[1, 2], [3, 4]], c: [], d: [true], e: ['9007199254740993'], f: [1.5], g: [{ k: [1] }],
          h: [7, 8], i: ['AA=='], j: ['2024-01-01T00:00:00Z'], k: ['a', 'b', 'c'],
        },
      ],
    ) // prettier-ignore
  })

  test('D18: params are bound by position, a number with the type that it would have in the statement', async () => {
    assert.deepEqual(
      await rows(
        'SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, ?/2 AS f, ? AS g',
        null, true, 1, 1.5, 'x', 3, Number.MAX_SAFE_INTEGER,
      ), // prettier-ignore
      [{ a: null, b: true, c: 1, d: 1.5, e: 'x', f: 1, g: Number.MAX_SAFE_INTEGER }],
    )
    assert.deepEqual(await rows('SELECT id FROM records WHERE done=? AND n>=? AND day > ? LIMIT ?', true, 1, '2024-01-01', 1), [
      { id: 'a' },
    ]) // prettier-ignore
    assert.deepEqual(await rows('SELECT tags ->> ? AS t, substr(id, ?) AS s FROM records WHERE id = ?', 1, 1, 'a'), [
      { t: 'y', s: 'a' },
    ]) // prettier-ignore
    const hostile = "'; DELETE FROM records; -- é 😀 $1 \\"
    assert.deepEqual(await rows('SELECT ? AS text', hostile), [{ text: hostile }])
    assert.deepEqual(await rows("SELECT '?' AS a, id AS \"?\", ? /* ? */ AS b -- ?\nFROM records LIMIT 1", 'x'), [
      { a: '?', '?': 'a', b: 'x' },
    ]) // prettier-ignore
    const many = Array.from({ length: 12 }, (_, index) => index)
    assert.deepEqual(await rows(`SELECT ${many.map((n) => `? AS a${n}`).join(',')}`, ...many), [
      Object.fromEntries(many.map((n) => [`a${n}`, n])),
    ])
  })

  test('D18: a wrong count of params is refused, and both numbers are named', async () => {
    await refused('SELECT ? AS a, ? AS b', /2.*1/, [1])
    await refused('SELECT ? AS a', /1.*2/, [1, 2])
    await refused('SELECT 1 AS a', /0.*1/, [null])
    await refused('SELECT ? AS a', /a NUL character/, ['\0'])
  })

  test('D18: placeholders of other kinds are refused', async () => {
    for (const placeholder of ['?1', '$1', '$a', '$$a$$'])
      await refused(`SELECT ${placeholder} AS a`, /positional/, [1])
  })

  test('D18: two result columns of one name are refused, with what to do', async () => {
    await refused('SELECT id, n AS id FROM records', /"id".* AS/)
    await refused('SELECT * FROM records AS a, records AS b', /"id".* AS/)
    assert.deepEqual(await rows('SELECT 1 AS a, 2 AS "A"'), [{ a: 1, A: 2 }])
  })

  test('D18: the message of PostgreSQL describes the error of the statement', async () => {
    await refused('SELECT foo FROM records', /^column "foo" does not exist$/)
    await refused('SELECT id FROM other', /^no such table: other; the only table is "records"$/)
    await refused('SELEKT 1', /^only SELECT statements can be run, not SELEKT$/)
    await refused('SELECT 1 +', /syntax error at end of input/)
    await refused("SELECT '{'::json", /invalid input syntax for type json/)
    await refused('SELECT 1 / 0', /division by zero/)
    await refused('SELECT n / 0 FROM records', /division by zero/)
    await refused('SELECT (SELECT id FROM records)', /more than one row/)
    await refused('SELECT user FROM records', /"user"/)
    await refused('SELECT nowhere.f(1)', /schema "nowhere" does not exist/)
    await refused('SELECT nowhere.nothing.nobody.f(1)', /improper qualified name/)
    await refused('SELECT NULL::nothing', /type "nothing" does not exist/)
    await refused("SELECT jsonb_array_length('1')", /non-array|scalar/)
    await refused('SELECT * FROM records FOR UPDATE', /cannot lock/)
    await refused(`SELECT ${'x'.repeat(64)} FROM records`, /longer than 63 bytes/)
    await refused(`SELECT 1 ${'+ 1'.repeat(100_000)}`, /more than 100000/)
  })

  test('D18: a table that was added to the schema is invisible, and so are its columns', async () => {
    for (const name of ['secrets', 'nosuch']) {
      if (name === 'secrets') {
        await sheet.database.exec('CREATE TABLE secrets (word text); GRANT SELECT ON secrets TO PUBLIC')
      }
      for (const sql of [
        `SELECT count(*) FROM ${name}`,
        `SELECT word FROM ${name}`,
        `SELECT bogus FROM ${name}`,
        `SELECT id FROM records WHERE EXISTS (SELECT 1 FROM ${name})`,
        `SELECT id FROM records JOIN ${name.toUpperCase()} ON true`,
      ]) {
        await assert.rejects(
          text(sql),
          { message: `no such table: ${name}; the only table is "records"` },
          sql,
        )
      }
    }
    for (const column of ['hash', 'bogus']) await refused(`SELECT ${column} FROM "$cell"`, /reserved/)
    await sheet.database.exec('DROP TABLE secrets')
    assert.deepEqual(await rows('WITH secrets AS (SELECT 1) SELECT count(*) AS c FROM secrets'), [{ c: 1 }])
  })

  test('D18: a message repeats a bounded part of the statement, and no path of the sheet', async () => {
    for (const sql of [
      `SELECT 1 AS "a", 2 AS "a" FROM ${'x'.repeat(63)}`,
      `SELECT '${'x'.repeat(100_000)}'::int`,
      `SELECT ${'y'.repeat(60)} FROM ${Array.from({ length: 60 }, (_, index) => `records AS ${'z'.repeat(50)}${index}`).join()}`,
    ]) {
      await assert.rejects(
        text(sql),
        (error) => error instanceof QueryError && error.message.length < 600,
        sql,
      )
    }
    const { schema } = sheet.database.location
    await assert.rejects(
      text('SELECT records.bogus(1) FROM records'),
      (error) => !String(error).includes(schema),
    )
  })

  test('D19: a result is cut at the row limit and marked as truncated, but only if there is more', async () => {
    const numbers = 'SELECT x FROM generate_series(1, 1000000) AS t(x)'
    assert.equal(await text(numbers, [], 2), '{"rows":[{"x":1},{"x":2}],"count":2,"truncated":true}')
    const sql = 'SELECT n FROM records ORDER BY n'
    assert.equal(await text(sql, [], 3), '{"rows":[{"n":1},{"n":2},{"n":null}],"count":3}')
    assert.equal(await text(sql, [], 2), '{"rows":[{"n":1},{"n":2}],"count":2,"truncated":true}')
  })

  test('D17: a query sees preceding writes, and a new field', async () => {
    await sheet.database.run(`UPDATE "$data" SET n = 10 WHERE id = 'a'`)
    assert.deepEqual(await rows("SELECT n FROM records WHERE id = 'a'"), [{ n: 10 }])
    await sheet.database.run(`UPDATE "$data" SET n = 1 WHERE id = 'a'`)
    assert.deepEqual(await rows("SELECT n FROM records WHERE id = 'a'"), [{ n: 1 }])
  })
})
