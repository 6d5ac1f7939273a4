import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import {
  HOSTILE_POSTGRES_FILTERS,
  HOSTILE_POSTGRES_STATEMENTS,
} from '../../../../test/support/hostile-postgres-sql.ts'
import { HOSTILE_FILTERS, HOSTILE_STATEMENTS } from '../../../../test/support/hostile-sql.ts'
import { createPostgresRecords, type PostgresRecords } from '../../../../test/support/postgres-records.ts'
import { field } from '../../../../test/support/sheet-database.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool } from './sql-pool.ts'

/** Names of the store's internals, of its user and of the machine, and patterns of a stack trace. */
const SECRET =
  /\$(?:data|seq|version|sheet|target|cell|todo|failure|cache|provenance|import|unique|row|found|field\d)|sheet_\d|_reader|colophon-pg|\/tmp|\/src\/|\.ts\b|node:|\n\s+at /i

/**
 * Texts of the corpus for SQLite with another correct response of PostgreSQL, which lacks the limit, or words the message
 * otherwise.
 */
const HARMLESS =
  /^SELECT(?: FROM records| 1\v|\/\*\*\/| x'0'| E'\\x41'| 0xF+)?$|^SELECT (?:---|1 \+ 1|\(\(\(+1?|1 UNION ALL SELECT 1|1 ORDER BY 1,)|^n = @n$|^n > ALL \(SELECT 1\)$|^n = 1 OR n = 1 OR|LIKE '%x%x/

suite('hostile SQL', () => {
  let sheet: PostgresRecords
  let pool: SqlPool
  let hash: string

  before(async () => {
    sheet = await createPostgresRecords([field('id', 'string'), field('n', 'integer')])
    await sheet.insert(...Array.from({ length: 10 }, (_, index) => ({ id: `r${index + 1}`, n: index + 1 })))
    pool = new SqlPool({ database: sheet.database, limits: { ...DEFAULT_QUERY_LIMITS, timeoutMs: 30_000 } })
    hash = await sheet.hash()
  })

  after(async () => {
    await pool.close()
    await sheet.close()
  })

  async function refuses(promise: Promise<unknown>): Promise<void> {
    await assert.rejects(promise, (error) => {
      assert.ok(error instanceof QueryError, String(error))
      assert.doesNotMatch(error.message, SECRET)
      assert.ok(error.message.length > 0 && error.message.length < 600)
      return true
    })
  }

  const query = (sql: string): Promise<unknown> => pool.query({ sql, params: [], allFields: sheet.fields })
  const page = (filter: string): Promise<unknown> =>
    pool.page({
      filter,
      fields: sheet.fields,
      allFields: sheet.fields,
      limit: 3,
      after: { key: 5, values: [] },
      sort: [],
      skip: 0,
    })

  const statements = [
    ...HOSTILE_POSTGRES_STATEMENTS,
    ...HOSTILE_STATEMENTS.filter((sql) => !HARMLESS.test(sql)),
  ]
  const filters = [...HOSTILE_POSTGRES_FILTERS, ...HOSTILE_FILTERS.filter((sql) => !HARMLESS.test(sql))]

  test('the corpus has at least its documented size', () => {
    assert.ok(new Set(statements).size >= 1000, String(new Set(statements).size))
    assert.ok(new Set(filters).size >= 800, String(new Set(filters).size))
  })

  for (const sql of new Set(statements)) {
    test(`D18: the statement ${shown(sql)} is refused`, () => refuses(query(sql)))
  }

  for (const filter of new Set(filters)) {
    test(`D16: the filter ${shown(filter)} is refused`, () => refuses(page(filter)))
  }

  test('D18: afterwards the sheet is unchanged, and queries work', async () => {
    assert.equal(await sheet.hash(), hash)
    const answer = await query('SELECT count(*) AS c, sum(n) AS s FROM records')
    assert.equal(String(answer), '{"rows":[{"c":10,"s":55}],"count":1}')
  })
})

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 60)}… (${text.length} characters)` : text)
}
