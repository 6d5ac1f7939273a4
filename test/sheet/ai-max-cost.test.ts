import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Limiter } from '../../src/derivation/limiter/limiter.ts'
import { cancelRun } from '../../src/sheet/runs/cancel-run.ts'
import { startMaterialize } from '../../src/sheet/runs/materialize.ts'
import { getRunDetail } from '../../src/sheet/runs/read-runs.ts'
import { RANDOM_TIMES, seededRandom } from '../../src/store/suite/support/random.ts'
import { perEngine } from '../support/engine.ts'
import { openAiSheet, PRICE } from '../support/ai-fixture.ts'
import { oddAnswers } from '../support/odd-answers.ts'

/** Rounds of the random test; one takes longer on PostgreSQL. */
const ROUNDS = RANDOM_TIMES * perEngine({ sqlite: 25, postgres: 8 })

test('max_cost is never exceeded, whatever the bound, the order and the answers', async (t) => {
  const random = seededRandom(22)
  const { run, server } = await openAiSheet(t, {
    companies: Array.from({ length: 12 }, (_, index) => `Company ${index}`),
    answer: oddAnswers(random),
  })
  // Retries begin at once.
  Object.assign(run.sheet, { limiter: new Limiter({ random: () => 0 }) })
  let spent = 0
  for (let round = 0; round < ROUNDS; round++) {
    const before = server.billionths(PRICE)
    const maxCost = random.below(2_500_000) / 1e9
    const [concurrency, retries] = [1 + random.below(8), random.below(3)]
    await run.edit('transport.yaml', `hosts: {'*': {concurrency: ${concurrency}, retries: ${retries}}}\n`)
    const { totalCost } = await run.start({ force: true, maxCost, stopAfterFailures: null })
    const billed = Number(server.billionths(PRICE) - before) / 1e9
    assert.ok(billed <= totalCost, `round ${round}: billed ${billed} of ${totalCost}`)
    assert.ok(totalCost <= maxCost, `round ${round}: cost ${totalCost} of ${maxCost}`)
    spent += billed
  }
  assert.ok(spent > 0)
})

test('a call that was refused at no cost, and given up before it was sent again, costs nothing', async (t) => {
  const { run } = await openAiSheet(t, { answer: () => ({ status: 429 }) })
  const refused = Promise.withResolvers<void>()
  const random = (): number => {
    refused.resolve()
    return 1
  }
  Object.assign(run.sheet, { limiter: new Limiter({ random }) })
  await run.edit('transport.yaml', `hosts: {'*': {retries: 2}}\n`)
  const order = { targets: null, recordIds: null, force: false, actor: 'agent:runner' }
  const { id, done } = await startMaterialize(run.sheet, order)
  await refused.promise
  await cancelRun(run.sheet, id, 'user:ann')
  await done.catch(() => undefined)
  const { run: ended } = await getRunDetail(run.sheet, id)
  assert.deepEqual([ended.calls, ended.totalCost], [1, 0])
})
