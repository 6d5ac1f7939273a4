import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { RANDOM_TIMES, seededRandom } from '../../src/store/suite/support/random.ts'
import { contractText } from '../support/contract-with.ts'
import { startLocalApi } from '../support/local-api.ts'
import { onEnd } from '../support/on-end.ts'
import { startPostgres } from '../support/postgres.ts'
import { ACTOR, ALL, startWorkers } from '../support/shared-offers.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const postgres = await startPostgres()

/** More in long tests, which have time for them. */
const WORKERS = RANDOM_TIMES > 1 ? 8 : 3

test('max_cost is never exceeded by the steps of several workers together, and equal calls are made once', async (t) => {
  const random = seededRandom(24)
  const api = await startLocalApi(t)
  api.answer('*', ({ path }) => {
    const odd = path.startsWith('/one') ? random.below(3) : random.below(2)
    if (odd === 2) return { json: {}, status: 500 }
    return { json: { email: odd === 1 ? null : `x${path}` } }
  })
  const directory = await writeSheet(t, {
    contract: contractText(['{name: name, logicalType: string}', '{name: email, logicalType: string}']),
    // Each name twice: two workers may need the same call.
    records: Array.from({ length: 40 }, (_, index) => ({ id: `${index}`, name: `n${index % 20}` })),
    derivations: {
      'email.yaml': `targets: [email]\nkind: first\nsteps:\n${['one', 'two', 'three']
        .map((step) => `  - {kind: http, url: '${api.url}/${step}/{{ name }}', response_path: email}\n`)
        .join('')}`,
    },
  })
  await writeFile(join(directory, 'transport.yaml'), "hosts: {'*': {cost_per_call: 0.01, retries: 0}}\n")
  const url = postgres.freshUrl()
  await pushSheet(directory, url, { actor: ACTOR, note: null, dryRun: false, lockTimeoutMs: 5000 })
  const open: Parameters<typeof startWorkers>[1]['open'] = async (options) => {
    const sheet = await openSheet(url, { defaultActor: ACTOR, ...options })
    onEnd(t, () => sheet.close())
    return sheet
  }
  const sheet = await open({ handOverRuns: true })
  await startWorkers(t, { open }, WORKERS)
  let [called, left] = [0, 0]
  for (let round = 0; round < 3 * RANDOM_TIMES; round++) {
    api.requests.length = 0
    const maxCost = random.below(70) / 100
    const order = { ...ALL, force: true, maxCost, stopAfterFailures: null, actor: ACTOR }
    const { totalCost, skipped } = await materialize(sheet, order)
    const paths = api.requests.map(({ path }) => path)
    assert.equal(new Set(paths).size, paths.length, `round ${round}: a call was made twice`)
    assert.equal(Math.round(totalCost * 100), paths.length, `round ${round}`)
    assert.ok(totalCost <= maxCost, `round ${round}: cost ${totalCost} of ${maxCost}`)
    called += paths.length
    left += skipped
  }
  assert.ok(called > 0 && left > 0)
})
