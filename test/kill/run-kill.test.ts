import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { readStatus } from '../../src/sheet/cells/read-status.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { contractText } from '../support/contract-with.ts'
import { openOnEngine, perEngine } from '../support/engine.ts'
import { startLocalApi, type LocalApi } from '../support/local-api.ts'
import { onEnd } from '../support/on-end.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { byText, checkedLog, Victim } from './kill-harness.ts'

/** Fewer where each commit is a round trip more. */
const RECORDS = perEngine({ sqlite: 200, postgres: 80 })
/** Calls at a time unless `transport.yaml` says otherwise. */
const CONCURRENCY = 8
const RUN = { targets: null, recordIds: null, force: false, actor: 'agent:victim' }

function makeSheet(t: TestContext, api: LocalApi): Promise<string> {
  const derivation = (target: string, input: string): string =>
    `targets: [${target}]\ninputs: [${input}]\nkind: http\nurl: ${api.url}/${target}/{{ ${input} }}\nresponse_path: value\n`
  return writeSheet(t, {
    contract: contractText(['{name: label, logicalType: string}']),
    records: Array.from({ length: RECORDS }, (_, index) => ({ id: `r${index}` })),
    derivations: { 'label.yaml': derivation('label', 'id') },
  })
}

async function open(t: TestContext, directory: string): Promise<Sheet> {
  const sheet = await openOnEngine(directory, { defaultActor: RUN.actor })
  onEnd(t, () => sheet.close())
  return sheet
}

/** All that a sheet came to, but for when, in which order, how quickly and in which run. */
async function stateOf(sheet: Sheet, directory: string): Promise<object> {
  const page = await listRecords(sheet, {
    limit: 10_000,
  })
  const status = await readStatus(sheet, null)
  const { lastAt, ...counts } = status['label'] ?? assert.fail()
  assert.ok(lastAt)
  await sheet.close()
  const log = (await checkedLog(directory))
    .map((entry) => JSON.stringify({ ...entry, seq: 0, at: '', duration_ms: 0, run_id: '' }))
    .toSorted(byText)
  return { records: String(page.records), counts, log }
}

test(`a run of ${RECORDS} records that is killed in the middle is finished by the next one, and pays for nothing twice`, async (t) => {
  const api = await startLocalApi(t)
  const { promise: halfWay, resolve } = Promise.withResolvers<void>()
  api.answer('*', async ({ path }) => {
    if (api.requests.length >= RECORDS / 2) resolve()
    // As slow as calls are that are paid for.
    await delay(15)
    return { json: { value: `label of ${path}` } }
  })
  const directory = await makeSheet(t, api)
  const victim = await Victim.start(t, directory)
  const run = victim.post('/api/materialize', {})
  // One that ends before is told of, and not waited for.
  await Promise.race([halfWay, run])
  await victim.kill()
  assert.equal(await run, null, 'the run was under way')
  // What the process had sent arrives even when it is gone.
  await api.idle()
  const paid = api.requests.length

  const sheet = await open(t, directory)
  const { runs } = await listRuns(sheet, { limit: null, cursor: null })
  const stored = RECORDS - ((await readStatus(sheet, null))['label']?.missing ?? 0)
  assert.deepEqual(
    runs.map(({ state, materialized, total }) => [state, materialized, total]),
    // On PostgreSQL whoever comes next goes on with it.
    [[perEngine({ sqlite: 'interrupted', postgres: 'running' }), stored, RECORDS]],
  )
  assert.ok(stored > 0 && stored < RECORDS, `${stored} cells were stored`)

  const { materialized, skipped, failures } = await materialize(sheet, RUN)
  const left = perEngine({ sqlite: RECORDS - stored, postgres: 0 })
  assert.deepEqual([materialized, skipped, failures], [left, RECORDS - left, []])
  const underWay = paid - stored
  assert.equal(
    api.requests.length,
    RECORDS + underWay,
    'only calls whose answers were not stored are made again',
  )
  assert.ok(underWay <= CONCURRENCY, `${underWay} answers were not stored when the process was killed`)
  assert.deepEqual(
    (await listRuns(sheet, { limit: null, cursor: null })).runs.map(({ id, state }) => [id, state]),
    [
      ['2', 'finished'],
      ['1', perEngine({ sqlite: 'interrupted', postgres: 'finished' })],
    ],
  )

  const undisturbed = await makeSheet(t, api)
  const other = await open(t, undisturbed)
  await materialize(other, RUN)
  assert.deepEqual(await stateOf(sheet, directory), await stateOf(other, undisturbed))
})
