import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOverHttp, serveAgents, startAgent, type Called } from '../support/agent.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'

function runOf({ structured }: Called): { calls: number; skipped: number; materialized: number } {
  return structured['run'] as { calls: number; skipped: number; materialized: number }
}

test('--max-calls bounds all runs together, is in results, and refuses with the rest', async (t) => {
  const { sheet, api } = await writeLookupSheet(t, { records: 6 })
  const agent = await startAgent(t, sheet, { flags: ['--max-calls', '4'] })
  const first = await agent.call('materialize', { limit: 3 })
  assert.equal(runOf(first).calls, 3)
  const budget = { calls: 3, max_calls: 4, calls_left: 1, cost: 0, max_cost: null, cost_left: null }
  assert.deepEqual(first.structured['budget'], budget)
  assert.match(first.text, /Spent so far: 3 of 4 calls\./)
  // Its own bound is higher than what is left.
  const second = await agent.call('materialize', { max_calls: 100 })
  assert.deepEqual([runOf(second).calls, runOf(second).materialized], [1, 1])
  for (const args of [{}, { max_calls: 100 }, { force: true }]) {
    const told = await agent.fails('materialize', args)
    assert.match(told, /^OperationError: the budget does not allow any of the \d calls .* 4 of 4 calls/)
  }
  assert.equal(
    ((await agent.call('get_status')).structured['budget'] as { calls_left: number }).calls_left,
    0,
  )
  assert.equal(api.requests.length, 4)
})

test('--max-cost bounds all runs together, to the cent', async (t) => {
  const { sheet, api } = await writeLookupSheet(t, { records: 6, cost: 0.1 })
  const agent = await startAgent(t, sheet, {
    transport: 'http',
    era: '2025-11-25',
    flags: ['--max-cost', '0.3'],
  })
  const plan = await agent.call('plan_materialize')
  assert.deepEqual([plan.structured['calls'], plan.structured['cost']], [6, 0.6])
  const first = await agent.call('materialize', { limit: 1 })
  assert.deepEqual(first.structured['budget'], {
    calls: 1,
    max_calls: null,
    calls_left: null,
    cost: 0.1,
    max_cost: 0.3,
    cost_left: 0.2,
  })
  const second = await agent.call('materialize')
  assert.equal(runOf(second).calls, 2)
  assert.match(await agent.fails('materialize'), /\$0\.3 of \$0\.3/)
  assert.equal(api.requests.length, 3)
})

test('concurrent runs spend no more than the budget together, also those of several clients', async (t) => {
  const { sheet, api } = await writeLookupSheet(t, { records: 12 })
  const port = await (await serveAgents(t, sheet, { flags: ['--max-calls', '5'] })).port()
  const agents = await Promise.all([
    agentOverHttp(t, port, { era: '2025-11-25' }),
    agentOverHttp(t, port, { era: '2025-11-25' }),
    agentOverHttp(t, port, { era: '2026-07-28' }),
  ])
  const results = await Promise.all(
    agents.flatMap((agent, index) => [
      agent.raw('materialize', { record_ids: [`r${index}`, `r${index + 3}`] }),
      agent.raw('materialize', { record_ids: [`r${index + 6}`, `r${index + 9}`] }),
    ]),
  )
  assert.equal(api.requests.length, 5)
  const refused = results.filter(({ isError }) => isError === true)
  assert.equal(refused.length, 3)
  for (const { content } of refused) assert.match(JSON.stringify(content), /5 of 5 calls/)
})

test('cells without calls need no budget: the cache still fills them', async (t) => {
  const { sheet, api } = await writeLookupSheet(t, { records: 1 })
  const agent = await startAgent(t, sheet, { flags: ['--max-calls', '1'] })
  await agent.call('materialize')
  await agent.call('upsert_records', { records: [{ id: 'twin', a: 'v0' }] })
  assert.deepEqual([runOf(await agent.call('materialize')).materialized, api.requests.length], [1, 1])
})

test('a cancelled run keeps its spending in the budget', async (t) => {
  const { sheet, api } = await writeLookupSheet(t, { records: 4 })
  const agent = await startAgent(t, sheet, {
    transport: 'http',
    era: '2025-11-25',
    flags: ['--max-calls', '3'],
  })
  const hold = api.hold('/b/*')
  const { structured } = await agent.call('materialize', { background: true })
  await hold.arrived(2)
  await agent.call('cancel_run', { id: (structured['run'] as { id: string }).id })
  hold.release()
  const after = await agent.call('materialize')
  assert.equal(runOf(after).calls, 1)
  assert.equal((after.structured['budget'] as { calls: number }).calls, 3)
})
