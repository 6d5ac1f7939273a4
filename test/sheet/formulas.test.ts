import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { evidenceOf } from '../../src/derivation/definition/evidence.ts'
import { ContractError } from '../../src/errors/service-error.ts'
import { usedResources } from '../../src/sheet/calls/used-resources.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { runQuery } from '../../src/sheet/queries/run-query.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { perEngine } from '../support/engine.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'

const ALL = { targets: null, recordIds: null, force: false }

const TOWNS: readonly JsonObject[] = [
  {
    id: 'ulm',
    name: 'Ulm',
    population: 126_000,
    area: 120,
    open: true,
    since: '1890-05-31',
    tags: ['a', 'b'],
  },
  { id: 'nil', name: 'Nil', population: 7, area: 0, open: false, since: null, tags: [] },
  { id: 'gap', name: null, population: null, area: 4.5, open: null, since: '2024-02-29', tags: null },
]

/** Opens a sheet of towns with these formulas, by target. */
async function openTowns(
  t: TestContext,
  formulas: Readonly<Record<string, string>>,
  {
    types = {},
    records = TOWNS,
  }: { types?: Readonly<Record<string, string>>; records?: readonly JsonObject[] } = {},
): Promise<RunSheet> {
  const inputs = [
    'name: string',
    'population: integer',
    'area: number',
    'open: boolean',
    'since: date',
    'tags: array',
  ]
  return openRunSheet(t, {
    properties: [
      ...inputs,
      ...Object.keys(formulas).map((target) => `${target}: ${types[target] ?? 'string'}`),
    ],
    records,
    derivations: () =>
      Object.fromEntries(
        Object.entries(formulas).map(([target, expression]) => [
          `${target}.yaml`,
          { targets: [target], kind: 'sql', expression },
        ]),
      ),
  })
}

test('a formula computes a field from others of the record, without calls', async (t) => {
  const run = await openTowns(
    t,
    { density: 'population / nullif(area, 0)' },
    { types: { density: 'number' } },
  )
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.cost, plan.targets['density']?.compute], [0, 0, 3])
  const { materialized, totalCost } = await run.run({ maxCalls: 0, maxCost: 0 })
  assert.deepEqual([materialized, totalCost], [3, 0])
  assert.deepEqual(
    [await run.value('ulm', 'density'), await run.value('nil', 'density'), await run.value('gap', 'density')],
    [1050, null, null],
  )
  const entry = (await run.entry('ulm', 'density')) ?? {}
  assert.deepEqual([entry['source'], entry['derivation'], entry['cached']], ['sql', 'density.yaml', false])
  assert.deepEqual(evidenceOf(entry), {
    expression: 'population / nullif(area, 0)',
    reads: ['population', 'area'],
  })
  assert.equal((await listRuns(run.sheet, { limit: 1, cursor: null })).runs[0]?.calls, 0)
  assert.deepEqual(await usedResources(run.sheet), [])
})

test('D25: values of a formula are not cached, also where records have equal inputs', async (t) => {
  const run = await openTowns(t, { loud: 'upper(name)' })
  await run.write({ id: 'ulm-2', name: 'Ulm' })
  await run.run()
  for (const id of ['ulm', 'ulm-2']) {
    const { cached, value, input_hash: hash } = (await run.entry(id, 'loud')) ?? {}
    assert.deepEqual([cached, value], [false, 'ULM'])
    const { store } = await run.sheet.deriving()
    assert.equal((await store.cached([String(hash)])).size, 0)
  }
  await run.run({ force: true })
  const plan = await planMaterialize(run.sheet, { ...ALL, force: true })
  assert.deepEqual([plan.targets['loud']?.compute, plan.targets['loud']?.cached], [4, 0])
})

test('D32: a cell is stale when a field changes that its formula reads, and for no other', async (t) => {
  const run = await openTowns(t, {
    loud: 'upper(name)',
    label: perEngine({ sqlite: "loud || ' ' || population", postgres: "loud || ' ' || population::text" }),
  })
  await run.run()
  assert.equal(await run.value('ulm', 'label'), 'ULM 126000')
  await run.write({ id: 'ulm', area: 121 })
  assert.deepEqual(await run.counts('loud'), { fresh: 3 })
  await run.write({ id: 'ulm', name: 'Neu-Ulm' })
  assert.deepEqual(
    [await run.counts('loud'), await run.counts('label')],
    [{ fresh: 2, stale: 1 }, { fresh: 3 }],
  )
  assert.deepEqual((await explainCell(run.sheet, 'loud', 'ulm')).reasons, [
    { part: 'input', field: 'name', was: 'Ulm', is: 'Neu-Ulm' },
  ])
  assert.equal((await run.run()).materialized, 2)
  assert.equal(await run.value('ulm', 'label'), 'NEU-ULM 126000')
})

test('a formula has the values that a query has', async (t) => {
  const formulas = perEngine<Readonly<Record<string, string>>>({
    sqlite: {
      first_tag: 'tags->>0',
      closed: 'NOT open',
      length: 'json_array_length(tags)',
      more: "json_insert(tags, '$[#]', name)",
      next: "date(since, '+1 day')",
      half: 'population / 2',
      info: "json_object('name', name, 'area', area)",
    },
    postgres: {
      first_tag: 'tags->>0',
      closed: 'NOT open',
      length: 'jsonb_array_length(tags)',
      more: 'tags || to_jsonb(name)',
      next: 'since + 1',
      half: 'population / 2',
      info: "jsonb_build_object('name', name, 'area', area)",
    },
  })
  const types = {
    closed: 'boolean',
    length: 'integer',
    more: 'array',
    next: 'date',
    half: 'integer',
    info: 'object',
  }
  const run = await openTowns(t, formulas, { types })
  const { materialized, failures } = await run.run()
  assert.deepEqual([materialized, failures], [21, []])
  const computed = (await run.record('ulm')) as Record<string, unknown>
  assert.deepEqual(
    Object.keys(formulas).map((target) => computed[target]),
    ['a', false, 2, ['a', 'b', 'Ulm'], '1890-06-01', 63_000, { name: 'Ulm', area: 120 }],
  )
  // SQLite has no booleans and no arrays: a query has their numbers and texts where it computes them.
  const same = perEngine({ sqlite: ['first_tag', 'length', 'next', 'half'], postgres: Object.keys(formulas) })
  const columns = same.map((target) => `${formulas[target]} AS ${target}`)
  const sql = `SELECT id, ${columns.join(', ')} FROM records ORDER BY id`
  const { rows } = JSON.parse(String(await runQuery(run.sheet, { sql, params: [] }))) as {
    rows: JsonObject[]
  }
  for (const row of rows) {
    const record = await run.record(String(row['id']))
    assert.deepEqual(Object.fromEntries(Object.keys(row).map((name) => [name, record[name]])), row)
  }
})

test('a record whose formula cannot be computed fails by itself', async (t) => {
  const records = Array.from({ length: 300 }, (_, index) => ({
    id: `t${index}`,
    population: index,
    name: '2024-01-01',
  }))
  const run = await openTowns(
    t,
    perEngine<Readonly<Record<string, string>>>({
      sqlite: { part: "json_extract('[1,2]', iif(population = 270, 'x', '$[0]'))" },
      postgres: { part: '100 / (population - 270)' },
    }),
    { types: { part: 'integer' }, records },
  )
  const { materialized, failures } = await run.run()
  assert.equal(materialized, 299)
  assert.deepEqual(
    failures.map(({ recordId, reason, error }) => [recordId, reason, error]),
    [
      [
        't270',
        'computation',
        perEngine({
          sqlite: `json_extract('[1,2]', iif(population = 270, 'x', '$[0]')) -> bad JSON path: 'x'`,
          postgres: '100 / (population - 270) -> division by zero',
        }),
      ],
    ],
  )
})

test('formulas that fail do not stop a run', async (t) => {
  const run = await openTowns(
    t,
    {
      bad: perEngine({ sqlite: "json_extract('{', '$')", postgres: '(1 / (population - population))::text' }),
      loud: 'upper(id)',
    },
    { records: TOWNS.map((town) => ({ ...town, population: 1 })) },
  )
  const { materialized, failures } = await run.run({ stopAfterFailures: 2 })
  assert.deepEqual([materialized, failures.length], [3, 3])
})

test('a record whose value is too large fails by itself', async (t) => {
  const run = await openTowns(
    t,
    perEngine({
      sqlite: { long: "printf('%.*c', population, 'x')" },
      postgres: { long: "repeat('x', population::integer)" },
    }),
    {
      records: [1, 2_000_000, 3, 700_000, 700_000].map((population, index) => ({
        id: `t${index}`,
        population,
      })),
    },
  )
  const { materialized, failures } = await run.run()
  assert.equal(materialized, 4)
  assert.deepEqual(
    failures.map(({ recordId, error }) => [recordId, error.replace(/^.* -> /, '')]),
    [['t1', 'the value is larger than 1 MiB']],
  )
  assert.equal(String(await run.value('t4', 'long')).length, 700_000)
})

test('a value that the contract refuses fails its cell', async (t) => {
  const run = await openTowns(t, { short: 'name' }, { types: { short: 'integer' } })
  const { materialized, failures } = await run.run()
  assert.deepEqual(
    failures.map(({ recordId, reason }) => [recordId, reason]),
    [
      ['ulm', 'contract'],
      ['nil', 'contract'],
    ],
  )
  assert.equal(materialized, 1)
})

test('a text that stands for the present time fails its cell', async (t) => {
  const run = await openTowns(
    t,
    perEngine<Readonly<Record<string, string>>>({
      sqlite: { day: 'date(name)' },
      postgres: { day: 'name::date' },
    }),
    {
      types: { day: 'date' },
      records: [
        { id: 'a', name: 'now' },
        { id: 'b', name: '2024-02-29' },
      ],
    },
  )
  const { failures } = await run.run()
  assert.equal(await run.value('b', 'day'), '2024-02-29')
  assert.equal(failures.length, 1)
  assert.match(
    failures[0]?.error ?? '',
    /cannot be used in a formula: its value depends on more than the record/,
  )
})

test('a text is what it is where the formula makes no date of it', async (t) => {
  const run = await openTowns(
    t,
    perEngine<Readonly<Record<string, string>>>({
      sqlite: { label: "name || ' ' || strftime('%Y', since)", day: 'date(tags->>0)' },
      postgres: { label: "name || ' ' || extract(year FROM since)", day: '(tags->>0)::date' },
    }),
    {
      types: { day: 'date' },
      records: [
        { id: 'a', name: 'Now', since: '2024-02-29', tags: ['2024-02-29'] },
        { id: 'b', name: 'Today', since: '2023-02-28', tags: ['now'] },
      ],
    },
  )
  const { failures } = await run.run()
  assert.deepEqual(
    [await run.value('a', 'label'), await run.value('b', 'label'), await run.value('a', 'day')],
    ['Now 2024', 'Today 2023', '2024-02-29'],
  )
  assert.deepEqual(
    failures.map(({ recordId, field }) => [recordId, field]),
    [['b', 'day']],
  )
})

test('D20: a file with a broken formula is refused with its line and what to do', async (t) => {
  const run = await openTowns(t, { loud: 'upper(name)' })
  for (const [change, message] of [
    [{ expression: 'upper(nane)' }, /:3: expression cannot be used: .*nane.*; did you mean "name"\?$/],
    [{ expression: 'upper(name' }, /:3: expression cannot be used: /],
    [{ expression: 'random()' }, /:3: expression cannot be used: random\(\) cannot be used in a formula/],
    [{ expression: 'sum(population)' }, /:3: expression cannot be used: .*over several records/],
    ...['(SELECT 1)', '(VALUES (1))', 'FROM records', 'TABLE records'].map(
      (expression) =>
        [
          { expression },
          /:3: expression cannot be used: .*; write a formula over the fields of one record, such as upper\(name\)/,
        ] as const,
    ),
    [{ expression: '  ' }, /:3: expression is "\s*"; write a formula/],
    [{ expression: 7 }, /:3: expression is 7; write a formula/],
    [{ expression: null }, /: expression is missing; write a formula/],
    [
      { expresion: 'x' },
      /:4: unknown key "expresion"; kind sql has expression, output_schema; did you mean "expression"\?$/,
    ],
    [{ targets: ['loud', 'area'] }, /:1: a formula fills one field; write a file for each of loud, area$/],
  ] as const) {
    const file = { targets: ['loud'], kind: 'sql', expression: 'upper(name)', ...change }
    const lines = Object.entries(file).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    await run.edit('derivations/loud.yaml', lines.join(''))
    await assert.rejects(run.sheet.defined(), (error) => {
      assert.ok(error instanceof ContractError, String(error))
      assert.match(error.message, message)
      return true
    })
  }
})
