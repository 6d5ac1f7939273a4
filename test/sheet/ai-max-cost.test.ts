import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openAiSheet, PRICE } from '../support/ai-fixture.ts'
import type { ModelAnswer } from '../support/model-server.ts'
import { RANDOM_TIMES, seededRandom } from '../../src/store/suite/support/random.ts'

test('max_cost is never exceeded, whatever the bound, the order and the answers', async (t) => {
  const random = seededRandom(22)
  const answers: readonly (() => ModelAnswer)[] = [
    () => ({ json: { industry: 'Retail', staff: 1 + random.below(99) } }),
    () => ({ json: { industry: 'Banking', staff: 3 } }),
    () => ({ text: 'x'.repeat(random.below(400)) }),
    () => ({ refusal: 'No.' }),
    () => ({ status: 529 }),
    () => ({ status: 500 }),
    () => ({ hangUp: true }),
  ]
  const { run, server } = await openAiSheet(t, {
    companies: Array.from({ length: 12 }, (_, index) => `Company ${index}`),
    answer: async () => {
      // Responses arrive in another order than requests.
      for (let turns = random.below(6); turns > 0; turns--) await setImmediate()
      return answers[random.chance(0.5) ? 0 : random.below(answers.length)]?.() ?? { status: 500 }
    },
  })
  let spent = 0
  for (let round = 0; round < 25 * RANDOM_TIMES; round++) {
    const before = server.billionths(PRICE)
    const maxCost = random.below(2_500_000) / 1e9
    await run.edit('transport.yaml', `hosts: {'*': {concurrency: ${1 + random.below(8)}, retries: 0}}\n`)
    const { totalCost } = await run.start({ force: true, maxCost, stopAfterFailures: null })
    const billed = Number(server.billionths(PRICE) - before) / 1e9
    assert.ok(billed <= maxCost, `round ${round}: billed ${billed} of ${maxCost}`)
    assert.ok(
      billed <= totalCost && totalCost <= maxCost,
      `round ${round}: ${billed}, ${totalCost}, ${maxCost}`,
    )
    spent += billed
  }
  assert.ok(spent > 0)
})
