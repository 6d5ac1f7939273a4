import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { QueryError } from '../../src/errors/service-error.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { runQuery } from '../../src/sheet/queries/run-query.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { DEFAULT_QUERY_LIMITS } from '../../src/store/sqlite/sql/sql-pool.ts'
import { openCanarySheet, type CanarySheet } from '../support/canary-sheet.ts'
import { fuzzRun } from '../support/fuzz.ts'
import { RecordsAlone } from '../support/records-alone.ts'
import { SqlGrammar } from '../support/sql-grammar.ts'
import { fragments, spoiled } from '../support/sql-spoiler.ts'

/** Concurrent texts. */
const AT_ONCE = 4

/** Records on a page: fewer than there are, and as many as {@link RecordsAlone} is asked for. */
const PAGE = 4

const EVERYTHING = { fields: null, limit: null, cursor: null, filter: null, asOf: null }

/** The interval of the checks of the database. */
const LOOK_EVERY = 1000

/** Runaways are few; on a busy machine others take their time. */
const LIMITS = { ...DEFAULT_QUERY_LIMITS, timeoutMs: 2000, maxRows: 500 }

/** The outcome of a text: the result, or the message of the QueryError. */
type Outcome = { readonly answer: string } | { readonly message: string }

const RAN_OUT =
  /^the query (?:took longer|used more|was stopped)|^too many queries|^the (?:statement|answer) is (?:too long|larger)/

const { count, random, again } = fuzzRun({ test: 300, fuzz: 100_000 })

suite('random SQL', { timeout: 10 * 60_000 }, () => {
  test(`D16, D18: ${count} random statements and filters read only records and change nothing`, async (t) => {
    const canary = await openCanarySheet(t, { queryLimits: LIMITS })
    const alone = RecordsAlone.of(t, canary.path, { maxRows: LIMITS.maxRows, limit: PAGE })
    const before = canary.contentHash()
    const records = JSON.parse(
      String((await listRecords(canary.sheet, EVERYTHING)).records),
    ) as readonly unknown[]
    const tally = { answered: 0, refused: 0, ranOut: 0 }
    const texts = randomTexts()
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (const { kind, text, number } of texts) {
        const shown = `${kind} ${JSON.stringify(text)}; ${again}`
        const outcome = await outcomeOf(canary, { kind, text, records }, shown)
        judge(canary, outcome, text)
        if ('message' in outcome && RAN_OUT.test(outcome.message)) tally.ranOut += 1
        else {
          tally['answer' in outcome ? 'answered' : 'refused'] += 1
          // Whatever it says, it would say the same if the other tables were empty.
          assert.deepEqual(outcome, alone.outcomeOf(kind, text) ?? outcome, shown)
        }
        if (number % LOOK_EVERY === 0) assert.equal(canary.contentHash(), before, shown)
      }
    })
    await Promise.all(workers)
    assert.equal(canary.contentHash(), before, again)
    const last = await runQuery(canary.sheet, { sql: 'SELECT count(*) AS c FROM records', params: [] })
    assert.equal(String(last), '{"rows":[{"c":10}],"count":1}')
    report(t, tally)
  })
})

/** Random statements and filters by turns. */
function* randomTexts(): Generator<{
  readonly kind: 'query' | 'filter'
  readonly text: string
  readonly number: number
}> {
  const grammar = new SqlGrammar(random)
  for (let number = 1; number <= count; number += 1) {
    const kind = number % 2 === 0 ? 'query' : 'filter'
    const wellFormed = (): string => (kind === 'query' ? grammar.statement() : grammar.filter())
    const chance = random.below(10)
    const text =
      chance < 2 ? wellFormed() : chance < 9 ? spoiled(random, wellFormed(), wellFormed) : fragments(random)
    yield { kind, text, number }
  }
}

/** Goes the way of the routes. Any other error than a QueryError fails. */
async function outcomeOf(
  { sheet }: CanarySheet,
  { kind, text, records }: { kind: 'query' | 'filter'; text: string; records: readonly unknown[] },
  shown: string,
): Promise<Outcome> {
  try {
    if (kind === 'query') return { answer: String(await runQuery(sheet, { sql: text, params: [] })) }
    return { answer: await firstPage(sheet, text, records) }
  } catch (error) {
    assert.ok(error instanceof QueryError, `${String(error)}: ${shown}`)
    return { message: error.message }
  }
}

/** Walks two pages of a filter, which must be of records as they are, in their order, none of them twice. */
async function firstPage(sheet: Sheet, filter: string, records: readonly unknown[]): Promise<string> {
  const query = { fields: null, limit: PAGE, cursor: null, filter, asOf: null }
  const first = await listRecords(sheet, query)
  const second =
    first.nextCursor === null ? null : await listRecords(sheet, { ...query, cursor: first.nextCursor })
  const walked = [first, second].flatMap((page) =>
    page === null ? [] : (JSON.parse(String(page.records)) as unknown[]),
  )
  const places = walked.map((record) => records.findIndex((each) => isDeepStrictEqual(each, record)))
  assert.ok(
    places.every((place, index) => place > (places[index - 1] ?? -1)),
    `${places.join()} of ${filter}`,
  )
  return String(first.records)
}

function judge({ assertNoCanary, assertTellsNothing }: CanarySheet, outcome: Outcome, text: string): void {
  if ('message' in outcome) {
    assertTellsNothing(outcome.message, text)
    assert.ok(outcome.message.length > 0 && outcome.message.length < 1000, text)
    return
  }
  assertNoCanary(outcome.answer, text)
  assert.doesNotThrow(() => JSON.parse(outcome.answer), text)
}

/** A mixture of which most is refused, or nothing is, tests nothing. */
function report(t: TestContext, tally: { answered: number; refused: number; ranOut: number }): void {
  t.diagnostic(JSON.stringify(tally))
  assert.ok(tally.answered > count / 20, JSON.stringify(tally))
  assert.ok(tally.refused > count / 5, JSON.stringify(tally))
  assert.ok(tally.ranOut < count / 50, JSON.stringify(tally))
}
