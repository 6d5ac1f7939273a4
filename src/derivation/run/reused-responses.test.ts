import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import { runDerivations, type RunOutcome } from '../testing/run-derivations.ts'
import { KEPT_AT, MemoryStore } from '../testing/memory-store.ts'
import { planRun } from '../plan/plan-run.ts'
import type { RunPlan, RunRequest } from '../run-request.ts'
import { testDerivations, testRequest, TestKind, type TestSpec } from '../testing/test-run.ts'

/** A sheet in memory whose derivation files can be edited. */
class EditedSheet {
  readonly kind = new TestKind()
  readonly store: MemoryStore
  #derivations: readonly Derivation[]

  constructor(...specs: readonly TestSpec[]) {
    this.#derivations = testDerivations(this.kind, specs)
    this.store = new MemoryStore(this.#derivations)
  }

  edit(...specs: readonly TestSpec[]): void {
    this.#derivations = testDerivations(this.kind, specs)
    this.store.define(this.#derivations)
  }

  request(changes: Partial<Omit<RunRequest, 'observer'>>): ReturnType<typeof testRequest> {
    return testRequest(this.store, this.#derivations, changes)
  }

  plan(changes: Partial<Omit<RunRequest, 'observer'>> = {}): Promise<RunPlan> {
    return planRun(this.request(changes))
  }

  /** Runs everything; `calls` are those that were made. */
  async run(
    changes: Partial<Omit<RunRequest, 'observer'>> = {},
  ): Promise<RunOutcome & { readonly calls: readonly string[] }> {
    const before = this.kind.calls.length
    const outcome = await runDerivations(this.request(changes))
    return { ...outcome, calls: this.kind.calls.slice(before) }
  }

  /** Returns the provenance of a target's last computed cell. */
  provenance(target: string): JsonObject | undefined {
    const results = this.store.commits.flatMap(({ cells }) => cells.filter((cell) => cell.target === target))
    const last = results.at(-1)?.result
    return last?.kind === 'computed' ? last.provenance : undefined
  }
}

const B: TestSpec = { file: 'b', targets: ['b'], inputs: ['x'], price: 0.25 }
const EDITED: TestSpec = { ...B, version: 2 }
const REUSE = { reuseResponses: true }

test('H5: an edited derivation is called for anew; where responses are reused, what was received before is taken', async () => {
  const sheet = new EditedSheet(B)
  for (const id of ['1', '2', '3']) sheet.store.write(id, { x: id === '3' ? '1' : id })
  assert.equal((await sheet.run()).calls.length, 2)
  sheet.edit(EDITED)
  const kept = { calls: 2, oldest: KEPT_AT, newest: KEPT_AT }
  assert.deepEqual(await sheet.plan(), {
    targets: { b: { compute: 3, cached: 0, skipped: 0, kept } },
    calls: 2,
    cost: 0.5,
    atMost: false,
  })
  assert.deepEqual(await sheet.plan(REUSE), {
    targets: { b: { compute: 0, cached: 3, skipped: 0, kept } },
    calls: 0,
    cost: 0,
    atMost: false,
  })
  const { progress, calls } = await sheet.run(REUSE)
  assert.deepEqual([calls, progress.materialized, progress.calls, progress.totalCost], [[], 3, 0, 0])
  assert.deepEqual(sheet.provenance('b'), { cached: true, url: 'b/2', status: 200, received_at: KEPT_AT })
  assert.deepEqual(
    new Set(sheet.store.commits.flatMap(({ used }) => used ?? [])),
    new Set(sheet.store.kept.keys()),
  )
  sheet.edit({ ...B, version: 3 })
  assert.equal((await sheet.run()).calls.length, 2, 'without it every call is made')
})

test('what a run needs beyond the kept responses is called for, within its bounds', async () => {
  const sheet = new EditedSheet(B)
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  sheet.edit(EDITED)
  for (const id of ['2', '3', '4']) sheet.store.write(id, { x: id })
  const bounded = { ...REUSE, maxCalls: 2 }
  const { targets, calls, cost } = await sheet.plan(bounded)
  assert.deepEqual(targets['b'], {
    compute: 2,
    cached: 1,
    skipped: 1,
    left: 1,
    kept: { calls: 1, oldest: KEPT_AT, newest: KEPT_AT },
  })
  assert.deepEqual([calls, cost], [2, 0.5])
  const run = await sheet.run(bounded)
  assert.deepEqual(run.calls, ['b/2', 'b/3'])
  assert.deepEqual([run.progress.materialized, run.progress.skipped], [3, 1])
})

test('equal requests of a run that reuses responses are one call, whatever derivation they are for', async () => {
  const c: TestSpec = { file: 'c', targets: ['c'], inputs: ['x'], price: 0.25, service: 'b' }
  const d: TestSpec = { ...B, file: 'd', targets: ['d'], service: 'b' }
  const sheet = new EditedSheet(B, c, d)
  for (const id of ['1', '2']) sheet.store.write(id, { x: 'same' })
  const { calls, cost, targets } = await sheet.plan(REUSE)
  assert.deepEqual([calls, cost], [1, 0.25])
  assert.deepEqual(targets['c'], { compute: 2, cached: 0, skipped: 0 })
  const run = await sheet.run(REUSE)
  assert.equal(run.calls.length, 1)
  assert.equal(run.progress.materialized, 6)
  const times = ['b', 'c', 'd'].map((field) => sheet.provenance(field)?.['received_at'])
  assert.deepEqual(
    new Set(times),
    new Set([undefined, KEPT_AT]),
    "the store's clock says when it was received",
  )
})

test('of equal requests none is tried again once the call has failed, and each cell says so', async () => {
  const c: TestSpec = { file: 'c', targets: ['c'], inputs: ['x'], service: 'b' }
  const sheet = new EditedSheet(B, c)
  sheet.kind.answer = () => 'fails'
  for (const id of ['1', '2']) sheet.store.write(id, { x: 'same' })
  const { calls, failures } = await sheet.run(REUSE)
  assert.equal(calls.length, 1)
  assert.equal(failures.length, 4)
  assert.equal(sheet.store.kept.size, 0, 'a response that failed is not kept')
})

test('a response that is gone by the time it is needed is called for, unless the bounds have no room for it', async () => {
  for (const [maxCalls, expected] of [
    [null, [1, 1, 0]],
    [0, [0, 0, 1]],
  ] as const) {
    const sheet = new EditedSheet(B)
    sheet.store.write('1', { x: 'one' })
    await sheet.run()
    sheet.edit(EDITED)
    const responses = { ...sheet.store.responses, read: async () => null }
    Object.assign(sheet.store, { responses })
    const { calls, progress } = await sheet.run({ ...REUSE, maxCalls })
    assert.deepEqual([calls.length, progress.materialized, progress.skipped], expected)
  }
})

test('where calls are refused, kept responses are taken all the same', async () => {
  const sheet = new EditedSheet(B)
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  sheet.edit({ ...EDITED, refusal: 'not here' })
  sheet.store.write('2', { x: 'other' })
  assert.deepEqual((await sheet.plan(REUSE)).targets['b']?.cached, 1)
  const { progress, failures } = await sheet.run(REUSE)
  assert.equal(progress.materialized, 1)
  assert.deepEqual(
    failures.map(({ recordId }) => recordId),
    ['2'],
  )
})

test('with force too, kept responses are taken, and not what the cache has', async () => {
  const sheet = new EditedSheet(B)
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  const [request] = sheet.store.kept.keys()
  const response = sheet.store.kept.get(request ?? '')
  assert.ok(request !== undefined && response !== undefined)
  sheet.store.kept.set(request, { ...response, body: '{"value": "newer"}' })
  const { calls } = await sheet.run({ ...REUSE, force: true })
  assert.deepEqual(calls, [])
  assert.equal(sheet.store.records.get(1)?.values['b'], 'newer')
})
