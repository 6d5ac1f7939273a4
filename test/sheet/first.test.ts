import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { cancelRun } from '../../src/sheet/runs/cancel-run.ts'
import { startMaterialize } from '../../src/sheet/runs/materialize.ts'
import { getRunDetail } from '../../src/sheet/runs/read-runs.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { seededRandom } from '../../src/store/suite/support/random.ts'
import { openAiSheet, PRICE } from '../support/ai-fixture.ts'
import { oddAnswers } from '../support/odd-answers.ts'
import { restoreRecords } from '../../src/sheet/writes/restore-records.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'

const ALL = { targets: null, recordIds: null, force: false }

/** The response of a source for a domain; a status without a body. */
type Answer = string | number | null

interface Given {
  /** By path, such as `/one/a.example`; by default null. */
  readonly answers?: Readonly<Record<string, Answer>>
  readonly steps?: (url: string) => readonly JsonObject[]
  readonly file?: JsonObject
  readonly records?: readonly JsonObject[]
  readonly properties?: readonly string[]
}

function step(url: string, name: string, more: JsonObject = {}): JsonObject {
  return { kind: 'http', url: `${url}/${name}/{{ domain }}`, response_path: 'email', ...more }
}

function twoSteps(url: string): readonly JsonObject[] {
  return [step(url, 'one'), step(url, 'two', { accept: "email LIKE '%@%'" })]
}

async function open(
  t: TestContext,
  given: Given = {},
): Promise<RunSheet & { readonly answers: Map<string, Answer> }> {
  const { steps = twoSteps, file = {} } = given
  const run = await openRunSheet(t, {
    properties: given.properties ?? ['domain: string', 'email: string'],
    records: given.records ?? [
      { id: '1', domain: 'a' },
      { id: '2', domain: 'b' },
      { id: '3', domain: 'c' },
    ],
    derivations: (url) => ({
      'email.yaml': { targets: ['email'], kind: 'first', steps: steps(url), ...file },
    }),
  })
  const answers = new Map(Object.entries(given.answers ?? {}))
  run.api.answer('*', ({ path }) => {
    const answer = answers.get(path) ?? null
    return typeof answer === 'number' ? { json: {}, status: answer } : { json: { email: answer } }
  })
  return Object.assign(run, { answers })
}

function paths({ api }: RunSheet): readonly string[] {
  return api.requests.map(({ path }) => path)
}

test('the first step with a value that is accepted fills the cell; the log names the steps tried', async (t) => {
  const run = await open(t, {
    answers: { '/one/a': 'x@a', '/two/b': 'x@b', '/two/c': 'nobody' },
  })
  const { materialized, failures } = await run.run()
  assert.equal(materialized, 2)
  assert.deepEqual(
    failures.map(({ recordId, error }) => [recordId, error]),
    [['3', 'first of http, http -> 1 http: no value; 2 http: accept is false']],
  )
  assert.deepEqual([await run.value('1', 'email'), await run.value('2', 'email')], ['x@a', 'x@b'])
  assert.deepEqual(paths(run).toSorted(), ['/one/a', '/one/b', '/one/c', '/two/b', '/two/c'])
  const entry = (await run.entry('2', 'email')) ?? {}
  assert.equal(entry['source'], 'first')
  assert.equal(entry['step'], 2)
  assert.equal(entry['cached'], false)
  assert.equal(entry['status'], 200)
  assert.deepEqual(entry['steps'], [
    { step: 1, kind: 'http', outcome: 'null', cost: null },
    { step: 2, kind: 'http', outcome: 'accepted', cost: null },
  ])
})

test('a failed cell is tried again, and steps that brought null or a refused value are not called again', async (t) => {
  const run = await open(t, {
    answers: { '/one/a': 500, '/two/a': 'nobody', '/one/b': 'x@b', '/one/c': 'x@c' },
  })
  await run.edit('transport.yaml', `hosts: {'*': {retries: 0}}\n`)
  await run.run()
  const before = paths(run).length
  run.answers.set('/one/a', 'x@a')
  const { materialized } = await run.run()
  assert.equal(materialized, 1)
  assert.deepEqual(paths(run).slice(before), ['/one/a'])
})

test('an edit of a step makes only cells stale that reached it, and takes only its own calls', async (t) => {
  const run = await open(t, { answers: { '/one/a': 'x@a', '/two/b': 'x@b', '/two/c': 'x@c' } })
  await run.run()
  const { url } = run.api
  const edit = (steps: readonly JsonObject[]): Promise<void> =>
    run.edit('derivations/email.yaml', JSON.stringify({ targets: ['email'], kind: 'first', steps }))
  await edit([step(url, 'one'), step(url, 'new')])
  assert.deepEqual(await run.counts('email'), { fresh: 1, stale: 2 })
  run.answers.set('/new/b', 'y@b')
  run.api.requests.length = 0
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.targets['email']?.compute, plan.atMost], [2, 2, false])
  await run.run()
  assert.deepEqual(paths(run).toSorted(), ['/new/b', '/new/c'])
  assert.deepEqual([await run.value('2', 'email'), await run.value('3', 'email')], ['y@b', null])
  // A comment, or the order of keys, is no edit of a step.
  await edit([{ ...step(url, 'one') }, Object.fromEntries(Object.entries(step(url, 'new')).toReversed())])
  assert.deepEqual(await run.counts('email'), { fresh: 3 })
  // A cell for which no step had a value reaches a new step at the end.
  await edit([step(url, 'one'), step(url, 'new'), step(url, 'last')])
  assert.deepEqual(await run.counts('email'), { fresh: 2, stale: 1 })
  await edit([step(url, 'other'), step(url, 'new')])
  assert.deepEqual(await run.counts('email'), { stale: 3 })
})

test('calls of all steps count towards max_cost, and the plan is an upper bound', async (t) => {
  const run = await open(t, { answers: { '/two/a': 'x@a', '/two/b': 'x@b', '/two/c': 'x@c' } })
  await run.edit('transport.yaml', `hosts: {'*': {cost_per_call: 0.01}}\n`)
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.cost, plan.atMost], [6, 0.06, true])
  const bounded = await planMaterialize(run.sheet, { ...ALL, maxCost: 0.05 })
  assert.deepEqual([bounded.calls, bounded.cost], [5, 0.05])
  const { totalCost } = await run.start({ maxCost: 0.05 })
  assert.ok(totalCost <= 0.05)
  assert.equal(Math.round(totalCost * 100), paths(run).length)
  const { totalCost: rest } = await run.start({})
  assert.equal(Math.round((totalCost + rest) * 100), 6)
  assert.deepEqual(await run.counts('email'), { fresh: 3 })
})

test('a step that this machine does not carry out stops the cell, and no later step is called instead', async (t) => {
  const run = await open(t, {
    answers: { '/one/a': 401, '/one/b': 403, '/one/c': null, '/two/c': 'x@c' },
  })
  const { materialized, failures } = await run.run({ stopAfterFailures: null })
  assert.equal(materialized, 1)
  assert.deepEqual(
    new Map(failures.map(({ recordId, error }) => [recordId, error])),
    new Map([
      ['1', 'first of http, http -> step 1 (http): 401'],
      ['2', 'first of http, http -> step 1 (http): 403'],
    ]),
  )
  assert.deepEqual(paths(run).toSorted(), ['/one/a', '/one/b', '/one/c', '/two/c'])
  // What is in the cache needs no call.
  run.answers.set('/one/a', null)
  run.answers.set('/two/a', 'x@a')
  await run.run({ stopAfterFailures: null })
  assert.equal(await run.value('1', 'email'), 'x@a')
})

test('a host that is not allowed stops the cells that need it, and earlier steps are carried out', async (t) => {
  const run = await open(t, {
    answers: { '/one/a': 'x@a' },
    steps: (url) => [
      step(url, 'one'),
      step('http://169.254.169.254', 'two', { headers: { Authorization: '{{ env.COLOPHON_TEST_UNSET }}' } }),
      step(url, 'three'),
    ],
  })
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.targets['email']?.compute], [3, 3])
  const { materialized, failures } = await run.run()
  assert.equal(materialized, 1)
  assert.match(failures[0]?.error ?? '', /-> step 2 \(http\): 169\.254\.169\.254 is a link-local/)
  assert.equal(failures[0]?.reason, 'step_not_made')
  assert.deepEqual(paths(run).toSorted(), ['/one/a', '/one/b', '/one/c'])
  const again = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([again.calls, again.targets['email']], [0, { compute: 0, cached: 0, skipped: 3 }])
})

test('D23: a missing secret of a later step refuses the run before any call', async (t) => {
  const headers = { Authorization: '{{ env.COLOPHON_TEST_UNSET }}' }
  const run = await open(t, { steps: (url) => [step(url, 'one'), step(url, 'two', { headers })] })
  await assert.rejects(run.start(), /COLOPHON_TEST_UNSET/)
  assert.deepEqual(paths(run), [])
})

test('steps of other kinds: a look-up, a formula and an API, each with its own inputs and sources', async (t) => {
  const run = await open(t, {
    properties: ['domain: string', 'name: string', 'email: string'],
    records: [
      { id: '1', domain: 'a' },
      { id: '2', domain: 'b', name: 'bea' },
      { id: '3', domain: 'c' },
      { id: '4', name: 'dan' },
    ],
    answers: { '/one/c': 'x@c' },
    steps: (url) => [
      {
        kind: 'import',
        source: 'refs/known.csv',
        key_field: 'domain',
        match: 'domain',
        value_field: 'email',
      },
      { kind: 'sql', expression: "name || '@names.example'", accept: "length(name) < 4 AND domain <> 'zz'" },
      step(url, 'one'),
    ],
  })
  await mkdir(join(run.directory, 'refs'))
  await run.edit('refs/known.csv', 'domain,email\na,table@a\n')
  const { materialized, failures } = await run.run()
  assert.deepEqual([materialized, failures.length], [3, 1])
  const values = await Promise.all(['1', '2', '3', '4'].map((id) => run.value(id, 'email')))
  assert.deepEqual(values, ['table@a', 'bea@names.example', 'x@c', null])
  assert.match(
    failures[0]?.error ?? '',
    /1 import: domain has no value; 2 sql: accept is null; 3 http: domain/,
  )
  assert.deepEqual(paths(run), ['/one/c'])
  const entry = (await run.entry('1', 'email')) ?? {}
  assert.deepEqual([entry['step'], entry['table'], entry['cached']], [1, 'refs/known.csv', false])
  // Only the cells that the changed rows decide on are stale.
  await run.edit('refs/known.csv', 'domain,email\na,table@a\nc,table@c\nz,table@z\n')
  assert.deepEqual(await run.counts('email'), { fresh: 2, stale: 1, failed: 1 })
  await run.run()
  assert.equal(await run.value('3', 'email'), 'table@c')
  // A write of a field that only a later step reads changes nothing for the cells before it.
  await run.write({ id: '1', name: 'ann' })
  const { materialized: written } = await run.run({ recordIds: ['1'] })
  assert.deepEqual([written, await run.value('1', 'email')], [0, 'table@a'])
  assert.deepEqual(paths(run), ['/one/c'])
  // A missing table is no reason to call somebody instead.
  await run.edit('refs/known.csv', null)
  await run.run({ force: true })
  assert.deepEqual(await run.counts('email'), { failed: 4 })
  assert.deepEqual(paths(run), ['/one/c'])
})

test('max_cost_per_record: a step that may exceed the bound of its record ends the cell', async (t) => {
  const run = await open(t, {
    answers: { '/one/a': 'x@a', '/two/b': 'x@b', '/three/c': 'x@c' },
    steps: (url) => [step(url, 'one'), step(url, 'two'), step(url, 'three')],
    file: { max_cost_per_record: 0.025 },
  })
  await run.edit('transport.yaml', `hosts: {'*': {cost_per_call: 0.01}}\n`)
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.cost, plan.atMost], [9, 0.075, true])
  const { materialized, failures, totalCost } = await run.run()
  assert.deepEqual([materialized, totalCost], [2, 0.05])
  assert.deepEqual(
    failures.map(({ error, reason }) => [error, reason]),
    [
      [
        'first of http, http, http -> 1 http: no value ($0.01); 2 http: no value ($0.01); ' +
          'step 3 (http) may cost $0.01, and $0.005 of max_cost_per_record is left',
        'cost_per_record',
      ],
    ],
  )
  assert.deepEqual(((await run.entry('2', 'email')) ?? {})['steps'], [
    { step: 1, kind: 'http', outcome: 'null', cost: 0.01 },
    { step: 2, kind: 'http', outcome: 'accepted', cost: 0.01 },
  ])
  // The steps of the failed cell are in the cache: what is left is enough now.
  assert.deepEqual([(await run.run()).totalCost, await run.value('3', 'email')], [0.01, 'x@c'])
})

test('records with equal inputs of a step share its call, and only one of them pays', async (t) => {
  const run = await open(t, {
    properties: ['domain: string', 'name: string', 'email: string'],
    records: Array.from({ length: 20 }, (_, index) => ({
      id: `${index}`,
      domain: 'a',
      name: `n${index % 4}`,
    })),
    steps: (url) => [
      step(url, 'one'),
      { kind: 'http', url: `${url}/two/{{ name }}`, response_path: 'email' },
    ],
    answers: { '/two/n0': 'x@0', '/two/n1': 'x@1', '/two/n2': 'x@2', '/two/n3': 'x@3' },
  })
  await run.edit('transport.yaml', `hosts: {'*': {cost_per_call: 0.01}}\n`)
  const { materialized, totalCost } = await run.run()
  assert.deepEqual([materialized, totalCost], [20, 0.05])
  // Which record is first is up to the store; records with all inputs equal may share a computation.
  const paid = [new Set<number>(), new Set<number>()]
  for (let id = 0; id < 20; id += 1) {
    const steps = ((await run.entry(`${id}`, 'email')) ?? {})['steps'] as readonly JsonObject[]
    for (const [index, { cost }] of steps.entries()) if (cost === 0.01) paid[index]?.add(id % 4)
  }
  assert.deepEqual(
    paid.map(({ size }) => size),
    [1, 4],
  )
  assert.deepEqual(paths(run).toSorted(), ['/one/a', '/two/n0', '/two/n1', '/two/n2', '/two/n3'])
})

test('two targets: a step is accepted with a value for one of them, unless accept demands both', async (t) => {
  const both = (url: string): readonly JsonObject[] =>
    ['one', 'two'].map((name) => ({
      kind: 'http',
      url: `${url}/${name}/{{ domain }}`,
      response_schema: { email: 'email', phone: 'phone' },
      ...(name === 'one' && { accept: 'email IS NOT NULL AND phone IS NOT NULL' }),
    }))
  const run = await open(t, {
    properties: ['domain: string', 'email: string', 'phone: string'],
    records: [{ id: '1', domain: 'a' }],
    file: { targets: ['email', 'phone'] },
    steps: both,
  })
  run.api.answer('*', ({ path }) => ({
    json: path === '/one/a' ? { email: 'x', phone: null } : { email: null, phone: '1' },
  }))
  await run.run()
  assert.deepEqual(await run.record('1'), { id: '1', domain: 'a', email: null, phone: '1' })
})

test('a value that the contract refuses passes on, and so does one that violates it for some targets', async (t) => {
  const run = await open(t, {
    properties: ['domain: string', '{name: email, logicalType: string, logicalTypeOptions: {minLength: 4}}'],
    records: [{ id: '1', domain: 'a' }],
    answers: { '/one/a': 'x', '/two/a': 'long@a' },
  })
  await run.run()
  assert.equal(await run.value('1', 'email'), 'long@a')
  const [first] = ((await run.entry('1', 'email')) ?? {})['steps'] as readonly JsonObject[]
  assert.deepEqual(first?.['outcome'], 'refused')
  // The refused value is in the cache: a contract that allows it takes no call.
  await run.edit('contract.yaml', (text) => text.replace('minLength: 4', 'minLength: 1'))
  const steps = [step(run.api.url, 'one'), step(run.api.url, 'new')]
  await run.edit('derivations/email.yaml', JSON.stringify({ targets: ['email'], kind: 'first', steps }))
  run.api.requests.length = 0
  await run.run()
  assert.deepEqual([paths(run), await run.value('1', 'email')], [[], 'x'])
})

test('a field that only a condition reads decides whether a value is accepted, for each record by itself', async (t) => {
  const run = await open(t, {
    properties: ['domain: string', 'country: string', 'email: string'],
    records: [
      { id: '1', domain: 'a', country: 'ch' },
      { id: '2', domain: 'a', country: 'de' },
    ],
    steps: (url) => [
      {
        kind: 'import',
        source: 'known.csv',
        key_field: 'domain',
        match: 'domain',
        value_field: 'email',
        accept: "email LIKE '%.' || country",
      },
      step(url, 'two'),
    ],
    answers: { '/two/a': 'x@two' },
  })
  await run.edit('known.csv', 'domain,email\na,x@a.ch\n')
  const values = (): Promise<readonly unknown[]> =>
    Promise.all(['1', '2'].map((id) => run.value(id, 'email')))
  await run.run()
  assert.deepEqual(await values(), ['x@a.ch', 'x@two'])
  await run.write({ id: '1', country: 'de' }, { id: '2', country: 'ch' })
  assert.deepEqual(await run.counts('email'), { stale: 2 })
  await run.run()
  assert.deepEqual(await values(), ['x@two', 'x@a.ch'])
  assert.deepEqual(paths(run), ['/two/a'])
  // A restored record has a fresh value only if its condition still has the same values.
  await run.delete('1')
  await restoreRecords(run.sheet, { records: [{ recordId: '1', seq: null }], actor: 'user:ann' })
  assert.deepEqual(await run.counts('email'), { fresh: 2 })
})

/** Opens a sheet whose second step costs more than a record has left after the first. */
async function openBounded(t: TestContext, records: readonly JsonObject[]): ReturnType<typeof open> {
  const run = await open(t, {
    properties: ['domain: string', 'name: string', 'email: string'],
    records,
    steps: (url) => [
      step(url, 'one'),
      {
        kind: 'http',
        url: `${url.replace('127.0.0.1', 'localhost')}/two/{{ name }}`,
        response_path: 'email',
      },
    ],
    file: { max_cost_per_record: 0.02 },
    answers: { '/two/n': 'x@n' },
  })
  await run.edit(
    'transport.yaml',
    `hosts: {127.0.0.1: {cost_per_call: 0.01}, localhost: {cost_per_call: 0.02}}\n`,
  )
  return run
}

test('the plan is an upper bound if records share a step and have different amounts left', async (t) => {
  const run = await openBounded(t, [
    { id: '1', domain: 'a', name: 'n' },
    { id: '2', name: 'n' },
  ])
  const plan = await planMaterialize(run.sheet, ALL)
  const { totalCost } = await run.start({})
  assert.deepEqual([plan.calls, plan.cost, totalCost], [2, 0.03, 0.03])
})

test('max_cost_per_record: a call under way for another record costs nothing', async (t) => {
  const run = await openBounded(t, [
    { id: '1', name: 'n' },
    { id: '2', domain: 'a', name: 'n' },
  ])
  const hold = run.api.hold('/two/n')
  const { id, done } = await startMaterialize(run.sheet, { ...ALL, actor: 'agent:runner' })
  await hold.arrived()
  // The second record needs the call as soon as the result of its first step is stored and counted.
  for (;;) {
    const { steps } = await getRunDetail(run.sheet, id)
    if (steps.length > 0) break
  }
  hold.release()
  await done
  assert.deepEqual(await run.counts('email'), { fresh: 2 })
})

test('a plan has no calls behind a step that cannot be carried out', async (t) => {
  const run = await open(t, {
    steps: (url) => [
      { kind: 'import', source: 'gone.csv', key_field: 'domain', match: 'domain', value_field: 'email' },
      step(url, 'two'),
    ],
  })
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.targets['email']], [0, { compute: 0, cached: 0, skipped: 3 }])
  await run.run()
  assert.deepEqual([paths(run), await run.counts('email')], [[], { failed: 3 }])
})

test('the counts of a run have each step that it paid for, also of cells that it leaves and that stop', async (t) => {
  const run = await open(t, { answers: { '/one/a': 401 } })
  await run.edit('transport.yaml', `hosts: {'*': {cost_per_call: 0.01}}\n`)
  const { totalCost } = await run.start({ maxCost: 0.03, stopAfterFailures: null })
  const { steps } = await getRunDetail(run.sheet, '1')
  assert.equal(Math.round(steps.reduce((sum, { cost }) => sum + cost, 0) * 100), Math.round(totalCost * 100))
  assert.equal(steps[0]?.results, 3)
})

test('a call of a step whose cost is not known is counted as such, and not as free', async (t) => {
  const run = await open(t, { answers: { '/one/a': 'x@a', '/two/b': 'x@b' } })
  const { hostname } = new URL(run.api.url)
  await run.edit('transport.yaml', `hosts: {${hostname}: {retries: 0}}\n`)
  await run.run()
  const counts = (await getRunDetail(run.sheet, '1')).steps
  assert.deepEqual(
    counts.map(({ step: number, cost, unpricedCalls }) => [number, cost, unpricedCalls]),
    [
      [1, 0, 3],
      [2, 0, 2],
    ],
  )
})

test('the plan has a range, and the expected calls once there are 20 results of each step', async (t) => {
  const ids = Array.from({ length: 40 }, (_, index) => `${index}`)
  const answers = Object.fromEntries(
    ids.flatMap((id) => [[Number(id) % 4 === 0 ? `/one/${id}` : `/two/${id}`, `x@${id}`] as const]),
  )
  const run = await open(t, { records: ids.map((id) => ({ id, domain: id })), answers })
  await run.edit('transport.yaml', `hosts: {'*': {cost_per_call: 0.01}}\n`)
  const [known, rest] = [ids.slice(0, 28), ids.slice(28)]
  const before = await planMaterialize(run.sheet, { ...ALL, recordIds: rest })
  assert.deepEqual(before.range, { least: { calls: 12, cost: 0.12 } })
  assert.deepEqual([before.calls, before.cost], [24, 0.24])
  await run.run({ recordIds: known })
  const after = await planMaterialize(run.sheet, { ...ALL, recordIds: rest })
  // A quarter of the results of the first step was accepted.
  assert.deepEqual(after.range, {
    least: { calls: 12, cost: 0.12 },
    expected: { calls: 21, cost: 0.21, results: 49 },
  })
  const { totalCost } = await run.run({ recordIds: rest })
  assert.equal(totalCost, 0.21)
  const stepOf = (number: number, results: number, accepted: number): JsonObject => {
    const cost = Math.round(results) / 100
    return { derivation: 'email.yaml', step: number, kind: 'http', results, accepted, cost, unpricedCalls: 0 }
  }
  assert.deepEqual((await getRunDetail(run.sheet, '1')).steps, [stepOf(1, 28, 7), stepOf(2, 21, 21)])
  assert.deepEqual((await getRunDetail(run.sheet, '2')).steps, [stepOf(1, 12, 3), stepOf(2, 9, 9)])
})

test('the expected calls of records that wait for an earlier field are weighed by step as well', async (t) => {
  const ids = Array.from({ length: 40 }, (_, index) => `${index}`)
  const answers = Object.fromEntries(
    ids.flatMap((id) => [[Number(id) % 4 === 0 ? `/one/${id}` : `/two/${id}`, `x@${id}`] as const]),
  )
  const run = await open(t, {
    properties: ['name: string', 'domain: string', 'email: string'],
    records: ids.map((id) => ({ id, name: id })),
    answers,
  })
  await run.edit('transport.yaml', `hosts: {'*': {cost_per_call: 0.01}}\n`)
  await run.edit(
    'derivations/domain.yaml',
    JSON.stringify({ targets: ['domain'], kind: 'sql', expression: 'name' }),
  )
  const [known, rest] = [ids.slice(0, 28), ids.slice(28)]
  const before = await planMaterialize(run.sheet, { ...ALL, recordIds: rest })
  assert.deepEqual([before.calls, before.range], [24, { least: { calls: 0, cost: 0 } }])
  await run.run({ recordIds: known })
  const after = await planMaterialize(run.sheet, { ...ALL, recordIds: rest })
  assert.deepEqual([after.calls, after.range?.expected], [24, { calls: 21, cost: 0.21, results: 49 }])
})

test('a cancelled run, and a write during a step, are no failure of the step: the next one is not called', async (t) => {
  const run = await open(t, { records: [{ id: '1', domain: 'a' }], answers: { '/one/b': 'x@b' } })
  const hold = run.api.hold('/one/a')
  const { id, done } = await startMaterialize(run.sheet, { ...ALL, actor: 'agent:runner' })
  await hold.arrived()
  await cancelRun(run.sheet, id, 'user:ann')
  await done.catch(() => undefined)
  assert.deepEqual(await run.counts('email'), { missing: 1 })
  hold.release()
  run.api.requests.length = 0
  await run.write({ id: '1', domain: 'c' })
  const again = run.api.hold('/one/c')
  const ended = run.start({})
  await again.arrived()
  await run.write({ id: '1', domain: 'b' })
  again.release()
  await ended
  // The value of a step that was under way belongs to the old inputs.
  assert.equal(await run.value('1', 'email'), null)
  await run.run()
  assert.equal(await run.value('1', 'email'), 'x@b')
})

test('reuse_responses: a step takes kept responses instead of calls', async (t) => {
  const run = await open(t, { answers: { '/one/a': 'x@a', '/two/b': 'x@b', '/two/c': 'nobody' } })
  await run.run()
  const { url } = run.api
  const steps = [step(url, 'one', { accept: "email LIKE '%@%'" }), step(url, 'two')]
  await run.edit('derivations/email.yaml', JSON.stringify({ targets: ['email'], kind: 'first', steps }))
  run.api.requests.length = 0
  const plan = await planMaterialize(run.sheet, { ...ALL, force: true, reuseResponses: true })
  // The condition of the first step may refuse the value of the first record.
  assert.equal(plan.calls, 1)
  await run.run({ force: true, reuseResponses: true })
  assert.deepEqual(paths(run), [])
  const entry = (await run.entry('1', 'email')) ?? {}
  assert.deepEqual([entry['step'], entry['cached'], typeof entry['received_at']], [1, true, 'string'])
  assert.equal(await run.value('3', 'email'), 'nobody')
})

test('D32: the explanation of a stale cell names the step that is another one', async (t) => {
  const run = await open(t, { answers: { '/one/a': 'x@a', '/two/b': 'x@b' } })
  await run.run()
  const { url } = run.api
  const steps = [step(url, 'one'), step(url, 'new')]
  await run.edit('derivations/email.yaml', JSON.stringify({ targets: ['email'], kind: 'first', steps }))
  const { reasons } = await explainCell(run.sheet, 'email', '2')
  assert.deepEqual(
    reasons.map((reason) => (reason.part === 'member' ? reason.name : reason.part)),
    ['derivation', 'step_2'],
  )
  await run.write({ id: '1', domain: 'c' })
  assert.deepEqual(
    (await explainCell(run.sheet, 'email', '1')).reasons.map(({ part }) => part),
    ['input', 'member', 'member'],
  )
})

test('steps of models: the cost of a run is the bill, and no record exceeds its bound, whatever the answers', async (t) => {
  const random = seededRandom(7)
  const model = { kind: 'ai', model: 'small', max_output_tokens: 40 }
  const { run, server } = await openAiSheet(t, {
    companies: Array.from({ length: 15 }, (_, index) => `Company ${index}`),
    answer: oddAnswers(random),
    file: {
      kind: 'first',
      model: null,
      prompt: null,
      max_output_tokens: null,
      steps: ['One', 'Two', 'Three'].map((name) => ({
        ...model,
        prompt: `${name}: {{ company }}`,
        ...(name === 'One' && { accept: 'staff > 20' }),
      })),
      max_cost_per_record: 0.000_85,
    },
  })
  await run.edit('transport.yaml', `hosts: {'*': {retries: 0}}\n`)
  const plan = await planMaterialize(run.sheet, ALL)
  assert.ok(plan.estimate !== undefined && plan.cost <= 15 * 0.000_85, `${plan.cost}`)
  const { totalCost, failures } = await run.start({ stopAfterFailures: null })
  const billed = Number(server.billionths(PRICE)) / 1e9
  assert.ok(billed <= totalCost && totalCost <= plan.cost, `${billed} of ${totalCost} of ${plan.cost}`)
  assert.ok(failures.some(({ reason }) => reason === 'cost_per_record'))
  assert.ok(failures.length < 30, 'some records have a value')
  for (const { id } of Array.from({ length: 15 }, (_, index) => ({ id: `${index + 1}` }))) {
    const steps = ((await run.entry(id, 'staff')) ?? {})['steps'] as readonly JsonObject[] | undefined
    const spent = (steps ?? []).reduce((sum, { cost }) => sum + Math.round(Number(cost ?? 0) * 1e9), 0)
    assert.ok(spent <= 850_000, `${id}: ${spent}`)
  }
  await run.edit('derivations/company.yaml', (text) => text.replace('0.00085', '0.0001'))
  const tooDear = await planMaterialize(run.sheet, { ...ALL, force: true })
  assert.deepEqual([tooDear.calls, tooDear.targets['staff']], [0, { compute: 0, cached: 0, skipped: 15 }])
})

test('keep_fresh marks the values of an edited step as fresh, and a restored record has a fresh value', async (t) => {
  const run = await open(t, { answers: { '/one/a': 'x@a', '/two/b': 'x@b' } })
  await run.run()
  const calls = paths(run).length
  const { url } = run.api
  const steps = [step(url, 'one', { headers: { 'X-Note': 'edited' } }), step(url, 'two')]
  await run.edit('derivations/email.yaml', JSON.stringify({ targets: ['email'], kind: 'first', steps }))
  assert.deepEqual(await run.counts('email'), { stale: 3 })
  await run.run({ keepFresh: 'email.yaml' })
  assert.deepEqual(await run.counts('email'), { fresh: 3 })
  assert.equal((await run.run()).materialized, 0)
  await run.delete('1')
  await restoreRecords(run.sheet, { records: [{ recordId: '1', seq: null }], actor: 'user:ann' })
  assert.deepEqual(await run.counts('email'), { fresh: 3 })
  assert.equal(paths(run).length, calls)
})

test('keep_fresh: a look-up is a step like any other, and later steps than the accepted one leave a kept value fresh', async (t) => {
  const lookUp = {
    kind: 'import',
    source: 'known.csv',
    key_field: 'domain',
    match: 'domain',
    value_field: 'email',
  }
  const run = await open(t, {
    answers: { '/one/b': 'x@b', '/two/c': 'x@c' },
    steps: (url) => [lookUp, step(url, 'one'), step(url, 'two')],
  })
  await run.edit('known.csv', 'domain,email\na,table@a\n')
  await run.run()
  assert.deepEqual(await run.counts('email'), { fresh: 3 })
  const edit = (one: string, two: string, more: readonly JsonObject[] = []): Promise<void> => {
    const noted = (name: string, note: string): JsonObject =>
      step(run.api.url, name, { headers: { 'X-Note': note } })
    const steps = [lookUp, noted('one', one), noted('two', two), ...more]
    return run.edit('derivations/email.yaml', JSON.stringify({ targets: ['email'], kind: 'first', steps }))
  }
  await edit('edited', 'edited')
  assert.deepEqual(await run.counts('email'), { fresh: 1, stale: 2 })
  await run.run({ keepFresh: 'email.yaml' })
  assert.deepEqual(await run.counts('email'), { fresh: 3 })
  await edit('edited', 'again')
  assert.deepEqual(await run.counts('email'), { fresh: 2, stale: 1 })
  await run.run({ keepFresh: 'email.yaml' })
  // A row that is another one brings another value.
  await run.edit('known.csv', 'domain,email\na,other@a\n')
  await edit('once more', 'again')
  await run.run({ keepFresh: 'email.yaml' })
  assert.deepEqual(await run.counts('email'), { fresh: 2, stale: 1 })
  assert.equal((await run.run()).materialized, 1)
  assert.equal(await run.value('1', 'email'), 'other@a')
})
