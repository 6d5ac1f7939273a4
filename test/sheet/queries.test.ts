import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { evidenceOf } from '../../src/derivation/definition/evidence.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { readDerivations } from '../../src/sheet/schema/read-derivations.ts'
import { previewDerivation } from '../../src/sheet/preview/preview-derivation.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { seededRandom } from '../../src/store/suite/support/random.ts'
import { ContractError } from '../../src/errors/service-error.ts'
import type { QuerySpec } from '../../src/derivation/kinds/sql/sql-spec.ts'
import { RecordsPass } from '../../src/derivation/plan/records-pass.ts'
import { changeStore, perEngine } from '../support/engine.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'

const ALL = { targets: null, recordIds: null, force: false }

const RANK = `SELECT 1 + count(*) FILTER (WHERE sales > :sales) AS rank,
       :sales / sum(sales) AS share
FROM records WHERE region = :region`

const SHOPS: readonly JsonObject[] = [
  { id: 'a', region: 'north', sales: 10 },
  { id: 'b', region: 'north', sales: 30 },
  { id: 'c', region: 'south', sales: 5 },
  { id: 'd', region: null, sales: 1 },
]

const PROPERTIES = [
  'region: string',
  'sales: number',
  'note: string',
  'depends: array',
  'rank: integer',
  'share: number',
  'double: number',
  'top: string',
  'blocked: boolean',
]

function openShops(
  t: TestContext,
  derivations: Readonly<Record<string, JsonObject>>,
  records: readonly JsonObject[] = SHOPS,
): Promise<RunSheet> {
  return openRunSheet(t, { properties: PROPERTIES, records, derivations: () => derivations })
}

function query(targets: readonly string[], expression: string, more: JsonObject = {}): JsonObject {
  return { targets, kind: 'sql', expression, ...more }
}

async function values(run: RunSheet, field: string, ids = ['a', 'b', 'c', 'd']): Promise<unknown[]> {
  const found = []
  for (const id of ids) found.push(await run.value(id, field))
  return found
}

test('a query computes fields from all records, with values of the record at hand', async (t) => {
  const run = await openShops(t, { 'rank.yaml': query(['rank', 'share'], RANK) })
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.targets['rank']?.compute], [0, 4])
  assert.equal((await run.run({ maxCalls: 0, maxCost: 0 })).materialized, 8)
  assert.deepEqual(await values(run, 'rank'), [2, 1, 1, 1])
  assert.deepEqual(await values(run, 'share'), [0.25, 0.75, 1, null])
  const entry = (await run.entry('a', 'share')) ?? {}
  assert.deepEqual(evidenceOf(entry), {
    expression: RANK,
    reads: ['region', 'sales'],
    dialect: perEngine({ sqlite: 'sqlite', postgres: 'postgres' }),
    row: { rank: 2, share: 0.25 },
  })
  assert.equal((await run.run()).materialized, 0)
  const [derivation] = await readDerivations(run.sheet)
  assert.deepEqual(derivation?.inputs.toSorted(), ['region', 'sales'])
})

test('retry_failed_after: the explanation has the time of a failed cell of a query, until its row changes', async (t) => {
  const file = query(['rank'], 'SELECT count(*) + 0.5 AS rank FROM records', { retry_failed_after: 'never' })
  const run = await openShops(t, { 'rank.yaml': file })
  assert.equal((await run.run()).failures.length, 4)
  assert.equal((await explainCell(run.sheet, 'rank', 'a')).failure?.retryAt, null)
  await run.write({ id: 'e' })
  assert.equal((await explainCell(run.sheet, 'rank', 'a')).failure?.retryAt, undefined)
})

test('D32: all cells of a query are stale when a field that it reads changes anywhere, and only changed values are stored', async (t) => {
  const run = await openShops(t, {
    'rank.yaml': query(['rank'], RANK.replace(/,[^]*sum\(sales\) AS share/, '')),
  })
  await run.run()
  await run.write({ id: 'a', note: 'x' })
  assert.deepEqual(await run.counts('rank'), { fresh: 4 })
  await run.write({ id: 'a', sales: 40 })
  assert.deepEqual(await run.counts('rank'), { stale: 4 })
  assert.deepEqual((await explainCell(run.sheet, 'rank', 'b')).reasons, [
    { part: 'member', name: 'row', was: { rank: 1 }, is: { rank: 2 } },
  ])
  assert.deepEqual((await explainCell(run.sheet, 'rank', 'c')).reasons, [])
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.targets['rank']?.compute, plan.targets['rank']?.skipped], [2, 2])
  const lines = (await run.history('c', 'rank')).length
  assert.equal((await run.run()).materialized, 2)
  assert.deepEqual(await values(run, 'rank'), [1, 2, 1, 1])
  assert.deepEqual(await run.counts('rank'), { fresh: 4 })
  assert.equal((await run.history('c', 'rank')).length, lines)
  await run.write({ id: 'e', region: 'north', sales: 35 })
  assert.deepEqual(await run.counts('rank'), { stale: 4, missing: 1 })
  assert.equal((await run.run()).materialized, 2)
  await run.delete('e')
  assert.deepEqual(await run.counts('rank'), { stale: 4 })
  assert.equal((await run.run()).materialized, 1)
})

test('a query over a computed field runs once all cells of that field are computed', async (t) => {
  const run = await openShops(t, {
    'a-top.yaml': query(['top'], 'SELECT id FROM records ORDER BY double DESC, id LIMIT 1'),
    'b-double.yaml': query(['double'], 'sales * 2'),
  })
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.targets['top']?.compute, plan.atMost], [4, true])
  await run.run()
  assert.deepEqual(await values(run, 'top'), ['b', 'b', 'b', 'b'])
  await run.write({ id: 'c', sales: 99 })
  assert.deepEqual(
    [await run.counts('double'), await run.counts('top')],
    [{ fresh: 3, stale: 1 }, { fresh: 4 }],
  )
  assert.equal((await run.run()).materialized, 5)
  assert.deepEqual(await values(run, 'top'), ['c', 'c', 'c', 'c'])
  await run.write({ id: 'c', note: 'no effect' })
  assert.deepEqual(await run.counts('top'), { fresh: 4 })
})

test('placeholders are the inputs in their order, a statement without a row is null, and output_schema is read', async (t) => {
  const run = await openShops(
    t,
    {
      'blocked.yaml': query(
        ['blocked'],
        perEngine({
          sqlite: `SELECT EXISTS (SELECT 1 FROM json_each(?) AS dep JOIN records AS r ON r.id = dep.value WHERE r.note <> 'done')`,
          postgres: `SELECT EXISTS (SELECT 1 FROM jsonb_array_elements_text(?) AS dep(id) JOIN records AS r ON r.id = dep.id WHERE r.note <> 'done')`,
        }),
        { inputs: ['depends'] },
      ),
      'pair.yaml': query(
        ['rank', 'top'],
        "SELECT 7 AS rank, note AS top FROM records WHERE note = 'open' AND id = :id",
        {
          output_schema: { rank: 'number', top: 'string' },
        },
      ),
    },
    [
      { id: 'a', note: 'open', depends: ['b', 'c'] },
      { id: 'b', note: 'done', depends: [] },
      { id: 'c', note: 'done', depends: ['a'] },
      { id: 'd', note: null, depends: null },
    ],
  )
  await run.run()
  assert.deepEqual(await values(run, 'blocked'), [false, false, true, false])
  assert.deepEqual(
    [await values(run, 'rank'), await values(run, 'top')],
    [
      [7, null, null, null],
      ['open', null, null, null],
    ],
  )
})

test('a statement with several rows fails its cell unless it is ordered', async (t) => {
  const run = await openShops(t, {
    'top.yaml': query(['top'], 'SELECT id FROM records WHERE region = :region'),
    'rank.yaml': query(['rank'], 'SELECT sales FROM records WHERE region = :region ORDER BY sales DESC'),
    'share.yaml': query(
      ['share'],
      perEngine({ sqlite: 'SELECT 1 / 0 + 1e999 AS share', postgres: 'SELECT 1 / (:sales - 10)' }),
    ),
  })
  const { failures } = await run.run()
  const failed = failures.filter(({ field }) => field === 'top')
  assert.deepEqual(
    failed.map(({ recordId }) => recordId),
    ['a', 'b'],
  )
  assert.match(failed[0]?.error ?? '', /more than one row; add ORDER BY/)
  assert.deepEqual(
    [await run.counts('top'), await values(run, 'rank')],
    [{ fresh: 2, failed: 2 }, [30, 30, 5, null]],
  )
  perEngine({
    sqlite: () =>
      assert.deepEqual(
        failures.filter(({ field }) => field === 'share'),
        [],
      ),
    postgres: () =>
      assert.deepEqual(
        failures.filter(({ field }) => field === 'share').map(({ recordId }) => recordId),
        ['a'],
      ),
  })()
})

test('what no query can be is a ContractError with file and line', async (t) => {
  const run = await openShops(t, { 'top.yaml': query(['top'], 'SELECT id FROM records LIMIT 1') })
  const refused = async (file: JsonObject, message: RegExp): Promise<void> => {
    await run.edit('derivations/top.yaml', () => JSON.stringify(file))
    const error = await contractError(run.counts('top'))
    assert.match(error.message, /^derivations\/top\.yaml:1: |^derivations form a cycle/)
    assert.match(error.message, message)
  }
  for (const [expression, message] of [
    ['WITH x AS (SELECT 1 AS top) DELETE FROM records', /only SELECT/],
    ['SELECT random() AS top', /random\(\) cannot be used in a derivation/],
    ['SELECT current_date AS top', /current_date cannot be used in a derivation/],
    ['SELECT id FROM sqlite_schema', /no such (?:column: id|table: sqlite_schema)/],
    ['SELECT id FROM pg_class', /pg_class/],
    ['SELECT id FROM records; SELECT 1', /one statement/],
    ['SELECT :nothing', /:nothing names no field/],
    ['SELECT ?', /1 placeholders \?, and inputs lists 0/],
    ['SELECT top FROM records LIMIT 1', /cycle: top -> top/],
    ['SELECT * FROM records LIMIT 1', /cycle: top -> top|columns/],
    ['SELECT id, region FROM records LIMIT 1', /2 columns; select one/],
  ] as const) {
    await refused(query(['top'], expression), message)
  }
  await refused(query(['top', 'rank'], 'SELECT 1 AS top'), /no column "?rank/)
  await refused(
    query(['top'], 'SELECT 1', { output_schema: { rank: 'number' } }),
    /output_schema must have the keys top/,
  )
})

test('a preview of a changed query has the records as they are', async (t) => {
  const run = await openShops(t, { 'rank.yaml': query(['rank'], 'SELECT count(*) FROM records') })
  await run.run()
  const text = JSON.stringify(query(['rank'], 'SELECT sum(sales) FROM records WHERE region = :region'))
  const request = {
    file: 'rank.yaml',
    text,
    contract: null,
    recordIds: ['a'],
    sample: 1,
    seed: 1,
    maxCost: null,
  }
  const sums = []
  for (const sales of [10, 12]) {
    await run.write({ id: 'a', sales })
    const { records } = await previewDerivation(
      run.sheet,
      { ...request, actor: 'human:me' },
      new AbortController().signal,
    )
    sums.push(records[0]?.values['rank'])
  }
  assert.deepEqual(sums, [40, 42])
})

test('a step of a fallback cannot be a query', async (t) => {
  const run = await openShops(t, { 'top.yaml': query(['top'], 'note') })
  const steps = [{ kind: 'sql', expression: 'SELECT max(note) FROM records' }]
  await run.edit('derivations/top.yaml', () => JSON.stringify({ targets: ['top'], kind: 'first', steps }))
  assert.match(
    (await contractError(run.counts('top'))).message,
    /^derivations\/top\.yaml:1: a step cannot read all records; /,
  )
})

test('a cycle through other derivations is refused', async (t) => {
  const run = await openShops(t, {
    'rank.yaml': query(['rank'], 'SELECT 1'),
    'share.yaml': query(['share'], 'rank + 1.0'),
  })
  await run.edit('derivations/rank.yaml', () =>
    JSON.stringify(query(['rank'], 'SELECT max(share) FROM records')),
  )
  assert.match(
    (await contractError(run.counts('rank'))).message,
    /^derivations form a cycle: (?:rank -> share -> rank|share -> rank -> share)/,
  )
})

test('a statement that never ends fails its cells, and no others', async (t) => {
  const endless = perEngine({
    sqlite:
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c WHERE x < :sales',
    postgres:
      'WITH RECURSIVE c(x) AS (SELECT 1::bigint UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c WHERE x < :sales',
  })
  // Long enough for a sum of five records on a busy machine.
  const run = await openWithDouble(t, { 'rank.yaml': query(['rank'], endless) }, 1000)
  const reasons = await failedIn(run, 'rank')
  assert.equal(reasons.length, 5)
  assert.match(reasons[0] ?? '', /took longer than 1 s/)
  assert.match(reasons.at(-1) ?? '', /not tried, since 3 records in a row/)
  assert.deepEqual(await run.counts('double'), { fresh: 5 })
})

test('a statement with a value that is too large fails its cells, and no others', async (t) => {
  const huge = perEngine({
    sqlite: "SELECT replace(printf('%.*c', 3000000, 'x'), 'x', 'y')",
    postgres: "SELECT repeat('x', 3000000)",
  })
  const run = await openWithDouble(t, { 'top.yaml': query(['top'], huge) }, 30_000)
  const reasons = await failedIn(run, 'top')
  assert.equal(reasons.length, 5)
  assert.match(reasons[0] ?? '', /larger than 1 MiB/)
  assert.deepEqual(await run.counts('double'), { fresh: 5 })
})

/** Opens a sheet of five shops with these derivations and `double`, with a deadline for each query. */
async function openWithDouble(
  t: TestContext,
  derivations: Readonly<Record<string, JsonObject>>,
  timeoutMs: number,
): Promise<RunSheet> {
  return openRunSheet(
    t,
    {
      properties: PROPERTIES,
      records: [...SHOPS, { id: 'e', sales: 7 }],
      derivations: () => ({
        ...derivations,
        'double.yaml': query(['double'], 'SELECT sum(sales) FROM records'),
      }),
    },
    { queryLimits: { timeoutMs, maxRows: 10, maxMemoryBytes: 384 * 1024 * 1024 } },
  )
}

/** Runs all derivations, and returns why cells failed; those of one field only may. */
async function failedIn(run: RunSheet, field: string): Promise<string[]> {
  const { failures } = await run.run()
  assert.deepEqual([...new Set(failures.map((failure) => failure.field))], [field])
  return failures.map(({ error }) => error)
}

async function contractError(act: Promise<unknown>): Promise<ContractError> {
  const error: unknown = await act.then(
    () => assert.fail('no error'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ContractError, String(error))
  return error
}

/** What the cells of the random test depend on, each with its value first: for a rank also the inputs of the record. */
function expected(records: ReadonlyMap<string, JsonObject>): Map<string, readonly (readonly unknown[])[]> {
  const all = [...records.values()]
  return new Map(
    [...records].map(([id, { region, sales }]) => {
      const same = all.filter((other) => region !== null && other['region'] === region)
      const more = same.filter((other) => Number(other['sales']) > Number(sales))
      const highest = Math.max(...all.map((other) => 2 * Number(other['sales'])))
      return [id, [[1 + more.length, region, sales], [2 * Number(sales)], [`${highest}/${all.length}`]]]
    }),
  )
}

test('D32: after random edits, exactly the cells with another value or other inputs are computed, as an oracle says', async (t) => {
  const run = await openShops(
    t,
    {
      'rank.yaml': query(
        ['rank'],
        'SELECT 1 + count(*) FROM records WHERE region = :region AND sales > :sales',
      ),
      'double.yaml': query(['double'], 'sales * 2'),
      'top.yaml': query(
        ['top'],
        perEngine({
          sqlite: "SELECT CAST(max(double) AS INTEGER) || '/' || count(*) FROM records",
          postgres: "SELECT max(double)::bigint || '/' || count(*) FROM records",
        }),
      ),
    },
    [],
  )
  const random = seededRandom(22)
  const below = (count: number): number => random.below(count)
  const records = new Map<string, JsonObject>()
  let stored = new Map<string, readonly (readonly unknown[])[]>()
  for (let round = 0; round < 12; round += 1) {
    let [rankStale, topStale] = [round === 0, round === 0]
    for (let edit = 0; edit <= below(4); edit += 1) {
      const id = `r${below(12)}`
      const known = records.get(id)
      if (known !== undefined && below(4) === 0) {
        await run.delete(id)
        records.delete(id)
        // A record that is created again has no values.
        stored.delete(id)
        ;[rankStale, topStale] = [true, true]
      } else if (known !== undefined && below(3) === 0) {
        await run.write({ id, note: `${round} ${edit}` })
      } else {
        const values_ = { region: ['n', 's', null][below(3)] ?? null, sales: below(6) }
        rankStale ||= known?.['region'] !== values_.region || known['sales'] !== values_.sales
        topStale ||= known === undefined
        await run.write({ id, ...values_ })
        records.set(id, values_)
      }
    }
    const fresh = (await run.status('rank')).fresh
    if (rankStale) assert.equal(fresh, 0, `round ${round}: rank is stale`)
    if (topStale) assert.equal((await run.status('top')).fresh, 0, `round ${round}: top is stale`)
    const now = expected(records)
    const changed = [...now].flatMap(([id, cells]) =>
      cells.filter((cell, index) => !isDeepStrictEqual(stored.get(id)?.[index], cell)),
    )
    const { materialized } = await run.run()
    assert.equal(materialized, changed.length, `round ${round}: only changed values are stored`)
    for (const [id, row] of now) {
      const { rank, double, top } = await run.record(id)
      assert.deepEqual(
        [rank, double, top],
        row.map(([value]) => value),
        `round ${round}: ${id}`,
      )
    }
    for (const field of ['rank', 'double', 'top']) {
      assert.deepEqual(await run.counts(field), records.size === 0 ? {} : { fresh: records.size })
    }
    stored = now
  }
})

test('a query is run once in a pass for records with equal values, until what it reads changes', async (t) => {
  const run = await openShops(t, {
    'top.yaml': query(['double'], 'SELECT max(sales) AS double FROM records WHERE region = :region'),
  })
  const { store, derivations } = await run.sheet.deriving()
  const derivation = derivations.byTarget.get('double')
  assert.ok(derivation)
  const { query: ofGroup } = derivation.spec as QuerySpec
  const pass = new RecordsPass()
  const top = async (region: string): Promise<unknown> => {
    const { queries } = store
    assert.ok(queries)
    const { rows } = await queries.compute(ofGroup, [[region]], pass, AbortSignal.timeout(30_000))
    return rows[0]?.ok === true ? rows[0].value : rows[0]
  }
  assert.deepEqual(await top('north'), { double: 30 })
  // What changes past the service shows that the query is not run again.
  const sql = 'UPDATE "$data" SET sales = 70'
  await changeStore(run.directory, { sqlite: sql, postgres: sql })
  assert.deepEqual(await top('north'), { double: 30 })
  await run.write({ id: 'a', sales: 90 })
  assert.deepEqual(await top('north'), { double: 90 })
})
