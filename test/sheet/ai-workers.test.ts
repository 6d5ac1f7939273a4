import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { RANDOM_TIMES, seededRandom } from '../../src/store/suite/support/random.ts'
import { PRICE, writeAiSheet } from '../support/ai-fixture.ts'
import { oddAnswers } from '../support/odd-answers.ts'
import { onEnd } from '../support/on-end.ts'
import { startPostgres } from '../support/postgres.ts'
import { ACTOR, ALL, startWorkers } from '../support/shared-offers.ts'

const postgres = await startPostgres()

test('max_cost is never exceeded by several workers together, and equal calls are made once', async (t) => {
  const random = seededRandom(23)
  const { directory, server } = await writeAiSheet(t, {
    // Each company twice: two workers may need the same call.
    companies: Array.from({ length: 40 }, (_, index) => `Company ${index % 20}`),
    answer: oddAnswers(random),
  })
  const url = postgres.freshUrl()
  await pushSheet(directory, url, { actor: ACTOR, note: null, dryRun: false, lockTimeoutMs: 5000 })
  const open: Parameters<typeof startWorkers>[1]['open'] = async (options) => {
    const sheet = await openSheet(url, { defaultActor: ACTOR, ...options })
    onEnd(t, () => sheet.close())
    return sheet
  }
  const sheet = await open({ handOverRuns: true })
  await startWorkers(t, { open }, 3)
  let spent = 0
  for (let round = 0; round < 5 * RANDOM_TIMES; round++) {
    const [before, requests] = [server.billionths(PRICE), server.requests.length]
    const maxCost = (500_000 + random.below(3_000_000)) / 1e9
    const order = { ...ALL, force: true, maxCost, stopAfterFailures: null, actor: ACTOR }
    const { totalCost } = await materialize(sheet, order)
    const billed = Number(server.billionths(PRICE) - before) / 1e9
    assert.ok(billed <= totalCost, `round ${round}: billed ${billed} of ${totalCost}`)
    assert.ok(totalCost <= maxCost, `round ${round}: cost ${totalCost} of ${maxCost}`)
    // A call has at most two requests.
    assert.ok(server.requests.length - requests <= 40)
    spent += billed
  }
  assert.ok(spent > 0)
})
