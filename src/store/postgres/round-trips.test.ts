import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPostgres } from '../../../test/support/postgres.ts'
import {
  AGENT,
  computed,
  HUMAN,
  newRun,
  target,
  TestSheet,
  type OpenStore,
} from '../suite/support/test-sheet.ts'
import { ClientConnection } from './database/connection.ts'
import { PostgresStore } from './postgres-store.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'

const server = await startPostgres()

const open: OpenStore = (_directory, { contract, targets, ...options }) =>
  PostgresStore.open(server.freshUrl(), {
    ...options,
    directory: null,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

const [FEW, MANY] = [3, 200]

/** A sheet whose records each were computed, overwritten by hand, and computed again. */
async function busySheet(t: TestContext): Promise<{ sheet: TestSheet; ids: readonly string[] }> {
  const sheet = await TestSheet.make(t, open, {
    properties: [
      '{name: a, logicalType: string}',
      "{name: one, logicalType: string, customProperties: [{property: editableBy, value: ['human:*']}]}",
      '{name: code, logicalType: string, unique: true}',
    ],
    targets: [target('one', ['a'])],
  })
  const ids = Array.from({ length: MANY }, (_, number) => `r${number}`)
  await sheet.write(ids.map((id) => ({ id, a: id, one: 'by hand', code: id })))
  await computeAll(sheet)
  return { sheet, ids }
}

async function computeAll(sheet: TestSheet): Promise<void> {
  const query = { targets: ['one'], inputs: ['a'], force: true, state: null, after: null, only: null }
  const work = await sheet.store.work({ ...query, limit: MANY })
  await sheet.commit(...work.map((item) => sheet.result(item, 'one', computed(item.id, item.id))))
}

/** Returns the number of statements that an operation sends. */
async function statements(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  const counted = (['all', 'plannedAnew', 'run', 'exec'] as const).map((method) =>
    t.mock.method(ClientConnection.prototype, method),
  )
  await work()
  const count = counted.reduce((sum, { mock }) => sum + mock.callCount(), 0)
  for (const { mock } of counted) mock.restore()
  return count
}

/** Asserts that an operation on many takes no more statements than on few. */
async function compare(t: TestContext, work: (count: number) => Promise<unknown>): Promise<void> {
  const [few, many] = [await statements(t, () => work(FEW)), await statements(t, () => work(MANY - FEW))]
  assert.ok(few > 0)
  assert.ok(many <= few, `${many} statements for ${MANY - FEW}, ${few} for ${FEW}`)
}

test('reverting many entries takes as many statements as reverting few', async (t) => {
  const { sheet } = await busySheet(t)
  const entries = await sheet.store.runEntries({ run: await sheet.run(), before: null, limit: MANY })
  const run = await sheet.store.startRun(newRun({ kind: 'revert' }))
  let undone = 0
  await compare(t, async (count) => {
    const some = entries.slice(undone, undone + count)
    const { reverted } = await sheet.store.revert({ actor: HUMAN, entries: some, run })
    assert.equal(reverted, count)
    undone += count
  })
})

test('reading an earlier state of many records takes as many statements as of few', async (t) => {
  const { sheet, ids } = await busySheet(t)
  await sheet.store.delete(ids.slice(0, MANY / 2), AGENT)
  await compare(t, async (limit) => {
    const page = await sheet.store.pageAsOf({ fields: sheet.fields, limit, after: null, seq: MANY + 1 })
    assert.equal((JSON.parse(String(page.records)) as unknown[]).length, limit)
  })
})

test('proposing, reading and accepting many records takes as many statements as few', async (t) => {
  const { sheet, ids } = await busySheet(t)
  const { proposals } = sheet.store
  // A cached record takes another statement, which asks for the state of the store.
  await sheet.store.record(ids.at(-1) ?? '', ['a', 'code'])
  await compare(t, async (count) => {
    const records = ids.slice(-count).map((id) => ({ id, a: `proposed ${count}`, code: `${count} ${id}` }))
    const id = await proposals.propose({ change: { records }, actor: AGENT, note: null })
    assert.equal((await proposals.detail(id))?.records.length, count)
    const parts = ids.slice(-count).map((recordId) => ({ recordId, fields: ['a'] }))
    await proposals.accept({ id, actor: HUMAN, parts })
    await proposals.accept({ id, actor: HUMAN })
  })
})

test('a write takes as many statements as it has tables of its own: records, and lines with their writers', async (t) => {
  const sheet = await TestSheet.make(t, open, { properties: ['{name: a, logicalType: string}'] })
  // The first writes number the fields.
  await sheet.write([{ id: 'r0', a: 'x' }])
  await sheet.write([{ id: 'r1', a: 'x' }], AGENT)
  for (const record of [
    { id: 'r2', a: 'x' },
    { id: 'r0', a: 'y' },
  ]) {
    assert.equal(await statements(t, () => sheet.write([record], AGENT)), 3)
  }
})
