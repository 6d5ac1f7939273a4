import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { stepsOf } from '../../src/derivation/plan/foresee-steps.ts'
import { planComputation } from '../../src/derivation/hash/plan-computation.ts'
import { contractText } from '../support/contract-with.ts'
import { openOnEngine } from '../support/engine.ts'
import { startLocalApi } from '../support/local-api.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { checkedLog, KILLS, seededRandom, Victim } from './kill-harness.ts'

const STEPS = ['one', 'two', 'three']

/** The response of a step: about a third has a value, a third null, and a third one that its condition refuses. */
function answerOf(path: string): string | null {
  const [, name = '', id = ''] = path.split('/')
  return [`x@${name}`, null, 'nobody'][(Number(id) + STEPS.indexOf(name)) % 3] ?? null
}

test(`${KILLS} kills during runs with fallbacks repeat no call of a step whose result is stored`, async (t) => {
  const api = await startLocalApi(t)
  const random = seededRandom(22)
  const steps = STEPS.map(
    (name) =>
      `  - {kind: http, url: '${api.url}/${name}/{{ id }}', response_path: email, accept: "email LIKE '%@%'"}\n`,
  )
  const directory = await writeSheet(t, {
    contract: contractText(['{name: email, logicalType: string}']),
    records: Array.from({ length: KILLS * 30 }, (_, index) => ({ id: `${index}` })),
    derivations: { 'email.yaml': `targets: [email]\nkind: first\nsteps:\n${steps.join('')}` },
  })
  let stored = new Set<string>()
  for (let round = 0; round < KILLS; round += 1) {
    const victim = await Victim.start(t, directory)
    const calls = 10 + Math.floor(random() * 30)
    const called: string[] = []
    const { promise: enough, resolve } = Promise.withResolvers<void>()
    api.answer('*', ({ path }) => {
      called.push(path)
      if (called.length >= calls) resolve()
      return { json: { email: answerOf(path) } }
    })
    const run = victim.post('/api/materialize', {})
    // A run that ends before is as well.
    await Promise.race([enough, run])
    // The moment of the kill is what is tried here: between a call, its result, its commit and the next step.
    await delay(random() * 4)
    await victim.kill()
    await run
    assert.deepEqual(
      called.filter((path) => stored.has(path)),
      [],
      'no call for a step that was stored',
    )
    assert.equal(new Set(called).size, called.length, 'no call twice in a run')
    stored = await storedSteps(directory)
    const missing = called.flatMap(earlierSteps).filter((path) => !stored.has(path))
    assert.deepEqual(missing, [], 'a step begins when the one before is stored')
  }
  assert.ok(stored.size > KILLS)
})

/** Returns the requests of the steps before that of a request. */
function earlierSteps(path: string): readonly string[] {
  const [, name = '', id = ''] = path.split('/')
  return STEPS.slice(0, STEPS.indexOf(name)).map((step) => `/${step}/${id}`)
}

/** Returns the requests of the steps whose results are stored, after checking that each cell has the value of the first accepted one. */
async function storedSteps(directory: string): Promise<Set<string>> {
  const sheet = await openOnEngine(directory)
  const stored = new Set<string>()
  try {
    const { store, derivations } = await sheet.deriving()
    const [derivation] = derivations.levels.flat()
    if (derivation === undefined) return assert.fail('the sheet has a derivation')
    const items = await store.work({
      targets: derivation.targets,
      inputs: ['id', 'email'],
      force: true,
      state: null,
      after: null,
      limit: 100_000,
      only: null,
    })
    for (const { inputs, cells } of items) {
      const planned = planComputation(derivation, inputs)
      if (planned.outcome !== 'run') return assert.fail('every record can be computed')
      const plans = stepsOf(derivation, planned.plan)
      const entries = await store.cached(plans.map(({ hash }) => hash))
      const paths = plans.map(({ plan }) => new URL(String(plan.evidence['url'])).pathname)
      plans.forEach(({ hash }, index) => entries.has(hash) && stored.add(paths[index] ?? ''))
      const accepted = paths.map(answerOf).findIndex((answer) => answer?.includes('@') === true)
      if (cells[0]?.state !== 'fresh') continue
      assert.equal(inputs['email'], answerOf(paths[accepted] ?? ''))
      assert.equal(entries.size, accepted + 1, 'steps up to the accepted one are stored, and no others')
    }
  } finally {
    await sheet.close()
  }
  await checkedLog(directory)
  return stored
}
