import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import type { SheetOptions } from '../../src/sheet/open-sheet.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { getRun, listRunFailures } from '../../src/sheet/runs/read-runs.ts'
import { everythingStored, openOnEngine, skipOnPostgres } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { answerLookups, lookup, openRunSheet, RunSheet } from '../support/run-fixture.ts'

const NAME = 'COLOPHON_TEST_API_KEY'
const SECRET = 'k3y-0f-the-t3st'

function setEnv(t: TestContext, value: string | null): void {
  if (value === null) delete process.env[NAME]
  else process.env[NAME] = value
  t.after(() => delete process.env[NAME])
}

/** A sheet whose `b` is looked up by `a`, `c` by `b`, and `d` by `c`, that last one with a secret. */
async function openSecretSheet(
  t: TestContext,
  records: readonly JsonObject[],
  options: Partial<SheetOptions> = {},
): Promise<RunSheet> {
  const files = {
    properties: ['a: string', 'b: string', 'c: string', 'd: string'],
    records,
    derivations: (url: string) => ({
      'b.yaml': lookup(url, 'b', 'a'),
      'c.yaml': lookup(url, 'c', 'b'),
      'd.yaml': { ...lookup(url, 'd', 'c'), headers: { Authorization: `Bearer {{ env.${NAME} }}` } },
    }),
  }
  const run = await openRunSheet(t, files, options)
  answerLookups(run.api)
  return run
}

/** The same sheet in a service that was started again, since one keeps the environment that it was started with. */
async function restarted(t: TestContext, { sheet, api, directory }: RunSheet): Promise<RunSheet> {
  await sheet.close()
  const again = await openOnEngine(directory)
  onEnd(t, () => again.close())
  return RunSheet.of({ sheet: again, api, directory })
}

const MISSING = {
  type: 'OperationError',
  message: `derivations/d.yaml needs the environment variable ${NAME}, which is not set; set it and restart`,
}

test('D23: without its variable a run stops before any call, but only when it would call for the derivation', async (t) => {
  if (skipOnPostgres(t)) return
  setEnv(t, null)
  let run = await openSecretSheet(t, [{ id: '1', a: 'x' }, { id: 'blocked' }])
  await assert.rejects(run.start(), MISSING)
  assert.deepEqual(run.api.calls(), {})
  assert.deepEqual((await run.frames()).at(-1)?.kind, 'materialize.error')
  const { state, total, calls: made } = await getRun(run.sheet, '1')
  assert.deepEqual([state, total, made], ['failed', 0, 0])
  assert.equal((await run.run({ targets: ['b'] })).materialized, 1)
  assert.equal((await run.run({ targets: ['d'] })).skipped, 2)

  setEnv(t, SECRET)
  run = await restarted(t, run)
  await run.run()
  assert.equal(await run.value('1', 'd'), '<<<x>>>')
  assert.equal(run.api.requests.at(-1)?.headers.authorization, `Bearer ${SECRET}`)

  setEnv(t, null)
  run = await restarted(t, run)
  const calls = run.api.requests.length
  // All fresh, or blocked by a null.
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 6, failures: [], totalCost: 0 })
  assert.deepEqual(await run.run({ force: true, recordIds: ['blocked'] }), {
    materialized: 0,
    skipped: 3,
    failures: [],
    totalCost: 0,
  })
  assert.equal((await run.run({ force: true, targets: ['b', 'c'] })).materialized, 2)
  // From the cache.
  await run.write({ id: '2', a: 'x' })
  await run.run({ targets: ['b', 'c'] })
  assert.deepEqual((await run.run()).materialized, 1)
  assert.equal(await run.value('2', 'd'), '<<<x>>>')
  assert.equal(run.api.requests.length, calls + 2)

  // What d depends on would be computed anew, two steps away.
  await run.write({ id: '1', a: 'new' })
  await assert.rejects(run.start(), MISSING)
  await assert.rejects(run.start({ force: true, targets: ['d'] }), MISSING)
  await assert.rejects(run.start({ targets: ['b', 'c', 'd'], recordIds: ['1'] }), MISSING)
  assert.equal(run.api.requests.length, calls + 2)
  assert.equal((await run.run({ recordIds: ['2'] })).skipped, 3)

  setEnv(t, 'line\nbreak')
  run = await restarted(t, run)
  await assert.rejects(run.start(), (error: Error) => {
    assert.match(error.message, /line break or another control character/)
    return !error.message.includes('line\nbreak')
  })
  assert.equal(run.api.requests.length, calls + 2)
})

test('a plan needs no variable, and names the one for which a run would be refused, but only if it would call for it', async (t) => {
  if (skipOnPostgres(t)) return
  setEnv(t, null)
  const run = await openSecretSheet(t, [{ id: '1', a: 'x' }])
  const everything = { targets: null, recordIds: null, force: false }
  const { calls, notReady } = await planMaterialize(run.sheet, everything)
  assert.deepEqual([calls, notReady], [3, [MISSING.message]])
  const { notReady: nothing } = await planMaterialize(run.sheet, { ...everything, targets: ['b', 'c'] })
  assert.deepEqual(nothing, [])
  assert.deepEqual(run.api.calls(), {})
})

test('D23: the value of the variable is in no file or table of the sheet, log, frame, failure or provenance entry', async (t) => {
  setEnv(t, SECRET)
  const told: unknown[] = []
  const tell = (...what: unknown[]): void => void told.push(what)
  const logger = { info: tell, warn: tell, error: tell }
  const run = await openSecretSheet(
    t,
    [
      { id: '1', a: 'x' },
      { id: '2', a: 'y' },
      { id: '3', a: 'echo' },
    ],
    { logger },
  )
  run.api.answer('/d/%3C%3Cy%3E%3E', { text: `no, ${SECRET}`, status: 401 })
  run.api.answer('/d/%3C%3Cecho%3E%3E', ({ headers }) => ({
    json: { value: `you sent ${String(headers.authorization)}` },
  }))
  told.push(await run.run(), await run.frames(), await run.status('d'))
  told.push(await listRunFailures(run.sheet, '1', { limit: null, cursor: null }))
  for (const id of ['1', '2', '3']) told.push(await run.record(id), await run.history(id, 'd'))
  assert.equal(await run.value('1', 'd'), '<<<x>>>')
  assert.deepEqual(await run.counts('d'), { fresh: 1, failed: 2 })
  await run.sheet.close()
  told.push(await everythingStored(run.directory))
  assert.ok(!JSON.stringify(told).includes(SECRET))
  assert.ok(!JSON.stringify(told).includes(Buffer.from(SECRET).toString('base64').slice(0, 12)))
})
