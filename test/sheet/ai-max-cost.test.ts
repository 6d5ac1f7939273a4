import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Limiter } from '../../src/derivation/limiter/limiter.ts'
import { RANDOM_TIMES, seededRandom } from '../../src/store/suite/support/random.ts'
import { openAiSheet, PRICE } from '../support/ai-fixture.ts'
import { oddAnswers } from '../support/odd-answers.ts'

test('max_cost is never exceeded, whatever the bound, the order and the answers', async (t) => {
  const random = seededRandom(22)
  const { run, server } = await openAiSheet(t, {
    companies: Array.from({ length: 12 }, (_, index) => `Company ${index}`),
    answer: oddAnswers(random),
  })
  // Retries begin at once.
  Object.assign(run.sheet, { limiter: new Limiter({ random: () => 0 }) })
  let spent = 0
  for (let round = 0; round < 25 * RANDOM_TIMES; round++) {
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
