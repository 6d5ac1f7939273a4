import assert from 'node:assert/strict'
import { enableCompileCache } from 'node:module'
import { after, before, suite, test } from 'node:test'
import { HOSTILE_FILTERS, HOSTILE_STATEMENTS } from '../../../../test/support/hostile-sql.ts'
import { createSheetDatabase, field, type SheetDatabase } from '../../../../test/support/sheet-database.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool } from './sql-pool.ts'

enableCompileCache()

/** Names of the store's internals and of the machine, and patterns of a stack trace. */
const SECRET =
  /\$(?:data|seq|version|sheet|target|cell|todo|failure|cache|provenance|import|unique)|sheet\.db|colophon-sql|\/tmp|\/src\/|\.ts\b|node:|\n\s+at /i

suite('hostile SQL', () => {
  let sheet: SheetDatabase
  let pool: SqlPool
  let hash: string

  before(() => {
    sheet = createSheetDatabase([field('id', 'string'), field('n', 'integer')])
    for (let n = 1; n <= 10; n += 1) sheet.insert(`r${n}`, n)
    pool = new SqlPool({ path: sheet.path, limits: { ...DEFAULT_QUERY_LIMITS, timeoutMs: 30_000 } })
    hash = sheet.hash()
  })

  after(async () => {
    await pool.close()
    sheet.remove()
  })

  async function refuses(promise: Promise<unknown>): Promise<void> {
    await assert.rejects(promise, (error) => {
      assert.ok(error instanceof QueryError, String(error))
      assert.doesNotMatch(error.message, SECRET)
      assert.notEqual(error.message, '')
      return true
    })
    assert.equal(sheet.hash(), hash)
  }

  test('the corpus has at least its documented size', () => {
    assert.ok(new Set(HOSTILE_STATEMENTS).size >= 500)
    assert.ok(new Set(HOSTILE_FILTERS).size >= 300)
  })

  for (const sql of new Set(HOSTILE_STATEMENTS)) {
    test(`D18: the statement ${shown(sql)} is refused`, () =>
      refuses(pool.query({ sql, params: [], allFields: sheet.fields })))
  }

  for (const filter of new Set(HOSTILE_FILTERS)) {
    test(`D16: the filter ${shown(filter)} is refused`, () =>
      refuses(
        pool.page({
          filter,
          fields: sheet.fields,
          allFields: sheet.fields,
          limit: 3,
          after: { key: 5, values: [] },
          sort: [],
          skip: 0,
        }),
      ))
  }

  test('D18: afterwards the sheet is unchanged, and queries work', async () => {
    assert.equal(sheet.hash(), hash)
    const answer = await pool.query({
      sql: 'SELECT count(*) AS c, sum(n) AS s FROM records',
      params: [],
      allFields: sheet.fields,
    })
    assert.equal(String(answer), '{"rows":[{"c":10,"s":55}],"count":1}')
  })
})

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 60)}… (${text.length} characters)` : text)
}
