import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createSheetDatabase, field, type SheetDatabase } from '../../../../test/support/sheet-database.ts'
import { SqlDatabase } from './sql-database.ts'
import { ENGINE_LIMITS } from './sql-limits.ts'

suite('the database of a query process', () => {
  let sheet: SheetDatabase
  let database: SqlDatabase

  before(() => {
    sheet = createSheetDatabase([field('id', 'string'), field('n', 'integer')])
    sheet.insert('r1', 1)
    database = new SqlDatabase(sheet.path)
  })

  after(() => {
    database.close()
    sheet.remove()
  })

  /** For each limit a statement that exceeds it, and the message of SQLite. */
  const BITES: Readonly<Record<keyof typeof ENGINE_LIMITS, readonly [string, RegExp]>> = {
    length: [`SELECT length(printf('%.*c', ${ENGINE_LIMITS.length + 1}, 'x'))`, /too big/],
    sqlLength: [`SELECT '${'x'.repeat(ENGINE_LIMITS.sqlLength)}'`, /too big|too long/],
    exprDepth: [`SELECT 1${'+1'.repeat(ENGINE_LIMITS.exprDepth)}`, /maximum depth/],
    compoundSelect: [
      `SELECT 1${' UNION ALL SELECT 1'.repeat(ENGINE_LIMITS.compoundSelect)}`,
      /too many terms/,
    ],
    vdbeOp: [`SELECT ${Array.from({ length: 90 }, () => `(${inList(2000)})`).join('+')}`, /out of memory/],
    attach: ["ATTACH ':memory:' AS other", /too many attached/],
    likePatternLength: [
      `SELECT 'x' LIKE '${'%'.repeat(ENGINE_LIMITS.likePatternLength + 1)}'`,
      /too complex/,
    ],
    triggerDepth: ['', /^/],
  }

  for (const [limit, [sql, words]] of Object.entries(BITES)) {
    // Nothing that a reader can run has triggers.
    if (sql === '') continue
    test(`D19: the engine's limit ${limit} is enforced`, () => {
      assert.throws(() => database.prepare(sql).get(), words)
    })
  }

  test('D19: a value just within the limit on length is returned', () => {
    const row = database
      .prepare(`SELECT length(printf('%.*c', ${ENGINE_LIMITS.length - 1000}, 'x')) AS n`)
      .get()
    assert.equal(row?.['n'], ENGINE_LIMITS.length - 1000)
  })

  const HARM: readonly (readonly [string, RegExp])[] = [
    ['DELETE FROM "$data"', /readonly database/],
    ['CREATE TABLE x (a)', /readonly database/],
    ['PRAGMA user_version = 7', /readonly database/],
    ['PRAGMA query_only = OFF; ', /^$/],
    ['UPDATE "$data" SET n = 2', /readonly database/],
    ['VACUUM', /too many attached/],
    ["SELECT load_extension('x')", /not authorized/],
  ]

  test('D18: even without the guard, nothing can be written or loaded', () => {
    const hash = sheet.hash()
    for (const [sql, words] of HARM) {
      if (words.test('')) database.prepare(sql).all()
      else assert.throws(() => database.prepare(sql).all(), words)
    }
    assert.equal(sheet.hash(), hash)
  })

  test('D18: double quotes never make a string', () => {
    assert.throws(() => database.prepare('SELECT "x"'), /no such column/)
  })

  test('a snapshot sees one state of the database, with the schema of that time', () => {
    const read = () =>
      database.snapshot(() => {
        const first = database.prepare('SELECT * FROM records').get()
        sheet.writer.exec(`UPDATE "$data" SET n = n + 1`)
        const second = database.prepare('SELECT * FROM records').get()
        assert.deepEqual(first, second)
        return { ...second }
      })
    assert.deepEqual(read(), { id: 'r1', n: 1 })
    sheet.writer.exec('ALTER TABLE "$data" ADD COLUMN extra TEXT; DROP VIEW records')
    sheet.writer.exec('CREATE VIEW records AS SELECT id, extra, n FROM "$data"')
    assert.deepEqual(Object.entries(read()), [
      ['id', 'r1'],
      ['extra', null],
      ['n', 2],
    ])
  })
})

/** An expression of many operations but little depth. */
function inList(length: number): string {
  return `random() IN (${Array.from({ length }, () => 'random()').join(',')})`
}
