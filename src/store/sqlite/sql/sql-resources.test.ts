import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { after, before, suite, test, type TestContext } from 'node:test'
import { createSheetDatabase, field, type SheetDatabase } from '../../../../test/support/sheet-database.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../../query-limits.ts'
import { SqlProcess } from './sql-process.ts'
import type { SqlRequest } from './sql-protocol.ts'

enableCompileCache()

const MIB = 1024 * 1024
const FIELDS = [field('id', 'string'), field('n', 'integer')]

const LIMITS: QueryLimits = { ...DEFAULT_QUERY_LIMITS, timeoutMs: 400 }

/** Deadline of a test, in milliseconds: a query that runs past its own is stopped by neither its process nor this one. */
const HANG_MS = 30_000

/**
 * The memory that a process may have beyond its limit: the program itself, which is mapped and not counted, and the memory
 * that it takes between two looks of its watchdog, 20 ms apart and more on a busy machine.
 */
const SLACK_BYTES = 256 * MIB

const times = (count: number, text: string): string => text.repeat(count)
const list = (count: number, make: (index: number) => string, glue = ','): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(glue)

const NUMBERS = 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t)'
const WIDE = "printf('%1000000c', 'x')"

/** Statements that would take all the time or memory there is. */
const STATEMENTS: Readonly<Record<string, string>> = {
  'a recursive CTE without end': `${NUMBERS} SELECT count(*) AS a FROM t`,
  'a recursive CTE without end, materialized': `${NUMBERS}, u AS MATERIALIZED (SELECT x FROM t) SELECT max(x) AS a FROM u`,
  'a cross join of twelve': `SELECT count(*) AS a FROM ${list(12, (index) => `records AS r${index}`)}`,
  'a cross join of sixty with a condition': `SELECT count(*) AS a FROM ${list(60, (index) => `records AS r${index}`)} WHERE r0.n + r59.n = -1`,
  'a window over a cross join': `SELECT max(s) AS a FROM (SELECT sum(r0.n) OVER (ORDER BY r1.n) AS s FROM ${list(9, (index) => `records AS r${index}`)})`,
  'many windows': `SELECT ${list(1500, (index) => `sum(n) OVER (ORDER BY n + ${index}) AS c${index}`)} FROM records`,
  'a chain of CTEs': `WITH a0 AS (SELECT 1 AS x), ${list(20_000, (index) => `a${index + 1} AS (SELECT * FROM a${index})`)} SELECT * FROM a20000`,
  'CTEs that double': `WITH a0 AS (SELECT 1 AS x), ${list(30, (index) => `a${index + 1} AS (SELECT l.x FROM a${index} AS l, a${index} AS r)`)} SELECT * FROM a30`,
  'a pattern that starts over and over': `${NUMBERS} SELECT count(*) AS a FROM t WHERE x || ${WIDE} LIKE '${times(200, '% ')}y'`,
  'GLOB that starts over and over': `${NUMBERS} SELECT count(*) AS a FROM t WHERE x || ${WIDE} GLOB '${times(150, '* [!a]')}y'`,
  'a search that starts over and over': `SELECT instr(printf('%60000000c', 'x'), printf('%3000000c', 'y')) AS a`,
  'text that the lexer starts over and over': `SELECT ${times(300_000, '$a(')}`,
  "printf('%.*c', 900000000, 'x')": "SELECT printf('%.*c', 900000000, 'x') AS a",
  'printf with a wide column': "SELECT printf('%*d', 2147483647, 1) AS a",
  'printf with many digits': "SELECT printf('%,.60000000f', 1e300) AS a",
  randomblob: 'SELECT randomblob(1000000000) AS a',
  zeroblob: 'SELECT zeroblob(1000000000) AS a',
  'zeroblobs within the limit, in many columns': `SELECT ${list(1900, (index) => `zeroblob(60000000) AS c${index}`)}`,
  'texts within the limit, in many columns': `SELECT ${list(1900, (index) => `printf('%60000000c', 'x') AS c${index}`)}`,
  'hex of a zeroblob': 'SELECT hex(zeroblob(60000000)) AS a',
  'hex of hex': `SELECT ${times(30, 'hex(')}1${times(30, ')')} AS a`,
  'replace that multiplies': `SELECT ${times(5, 'replace(')}printf('%1000c', 'x')${times(5, ", ' ', printf('%1000c', 'x'))")} AS a`,
  'group_concat that grows': `${NUMBERS} SELECT length(group_concat(${WIDE})) AS a FROM t`,
  'json_group_array that grows': `${NUMBERS} SELECT length(json_group_array(${WIDE})) AS a FROM t`,
  'json_group_object that grows': `${NUMBERS} SELECT length(json_group_object(x, ${WIDE})) AS a FROM t`,
  'json_pretty that indents': `SELECT length(json_pretty('${times(900, '[')}${times(900, ']')}', ${WIDE})) AS a`,
  'an aggregate that keeps every value': `${NUMBERS} SELECT median(x) AS a FROM t`,
  'a sort of wide rows': `${NUMBERS} SELECT x, ${WIDE} AS w FROM t ORDER BY random()`,
  'distinct wide rows': `${NUMBERS} SELECT count(DISTINCT ${WIDE} || x) AS a FROM t`,
  'an answer without end': `${NUMBERS} SELECT ${WIDE} AS a FROM t`,
  'brackets, 100,000 deep': `SELECT ${times(100_000, '(')}1${times(100_000, ')')}`,
  'subqueries, 20,000 deep': `SELECT * FROM ${times(20_000, '(SELECT * FROM ')}records${times(20_000, ')')}`,
  'CTEs, 30,000 deep': `${times(30_000, 'WITH a AS (')}SELECT 1${times(30_000, ') SELECT * FROM a')}`,
  'an expression of 400,000 terms': `SELECT 1 ${times(400_000, '+1')}`,
  'a compound of 10,000': `SELECT 1 ${times(10_000, 'UNION ALL SELECT 1 ')}`,
  'a list of 400,000': `SELECT 1 IN (${times(400_000, '1,')}1) AS a`,
  'a row of 100,000': `SELECT (${times(100_000, '1,')}1) = (${times(100_000, '1,')}1) AS a`,
  'VALUES of 200,000': `WITH x AS (VALUES ${times(200_000, '(1),')}(1)) SELECT count(*) AS a FROM x`,
  'JSON of 100,000 levels': `SELECT json('${times(100_000, '[')}${times(100_000, ']')}') AS a`,
}

/** The same statements within one expression. */
const FILTERS: Readonly<Record<string, string>> = {
  'a recursive CTE without end': `(${NUMBERS} SELECT count(*) FROM t) > n`,
  "printf('%.*c', 900000000, 'x')": "length(printf('%.*c', 900000000, 'x')) > n",
  'group_concat that grows': `(${NUMBERS} SELECT group_concat(${WIDE}) FROM t) > id`,
  'brackets, 30,000 deep': `${times(30_000, '(')}1${times(30_000, ')')}`,
}

const ATTACKS: readonly (readonly [string, SqlRequest])[] = [
  ...Object.entries(STATEMENTS).map(
    ([name, sql]) => [name, { kind: 'query', sql, params: [], allFields: FIELDS }] as const,
  ),
  ...Object.entries(FILTERS).map(
    ([name, filter]) =>
      [
        `as a filter, ${name}`,
        { kind: 'page', filter, fields: FIELDS, allFields: FIELDS, limit: 5, after: null, sort: [], skip: 0 },
      ] as const,
  ),
]

// Two at a time, as the pool has it.
suite('SQL that would use all resources', { concurrency: 2 }, () => {
  let sheet: SheetDatabase
  /** Started ahead, as the pool does. */
  const idle: SqlProcess[] = []

  before(() => {
    sheet = createSheetDatabase(FIELDS)
    for (let n = 1; n <= 10; n += 1) sheet.insert(`r${n}`, n)
    for (let count = 0; count < 3; count += 1) idle.push(new SqlProcess(sheet.path, LIMITS))
  })

  after(async () => {
    // One that is killed before it is ready is a fault of its own.
    await Promise.all(idle.map(({ ready }) => ready))
    for (const process of idle) process.kill()
    await Promise.all(idle.map(({ ended }) => ended))
    sheet.remove()
  })

  async function withstands(t: TestContext, request: SqlRequest): Promise<void> {
    const process = idle.shift() ?? new SqlProcess(sheet.path, LIMITS)
    await process.ready
    const memory = watchMemory(process.pid)
    const error = await process.run(request).then(
      (answer) => new Error(`answered: ${String(answer.json).slice(0, 100)}`),
      (reason: unknown) => reason,
    )
    const peak = memory.peak()
    idle.push(process.usable ? process : new SqlProcess(sheet.path, LIMITS))
    if (!process.usable) await process.ended
    assert.ok(error instanceof QueryError, String(error))
    assert.ok(peak <= LIMITS.maxMemoryBytes + SLACK_BYTES, `took ${peak / MIB} MiB: ${error.message}`)
    t.diagnostic(`${Math.round(peak / MIB)} MiB: ${error.message}`)
  }

  for (const [name, request] of ATTACKS) {
    test(`D19: ${name} is a QueryError, and memory stays bounded`, { timeout: HANG_MS }, (t) =>
      withstands(t, request),
    )
  }
})

/** Tracks the largest memory that a process ever had, which the kernel counts; 0 where it does not. */
function watchMemory(pid: number | undefined): { peak(): number } {
  const status = `/proc/${pid}/status`
  if (pid === undefined || !existsSync(status)) return { peak: () => 0 }
  let peak = 0
  const look = (): void => {
    try {
      peak = Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(status, 'latin1'))?.[1] ?? 0) * 1024 || peak
    } catch {
      // The process has ended.
    }
  }
  const timer = setInterval(look, 5)
  return {
    peak() {
      look()
      clearInterval(timer)
      return peak
    },
  }
}
