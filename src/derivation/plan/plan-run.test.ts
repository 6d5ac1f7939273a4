import assert from 'node:assert/strict'
import { test } from 'node:test'
import { err, ok } from '../../errors/result.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import { runDerivations } from '../testing/run-derivations.ts'
import { KEPT_AT, MemoryStore } from '../testing/memory-store.ts'
import { planRun } from './plan-run.ts'
import type { PlanRequest, RunPlan } from '../run-request.ts'
import { testDerivations, testRequest, TestKind, type TestSpec } from '../testing/test-run.ts'

/** A sheet in memory, with its derivations. */
class PlanSheet {
  readonly kind = new TestKind()
  readonly derivations: readonly Derivation[]
  readonly store: MemoryStore

  constructor(...specs: readonly TestSpec[]) {
    this.derivations = testDerivations(this.kind, specs)
    this.store = new MemoryStore(this.derivations)
  }

  request(changes: Partial<PlanRequest> = {}): ReturnType<typeof testRequest> {
    const { store: _, ...rest } = changes
    return testRequest(this.store, this.derivations, rest)
  }

  plan(changes: Partial<PlanRequest> = {}): Promise<RunPlan> {
    return planRun(this.request(changes))
  }

  async run(changes: Partial<PlanRequest> = {}): Promise<number> {
    const before = this.kind.calls.length
    await runDerivations(this.request(changes))
    return this.kind.calls.length - before
  }
}

const B: TestSpec = { file: 'b', targets: ['b'], inputs: ['x'], price: 0.1 }
const C: TestSpec = { file: 'c', targets: ['c'], inputs: ['b'], price: 0.5 }
const D: TestSpec = { file: 'd', targets: ['d'], inputs: ['c'], price: 0.1 }
const LEFT = { compute: 0, cached: 0 }
/** One call that a kept response replaces. */
const KEPT = { calls: 1, oldest: KEPT_AT, newest: KEPT_AT }

test('a plan counts the cells of each target by their outcome, equal calls once, and changes nothing', async () => {
  const sheet = new PlanSheet({ file: 'bc', targets: ['b', 'c'], inputs: ['x'], price: 0.25 })
  sheet.store.write('known', { x: 'known' })
  await sheet.run()
  sheet.store.write('cached', { x: 'known' })
  sheet.store.write('same call', { x: 'one' })
  sheet.store.write('and again', { x: 'one' })
  sheet.store.write('other call', { x: 'two' })
  sheet.store.write('by hand', { x: 'three', b: 'mine' })
  sheet.store.write('blocked', {})
  sheet.store.write('fails', { x: '..' })
  const [calls, commits] = [sheet.kind.calls.length, sheet.store.commits.length]
  assert.deepEqual(await sheet.plan(), {
    targets: {
      b: { compute: 3, cached: 1, skipped: 4, blocked: { input_empty: 1 }, manualLeft: 1 },
      c: { compute: 4, cached: 1, skipped: 3, blocked: { input_empty: 1 } },
    },
    calls: 3,
    cost: 0.75,
    manualLeft: 1,
    atMost: false,
  })
  assert.deepEqual([sheet.kind.calls.length, sheet.store.commits.length], [calls, commits])
  const force = await sheet.plan({ force: true, targets: new Set(['b']) })
  assert.deepEqual(force, {
    targets: {
      b: { compute: 5, cached: 0, skipped: 3, blocked: { input_empty: 1 }, kept: KEPT, manualLeft: 1 },
    },
    calls: 3,
    cost: 0.75,
    manualLeft: 1,
    atMost: false,
  })
  const overwriting = await sheet.plan({ force: true, targets: new Set(['b']), overwritable: new Set(['b']) })
  assert.deepEqual(overwriting, {
    targets: {
      b: { compute: 6, cached: 0, skipped: 2, blocked: { input_empty: 1 }, kept: KEPT, manualOverwritten: 1 },
    },
    calls: 4,
    cost: 1,
    manualOverwritten: 1,
    atMost: false,
  })
  assert.equal(await sheet.run(), 3)
})

test('D25: cells with the inputs of their last computation are skipped, in a plan too', async () => {
  const sheet = new PlanSheet(B)
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  sheet.store.write('1', { x: 'other' })
  sheet.store.write('1', { x: 'one' })
  assert.equal(sheet.store.state(1, 'b'), 'stale')
  assert.deepEqual((await sheet.plan()).targets, { b: { ...LEFT, skipped: 1 } })
})

test('D26: a cached value that the present contract refuses counts as a call', async () => {
  const sheet = new PlanSheet(B)
  sheet.store.write('1', { x: 'long' })
  await sheet.run()
  sheet.store.write('2', { x: 'long' })
  const { contract } = sheet.request()
  const fields = contract.fields.map((field) => ({ ...field, options: { maxLength: 3 } }))
  const strict = { ...contract, fields, fieldByName: new Map(fields.map((field) => [field.name, field])) }
  assert.deepEqual((await sheet.plan()).targets, { b: { compute: 0, cached: 1, skipped: 1 } })
  assert.deepEqual((await sheet.plan({ contract: strict })).targets, {
    b: { compute: 1, cached: 0, skipped: 1, kept: KEPT },
  })
})

test('if the run computes inputs, each record counts as one call, an upper bound, also two steps away', async () => {
  const sheet = new PlanSheet(B, C, D)
  for (const id of ['1', '2', '3']) sheet.store.write(id, { x: 'same' })
  assert.deepEqual(await sheet.plan(), {
    targets: {
      b: { compute: 3, cached: 0, skipped: 0 },
      c: { compute: 3, cached: 0, skipped: 0 },
      d: { compute: 3, cached: 0, skipped: 0 },
    },
    calls: 1 + 3 + 3,
    cost: 1.9,
    atMost: true,
  })
  assert.equal(await sheet.run(), 3)

  // Cells that are fresh now become stale in the run; records whose inputs are unchanged are not part of it.
  sheet.store.write('2', { x: 'new' })
  sheet.store.write('4', { x: 'same', c: 'by hand' })
  const { targets, calls, atMost } = await sheet.plan()
  assert.deepEqual(targets, {
    b: { compute: 1, cached: 1, skipped: 2 },
    c: { compute: 1, cached: 0, skipped: 3, manualLeft: 1 },
    d: { compute: 2, cached: 0, skipped: 2 },
  })
  // d of record 4 is certain, since its input was written by hand.
  assert.deepEqual([calls, atMost], [1 + 1 + 2, true])
  // Targets that are not selected are not computed, so that nothing is open.
  assert.deepEqual(await sheet.plan({ targets: new Set(['d']) }), {
    targets: { d: { compute: 1, cached: 0, skipped: 3 } },
    calls: 1,
    cost: 0.1,
    atMost: false,
  })
})

test('D22: a record that an input other than the computed one blocks is certainly skipped', async () => {
  const sheet = new PlanSheet(B, { file: 'e', targets: ['e'], inputs: ['b', 'y'] })
  sheet.store.write('1', { x: 'one' })
  assert.deepEqual(await sheet.plan(), {
    targets: {
      b: { compute: 1, cached: 0, skipped: 0 },
      e: { ...LEFT, skipped: 1, blocked: { input_empty: 1 } },
    },
    calls: 1,
    cost: 0.1,
    atMost: false,
  })
  sheet.store.write('1', { y: 'two' })
  assert.deepEqual((await sheet.plan()).calls, 2)
})

test('a call whose inputs make no plan yet has the price of one with placeholders', async () => {
  const sheet = new PlanSheet(B, { file: 'e', targets: ['e'], inputs: ['b', 'y'], price: 7 })
  sheet.store.write('no value', { x: 'one', y: 'two' })
  sheet.store.write('a value that makes no request', { x: 'one', y: 'two', b: '..' })
  sheet.store.write('a value that makes no request', { b: null })
  sheet.store.write('another input makes no request', { x: 'one', y: '..' })
  assert.deepEqual((await sheet.plan()).cost, 0.1 + 3 * 7)
})

test('D27: cells computed from cells that fail without a call are skipped', async () => {
  const sheet = new PlanSheet(B, { ...C, needed: [] }, { ...D, needed: [] })
  sheet.store.write('1', { x: '..' })
  assert.deepEqual(await sheet.plan(), {
    targets: { b: { ...LEFT, skipped: 1 }, c: { ...LEFT, skipped: 1 }, d: { ...LEFT, skipped: 1 } },
    calls: 0,
    cost: 0,
    atMost: false,
  })
  assert.equal(await sheet.run(), 0)
})

test('D27: a fresh cell with one failing and one computed input may become stale, which is uncertain', async () => {
  const sheet = new PlanSheet(
    { file: 'a', targets: ['a'], inputs: ['x'] },
    { file: 'b', targets: ['b'], inputs: ['y'] },
    { file: 'c', targets: ['c'], inputs: ['a', 'b'] },
    { file: 'd', targets: ['d'], inputs: ['c', 'z'] },
  )
  const changed = { x: '..', y: 'two', z: 'two' }
  for (const id of ['1', '2']) sheet.store.write(id, { x: 'one', y: 'one', z: 'one' })
  await sheet.run()
  sheet.store.write('1', changed)
  assert.deepEqual((await sheet.plan({ records: [1] })).atMost, true)
  assert.equal(await sheet.run({ records: [1] }), 1)
  // With the value that it had, c stays fresh, and d is computed from it.
  sheet.store.write('2', { ...changed, y: 'three' })
  sheet.kind.answer = () => ({ value: '<one>' })
  assert.deepEqual((await sheet.plan({ records: [2] })).calls, 2)
  assert.equal(await sheet.run({ records: [2] }), 2)
})

test('with only, cells in that state are planned, and fresh cells that become stale only with stale', async () => {
  const sheet = new PlanSheet(B, C)
  for (const id of ['fresh', 'failed', 'both']) sheet.store.write(id, { x: id })
  await sheet.run()
  sheet.kind.answer = () => 'fails'
  for (const id of ['failed', 'both']) sheet.store.write(id, { x: `${id} now` })
  await sheet.run()
  sheet.kind.answer = () => ({ value: 'b' })
  sheet.store.write('stale', { x: 'fresh' })
  await sheet.run({ only: 'missing' })
  sheet.store.write('stale', { x: 'stale now' })
  sheet.store.write('missing', { x: 'm' })
  sheet.kind.answer = () => 'fails'
  sheet.store.write('both', { b: 'bad' })
  await sheet.run({ records: [3] })
  sheet.store.write('both', { b: null })
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((key) => [sheet.store.state(key, 'b'), sheet.store.state(key, 'c')]),
    [
      ['fresh', 'fresh'],
      ['failed', 'fresh'],
      ['missing', 'failed'],
      ['stale', 'fresh'],
      ['missing', 'missing'],
    ],
  )
  const counts = async (changes: Partial<PlanRequest>): Promise<readonly unknown[]> => {
    const { targets, calls, atMost } = await sheet.plan(changes)
    return [targets['b']?.compute, targets['c']?.compute, calls, atMost]
  }
  assert.deepEqual(await counts({ only: 'failed' }), [1, 0, 1, false])
  assert.deepEqual(await counts({ only: 'missing' }), [2, 1, 3, true])
  assert.deepEqual(await counts({ only: 'stale' }), [1, 1, 2, true])
  assert.deepEqual(await counts({ only: 'stale', force: true }), [1, 1, 2, true])
  assert.deepEqual(await counts({}), [4, 4, 8, true])
  sheet.kind.answer = (url) => ({ value: url })
  assert.equal(await sheet.run({ only: 'failed' }), 1)
  assert.equal(sheet.store.state(2, 'c'), 'stale')
})

test('with only missing, a stale cell that shares its call with a missing one is not computed', async () => {
  const sheet = new PlanSheet(B, { file: 'c', targets: ['c', 'cc'], inputs: ['b'], needed: [] })
  sheet.store.write('1', { b: 'by hand' })
  await sheet.run({ targets: new Set(['c']) })
  sheet.store.write('1', { x: 'one', b: null })
  const { targets } = await sheet.plan({ only: 'missing' })
  assert.deepEqual([targets['b']?.compute, targets['c']?.compute, targets['cc']?.compute], [1, 0, 1])
})

test('bounds exclude cells in the order of the run, and the cells computed from them', async () => {
  const sheet = new PlanSheet(
    B,
    { ...C, needed: [] },
    { file: 'e', targets: ['e'], inputs: ['x'], price: 0.2 },
  )
  for (const id of ['1', '2', '3', '4']) sheet.store.write(id, { x: id })
  const allLeft = { ...LEFT, skipped: 4, left: 4 }
  assert.deepEqual(await sheet.plan({ maxCalls: 0 }), {
    targets: { b: allLeft, c: allLeft, e: allLeft },
    calls: 0,
    cost: 0,
    atMost: false,
  })
  const targets = new Set(['b', 'e'])
  for (const [bound, planned] of [
    [{ maxCalls: 3 }, [3, 0, 3, 0.3]],
    [{ maxCalls: 5 }, [4, 1, 5, 0.6]],
    [{ maxCost: 0.3 }, [3, 0, 3, 0.3]],
    [{ maxCost: 0.79 }, [4, 1, 5, 0.6]],
    [{ maxCost: 0.8, maxCalls: 100 }, [4, 2, 6, 0.8]],
  ] as const) {
    const { targets: counts, calls, cost, atMost } = await sheet.plan({ targets, ...bound })
    assert.deepEqual(
      [counts['b']?.compute, counts['e']?.compute, calls, cost],
      planned,
      JSON.stringify(bound),
    )
    assert.equal(atMost, false)
  }
})

test('calls without a price are counted separately in a plan', async () => {
  const sheet = new PlanSheet({ ...B, price: null }, { ...C, inputs: ['x'], needed: [] })
  for (const id of ['1', '2']) sheet.store.write(id, { x: id })
  const { calls, cost, unpricedCalls } = await sheet.plan()
  assert.deepEqual([calls, cost, unpricedCalls], [4, 1, 2])
})

test('an upper bound remains one if calls that are not made allow cheaper ones', async () => {
  const sheet = new PlanSheet(B, C, D)
  const others = Array.from({ length: 10 }, (_, index) => `r${index}`)
  sheet.store.write('first', { x: 'first' })
  // c of the first record comes from the cache in the end, and costs nothing.
  sheet.store.write('cached', { b: '<first>' })
  await sheet.run({ targets: new Set(['c']) })
  sheet.store.write('cached', { c: 'by hand' })
  for (const id of others) sheet.store.write(id, { c: id, b: 'by hand' })
  const request = { maxCost: 0.65 }
  const plan = await sheet.plan(request)
  const calls = await sheet.run(request)
  assert.equal(calls, 6)
  assert.deepEqual([plan.calls, plan.cost, plan.atMost], [6, 0.65, true])
})

test('an upper bound remains one if a cell with dependants is within the bounds after all', async () => {
  const sheet = new PlanSheet(B, C, { ...D, price: 0 })
  sheet.store.write('first', { x: 'first' })
  sheet.store.write('cached', { b: '<first>' })
  await sheet.run({ targets: new Set(['c']) })
  sheet.store.write('cached', { c: 'by hand' })
  await sheet.run({ targets: new Set(['d']) })
  sheet.store.write('second', { b: 'by hand' })
  const request = { maxCost: 0.6 }
  const plan = await sheet.plan(request)
  assert.equal(await sheet.run(request), 4)
  assert.ok(plan.calls >= 4, `${plan.calls} planned`)
})

test('equal calls are planned with one hash also with thousands of records between them', async () => {
  const sheet = new PlanSheet(B)
  for (let index = 0; index < 700; index += 1) sheet.store.write(`${index}`, { x: `${index % 300}` })
  assert.deepEqual([(await sheet.plan()).calls, await sheet.run()], [300, 300])
  assert.deepEqual([(await sheet.plan({ force: true })).calls, await sheet.run({ force: true })], [300, 300])
})

test('planning yields to other work, and ends when its signal aborts', async () => {
  const sheet = new PlanSheet(B)
  for (let index = 0; index < 1000; index += 1) sheet.store.write(`${index}`, { x: 'same' })
  const stopping = new AbortController()
  let turns = 0
  const others = setInterval(() => (turns += 1), 0)
  const immediate = (): void => {
    turns += 1
    if (turns < 1000) setImmediate(immediate)
  }
  setImmediate(immediate)
  await sheet.plan()
  clearInterval(others)
  assert.ok(turns >= 4, `${turns} turns`)
  turns = 1000
  const planning = sheet.plan({ signal: stopping.signal })
  setImmediate(() => stopping.abort(new Error('enough')))
  await assert.rejects(planning, /enough/)
})

test('a value that only some targets of a call get does not change its plan', async () => {
  const sheet = new PlanSheet({ file: 'bc', targets: ['b', 'c'], inputs: ['x'] })
  sheet.kind.answer = () => ({
    values: { b: ok('good'), c: err({ reason: 'malformed_json', request: 'bc' }) },
  })
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  sheet.store.write('2', { x: 'one' })
  assert.deepEqual((await sheet.plan()).targets, {
    b: { compute: 0, cached: 1, skipped: 1 },
    c: { compute: 2, cached: 0, skipped: 0, kept: KEPT },
  })
  assert.equal((await sheet.plan()).calls, 1)
})

/** A derivation whose calls are refused once a test says so. */
function refusable(spec: TestSpec): TestSpec & { refuse(): void } {
  return {
    ...spec,
    refuse() {
      Object.assign(this, { refusal: 'not here' })
    },
  }
}

test('refused calls are not counted; the cache is still used, and nothing is computed from failing cells', async () => {
  const c = refusable(C)
  const sheet = new PlanSheet(B, c, D)
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  c.refuse()
  sheet.store.write('cached', { b: '<one>' })
  sheet.store.write('not cached', { b: 'two' })
  const changes = { targets: new Set(['c', 'd']) }
  const plan = await sheet.plan(changes)
  assert.deepEqual(plan, {
    targets: { c: { compute: 0, cached: 1, skipped: 2 }, d: { compute: 1, cached: 0, skipped: 2 } },
    calls: 1,
    cost: 0.1,
    atMost: true,
  })
  const request = sheet.request(changes)
  const { progress, failures } = await runDerivations(request)
  assert.deepEqual(
    failures.map(({ recordId, field, error }) => [recordId, field, error]),
    [['not cached', 'c', 'c/two -> refused: not here']],
  )
  assert.deepEqual([progress.calls, progress.totalCost], [0, 0])
  const states = [1, 2, 3].map((key) => [sheet.store.state(key, 'c'), sheet.store.state(key, 'd')])
  assert.deepEqual(states, [
    ['fresh', 'fresh'],
    ['fresh', 'fresh'],
    ['failed', 'missing'],
  ])
  const forced = await sheet.plan({ ...changes, force: true })
  assert.deepEqual(forced, {
    targets: { c: { ...LEFT, skipped: 3, kept: KEPT }, d: { ...LEFT, skipped: 3 } },
    calls: 0,
    cost: 0,
    atMost: false,
  })
})

test('cells that a refused derivation may fill from the cache may have dependants that call', async () => {
  const c = refusable(C)
  const sheet = new PlanSheet(B, c, { ...D, inputs: ['c', 'y'], needed: ['c'] })
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  c.refuse()
  sheet.store.write('2', { x: 'one', y: 'other' })
  sheet.store.write('2', { b: 'old' })
  sheet.store.write('2', { b: null })
  const { calls, atMost } = await sheet.plan()
  assert.deepEqual([calls, atMost], [1, true])
  assert.equal(await sheet.run(), 1)
})
