import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { HOSTILE_POSTGRES_FILTERS } from '../../../../test/support/hostile-postgres-sql.ts'
import { PostgresGrammar } from '../../../../test/support/postgres-grammar.ts'
import { createPostgresRecords, type PostgresRecords } from '../../../../test/support/postgres-records.ts'
import { field } from '../../../../test/support/sheet-database.ts'
import { spoiled } from '../../../../test/support/sql-spoiler.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { seededRandom } from '../../suite/support/random.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool } from './sql-pool.ts'

const FIELDS = [
  field('id', 'string'),
  field('n', 'integer'),
  field('price', 'number'),
  field('done', 'boolean'),
  field('title', 'string'),
  field('day', 'date'),
  field('tags', 'array'),
  field('details', 'object'),
]

const FILTERS = 2000

suite('random filters', () => {
  let sheet: PostgresRecords
  let pool: SqlPool

  before(async () => {
    sheet = await createPostgresRecords(FIELDS)
    const random = seededRandom(5)
    await sheet.insert(
      ...Array.from({ length: 20 }, (_, index) => ({
        id: `r${(index * 7) % 20}`,
        n: random.pick([null, 0, 1, 2, 7]),
        price: random.pick([null, 0.5, 2, -1]),
        done: random.pick([null, true, false]),
        title: random.pick([null, '', 'a', 'Ab', "it's", '(', '--']),
        day: random.pick([null, '2024-02-29', '2023-12-31']),
        tags: random.pick([null, [], ['a'], [1, 'b']]),
        details: random.pick([null, {}, { k: '1' }]),
      })),
    )
    pool = new SqlPool({ database: sheet.database, limits: { ...DEFAULT_QUERY_LIMITS, timeoutMs: 2000 } })
  })

  after(async () => {
    await pool.close()
    await sheet.close()
  })

  /** Returns the ids that a filter selects; null when it is refused. */
  async function filtered(filter: string): Promise<readonly unknown[] | null> {
    try {
      const run = {
        fields: FIELDS.slice(0, 1),
        allFields: FIELDS,
        limit: 100,
        after: null,
        sort: [],
        skip: 0,
      }
      const { records } = await pool.page({ ...run, filter })
      return (JSON.parse(String(records)) as JsonObject[]).map(({ id }) => id)
    } catch (error) {
      assert.ok(error instanceof QueryError, `${String(error)}: ${filter}`)
      return null
    }
  }

  /** The ids of records of which an expression is true, where no bracket is around it; null when that is refused. */
  async function alone(filter: string): Promise<readonly unknown[] | null> {
    try {
      // In the way of the store's own statements: nothing is checked.
      const rows = await sheet.database.all(
        `SELECT data.id FROM "$data" AS data JOIN (SELECT id, CASE WHEN\n${filter}\nTHEN true END AS "$holds" FROM records) AS held
          ON held.id = data.id WHERE "$holds" ORDER BY data."$seq"`,
      )
      return rows.map(({ id }) => id)
    } catch {
      return null
    }
  }

  test(`D16: ${FILTERS} filters match the same records with and without brackets around them, or are refused`, async (t) => {
    const random = seededRandom(13)
    const grammar = new PostgresGrammar(random)
    const tally = { answered: 0, refused: 0 }
    for (let number = 0; number < FILTERS; number += 1) {
      const wellFormed = (): string => grammar.expression('truth', random.below(4))
      const glued = (): string => `${wellFormed()}${random.pick([') OR (', ' OR ', ') AND NOT (', '\n', ' -- ', ' /* ', "'", ' UNION ', ' LIMIT 1', ') --\n('])}${wellFormed()}` // prettier-ignore
      const filter = random.pick([
        wellFormed,
        wellFormed,
        glued,
        () => spoiled(random, wellFormed(), wellFormed),
      ])()
      const ids = await filtered(filter)
      tally[ids === null ? 'refused' : 'answered'] += 1
      // `now()` and the like seldom have the same value in two transactions.
      if (ids !== null) assert.deepEqual(ids, await alone(filter), filter)
    }
    t.diagnostic(JSON.stringify(tally))
    assert.ok(tally.answered > FILTERS / 4 && tally.refused > FILTERS / 10, JSON.stringify(tally))
  })

  test('D16: invalid expressions are refused by the checks, not by chance', async () => {
    for (const filter of HOSTILE_POSTGRES_FILTERS) assert.equal(await filtered(filter), null, filter)
  })
})
