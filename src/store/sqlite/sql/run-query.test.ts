import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createSheetDatabase, field, type SheetDatabase } from '../../../../test/support/sheet-database.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { SqlParam } from '../../sheet-store.ts'
import { runQuery } from './run-query.ts'
import { ResultWriter } from './sql-result.ts'
import { SqlDatabase } from './sql-database.ts'
import { toQueryError } from './sql-errors.ts'

const FIELDS = [
  field('id', 'string'),
  field('n', 'integer'),
  field('price', 'number'),
  field('done', 'boolean'),
  field('tags', 'array'),
  field('order', 'object'),
  field('at', 'timestamp'),
]

suite('a query', () => {
  let sheet: SheetDatabase
  let database: SqlDatabase

  before(() => {
    sheet = createSheetDatabase(FIELDS)
    sheet.insert('a', 1, 180, 1, '["x","y"]', '{"k":[1]}', '2024-01-01T00:00:00Z')
    sheet.insert('b', 2, 0.5, 0, '[]', '{}', null)
    sheet.insert('c', null, null, null, null, null, null)
    database = new SqlDatabase(sheet.path)
  })

  after(() => {
    database.close()
    sheet.remove()
  })

  function text(sql: string, params: readonly SqlParam[] = [], maxRows = 100): string {
    const chunks: string[] = []
    const writer = new ResultWriter((chunk) => chunks.push(Buffer.from(chunk).toString('latin1')))
    try {
      runQuery(database, { sql, params, allFields: FIELDS, maxRows }, writer)
    } catch (error) {
      throw toQueryError(error)
    }
    writer.finish()
    return Buffer.from(chunks.join(''), 'latin1').toString()
  }

  function rows(sql: string, ...params: readonly SqlParam[]): readonly unknown[] {
    const result = JSON.parse(text(sql, params)) as { rows: readonly unknown[]; count: number }
    assert.deepEqual(Object.keys(result), ['rows', 'count'])
    assert.equal(result.count, result.rows.length)
    return result.rows
  }

  function refused(sql: string, words: RegExp, params: readonly SqlParam[] = []): void {
    assert.throws(
      () => text(sql, params),
      (error) => error instanceof QueryError && words.test(error.message),
      sql,
    )
  }

  test("D18: SELECT * gives exactly the contract's fields, in its order and with its types", () => {
    assert.equal(
      text('SELECT * FROM records WHERE n = 1'),
      '{"rows":[{"id":"a","n":1,"price":180,"done":true,"tags":["x","y"],"order":{"k":[1]},"at":"2024-01-01T00:00:00Z"}],"count":1}',
    )
    assert.deepEqual(rows("SELECT * FROM records WHERE id = 'c'"), [
      { id: 'c', n: null, price: null, done: null, tags: null, order: null, at: null },
    ])
    assert.equal(text('SELECT id FROM records WHERE 0'), '{"rows":[],"count":0}')
  })

  test('the columns are named if requested, in their order, with or without rows', () => {
    const named = (sql: string, maxRows = 100): unknown => {
      const chunks: Uint8Array[] = []
      const writer = new ResultWriter((chunk) => chunks.push(Buffer.from(chunk)))
      runQuery(database, { sql, params: [], allFields: FIELDS, maxRows, columns: true }, writer)
      writer.finish()
      return JSON.parse(Buffer.concat(chunks).toString())
    }
    const sql = 'SELECT n AS "2", id AS "1", price FROM records'
    assert.deepEqual(named(`${sql} WHERE 0`), { rows: [], count: 0, columns: ['2', '1', 'price'] })
    assert.deepEqual(named(sql, 1), {
      rows: [{ '2': 1, '1': 'a', price: 180 }],
      count: 1,
      truncated: true,
      columns: ['2', '1', 'price'],
    })
  })

  /** Statements over `records` alone, and their results. */
  const ALLOWED: readonly (readonly [string, readonly unknown[]])[] = [
    ['select id from RECORDS where n = 1', [{ id: 'a' }]],
    ['SELECT id FROM "Records" AS r WHERE r.n = 1', [{ id: 'a' }]],
    ['SELECT r.id FROM main.records AS r WHERE r.n = 1;', [{ id: 'a' }]],
    ['/* first */ -- second\nSELECT id FROM records WHERE n = 1 ; -- last', [{ id: 'a' }]],
    ['\uFEFFSELECT \';\' AS ";" -- ; SELECT 2', [{ ';': ';' }]],
    ['SELECT count(*) AS c FROM records', [{ c: 3 }]],
    ['SELECT count(*) AS c FROM records AS a, records AS b', [{ c: 9 }]],
    ['SELECT (SELECT count(*) FROM records) AS c', [{ c: 3 }]],
    ['WITH t AS (SELECT * FROM records) SELECT id FROM t WHERE n = 2', [{ id: 'b' }]],
    ['WITH t AS MATERIALIZED (SELECT n FROM records) SELECT count(*) AS c FROM t, t AS u', [{ c: 9 }]],
    ['WITH t(x) AS (VALUES (1), (2)) SELECT count(*) AS c FROM t', [{ c: 2 }]],
    [
      'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 5) SELECT sum(x) AS s FROM t',
      [{ s: 15 }],
    ],
    ['WITH records AS (SELECT 7 AS seven) SELECT * FROM records', [{ seven: 7 }]],
    ["SELECT records.id, value FROM records, json_each(tags) WHERE value <> 'x'", [{ id: 'a', value: 'y' }]],
    [
      'SELECT fullkey, atom FROM records, json_tree("order") WHERE atom = 1',
      [{ fullkey: '$.k[0]', atom: 1 }],
    ],
    ["SELECT count(*) AS c FROM json_each('[1,2]')", [{ c: 2 }]],
    ['SELECT id FROM records WHERE EXISTS (SELECT 1 FROM records AS o WHERE o.n > records.n)', [{ id: 'a' }]],
    ['SELECT id FROM records WHERE id IN (SELECT id FROM records WHERE n = 2)', [{ id: 'b' }]],
    [
      'SELECT id FROM records WHERE n = 1 UNION SELECT id FROM records WHERE n = 2',
      [{ id: 'a' }, { id: 'b' }],
    ],
    ['SELECT id, rank() OVER (ORDER BY n DESC) AS r FROM records ORDER BY r LIMIT 1', [{ id: 'b', r: 1 }]],
    ['SELECT done, count(*) AS c FROM records GROUP BY done HAVING done = 1', [{ done: true, c: 1 }]],
    ["SELECT \"order\" ->> '$.k[0]' AS k FROM records WHERE id = 'a'", [{ k: 1 }]],
    [
      "SELECT datetime(0, 'unixepoch') AS t, typeof(random()) AS r",
      [{ t: '1970-01-01 00:00:00', r: 'integer' }],
    ],
    ["SELECT upper('é' || 'e') AS u, round(sqrt(2), 2) AS s, 3 / 2 AS i", [{ u: 'éE', s: 1.41, i: 1 }]],
    ['SELECT 1 AS "__proto__", 2 AS "a""b"', [JSON.parse('{"__proto__":1,"a\\"b":2}')]],
    ['SELECT id AS "$ of the table" FROM records LIMIT 1', [{ '$ of the table': 'a' }]],
  ]

  for (const [sql, expected] of ALLOWED) {
    test(`D18: ${JSON.stringify(sql)} is answered`, () => {
      assert.deepEqual(rows(sql), expected)
    })
  }

  test("D18: a result column that is a field carries the contract's type under any name and through subqueries", () => {
    assert.deepEqual(
      rows('SELECT x.d AS flag, x.tags AS t FROM (SELECT done AS d, tags FROM records) AS x LIMIT 2'),
      [
        { flag: true, t: ['x', 'y'] },
        { flag: false, t: [] },
      ],
    )
    assert.deepEqual(rows('WITH t AS (SELECT done, "order" AS o FROM records) SELECT * FROM t LIMIT 1'), [
      { done: true, o: { k: [1] } },
    ])
  })

  test('D18: a result column that is not a field has the type of SQLite', () => {
    assert.deepEqual(rows("SELECT max(done) AS m, tags || '' AS t, done = 1 AS e FROM records WHERE n = 1"), [
      { m: 1, t: '["x","y"]', e: 1 },
    ])
  })

  test('D18: a value of a compound SELECT that its field cannot hold is written with its own type', () => {
    assert.deepEqual(
      rows(
        "SELECT done, tags FROM records WHERE n = 1 UNION ALL SELECT 5, 'not json' UNION ALL SELECT 'x', 2",
      ),
      [
        { done: true, tags: ['x', 'y'] },
        { done: 5, tags: 'not json' },
        { done: 'x', tags: 2 },
      ],
    )
  })

  test('D18: integers that a JSON number cannot hold are strings, blobs base64, infinity null', () => {
    assert.deepEqual(
      rows(
        "SELECT 9007199254740991 AS a, 9007199254740992 AS b, -9007199254740992 AS c, -9223372036854775807 - 1 AS d, x'00ff10' AS e, x'' AS f, 9e999 AS g, 1e300 AS h",
      ),
      [
        {
          a: 9007199254740991,
          b: '9007199254740992',
          c: '-9007199254740992',
          d: '-9223372036854775808',
          e: 'AP8Q',
          f: '',
          g: null,
          h: 1e300,
        },
      ],
    )
  })

  test('D18: params are bound by position, with their types', () => {
    assert.deepEqual(
      rows(
        'SELECT typeof(?) AS a, typeof(?) AS b, typeof(?) AS c, typeof(?) AS d, typeof(?) AS e, ? AS f, ? AS g',
        null, true, 1, 1.5, 'x', false, Number.MAX_SAFE_INTEGER,
      ), // prettier-ignore
      [{ a: 'null', b: 'integer', c: 'integer', d: 'real', e: 'text', f: 0, g: Number.MAX_SAFE_INTEGER }],
    )
    assert.deepEqual(rows('SELECT id FROM records WHERE done = ? AND n >= ? LIMIT ?', true, 1, 1), [
      { id: 'a' },
    ])
    assert.deepEqual(rows('SELECT ? AS text', "'; DELETE FROM records; -- é 😀"), [
      { text: "'; DELETE FROM records; -- é 😀" },
    ])
  })

  test('D18: a wrong count of params is refused, and both numbers are named', () => {
    refused('SELECT ? AS a, ? AS b', /2.*1/, [1])
    refused('SELECT ? AS a', /1.*2/, [1, 2])
    refused('SELECT 1 AS a', /0.*1/, [null])
    refused('SELECT ? AS a', /1.*0/)
    assert.deepEqual(rows('SELECT \'?\' AS a, "n" AS "?", ? /* ? */ AS b -- ?\nFROM records LIMIT 1', 'x'), [
      { a: '?', '?': 1, b: 'x' },
    ])
  })

  test('D18: placeholders of other kinds are refused', () => {
    for (const placeholder of ['?1', ':a', '@a', '$a', '$a::b(c)', '#1']) {
      refused(`SELECT ${placeholder} AS a`, /positional/, [1])
    }
  })

  test('D18: two result columns of one name are refused, with what to do', () => {
    refused('SELECT id, n AS id FROM records', /"id".* AS/)
    refused('SELECT * FROM records AS a JOIN records AS b', /"id".* AS/)
    assert.deepEqual(rows('SELECT 1 AS a, 2 AS A'), [{ a: 1, A: 2 }])
  })

  test('D18: the message of SQLite describes the error of the statement', () => {
    refused('SELECT foo FROM records', /^no such column: foo$/)
    refused('SELECT id FROM other', /^no such table: other; the only table is "records"$/)
    refused('SELEKT 1', /^only SELECT statements can be run, not SELEKT$/)
    refused('SELECT 1 +', /incomplete input/)
    refused('SELECT id FROM records WHERE', /incomplete input/)
    refused("SELECT json('{')", /malformed JSON/)
    refused(
      'SELECT sum(n) OVER (ORDER BY (SELECT 1 FROM "$cell")) FROM records',
      /^that table cannot be read/,
    )
  })

  test('D18: a table that was added to the database is invisible, and so are its columns', () => {
    for (const name of ['secrets', 'nosuch']) {
      if (name === 'secrets') {
        sheet.writer.exec('CREATE TABLE Secrets (word TEXT); CREATE VIEW peek AS SELECT word FROM Secrets')
      }
      for (const sql of [
        `SELECT count(*) FROM ${name}`,
        `SELECT 1 FROM ${name}`,
        `SELECT word FROM ${name}`,
        `SELECT bogus FROM ${name}`,
        `SELECT id FROM records WHERE EXISTS (SELECT 1 FROM ${name})`,
        `SELECT id FROM records JOIN main.${name.toUpperCase()} ON 1`,
        `SELECT count(*) FROM temp."${name}"`,
      ]) {
        assert.throws(
          () => text(sql),
          (error) =>
            error instanceof QueryError &&
            error.message === `no such table: ${name}; the only table is "records"`,
          sql,
        )
      }
    }
    refused('SELECT count(*) FROM peek', /^no such table: peek; the only table is "records"$/)
    // The columns of the store's own tables are not revealed.
    for (const column of ['hash', 'bogus']) {
      refused(`SELECT ${column} FROM "$cell"`, /^that table cannot be read: the only table is "records"$/)
    }
    assert.deepEqual(rows('WITH t AS (SELECT 1) SELECT count(*) AS c FROM t'), [{ c: 1 }])
    sheet.writer.exec('DROP VIEW peek; DROP TABLE Secrets')
    assert.deepEqual(rows('WITH secrets AS (SELECT 1) SELECT count(*) AS c FROM secrets'), [{ c: 1 }])
  })

  test('D18: a message repeats a bounded part of the statement', () => {
    assert.throws(
      () => text(`SELECT ${'x'.repeat(100_000)} FROM records`),
      (error) => error instanceof QueryError && error.message.length < 600,
    )
    const long = 'x'.repeat(100_000)
    for (const sql of [
      `SELECT 1 AS "${long}", 2 AS "${long}"`,
      `WITH sqlite_${long} AS (SELECT 1) SELECT count(*) FROM sqlite_${long}`,
    ]) {
      assert.throws(
        () => text(sql),
        (error) => error instanceof QueryError && error.message.length < 600,
      )
    }
  })

  test('D18: a list of more values than SQLite compiles is refused for its length', () => {
    assert.throws(
      () => text(`SELECT 1 IN (${'1,'.repeat(200_000)}1) AS a`),
      (error) => error instanceof QueryError && /statement is too long/.test(error.message),
    )
  })

  test('D19: a result is cut at the row limit and marked as truncated, but only if there is more', () => {
    const numbers = 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t'
    assert.equal(text(numbers, [], 2), '{"rows":[{"x":1},{"x":2}],"count":2,"truncated":true}')
    assert.equal(text('SELECT n FROM records', [], 3), '{"rows":[{"n":1},{"n":2},{"n":null}],"count":3}')
    assert.equal(
      text('SELECT n FROM records', [], 2),
      '{"rows":[{"n":1},{"n":2}],"count":2,"truncated":true}',
    )
  })

  test('D19: a result of more than 64 MiB is refused', () => {
    const many = `WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 70)
      SELECT printf('%1000000c', 'x') AS a FROM t`
    refused(many, /larger than 64 MiB: select less/)
  })

  test('a result in many chunks is complete', () => {
    const sql = `WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 3)
      SELECT x, replace(printf('%100000c', 'a'), 'a', 'é😀') || printf('%100000c', 'b') AS text FROM t`
    const answers = rows(sql) as readonly { readonly x: number; readonly text: string }[]
    assert.deepEqual(
      answers.map(({ x }) => x),
      [1, 2, 3],
    )
    assert.ok(answers.every((row) => row.text.trim().startsWith('é😀') && row.text.endsWith('b')))
  })

  test('D3: new fields of another process are not refused, but have the types of SQLite', () => {
    const chunks: string[] = []
    const writer = new ResultWriter((chunk) => chunks.push(Buffer.from(chunk).toString()))
    const sql = "SELECT id, done FROM records WHERE id = 'a'"
    runQuery(database, { sql, params: [], allFields: FIELDS.slice(0, 1), maxRows: 10 }, writer)
    writer.finish()
    assert.equal(chunks.join(''), '{"rows":[{"id":"a","done":1}],"count":1}')
  })

  test('a refused query leaves no state for the next one', () => {
    refused('SELECT * FROM sqlite_master', /sqlite_master/)
    refused("SELECT json('{') FROM records", /malformed JSON/)
    sheet.writer.exec(`UPDATE "$data" SET n = 10 WHERE id = 'a'`)
    assert.deepEqual(rows("SELECT n FROM records WHERE id = 'a'"), [{ n: 10 }])
    sheet.writer.exec(`UPDATE "$data" SET n = 1 WHERE id = 'a'`)
    assert.deepEqual(rows("SELECT n FROM records WHERE id = 'a'"), [{ n: 1 }])
  })
})
