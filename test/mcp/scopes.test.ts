import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { acceptProposal } from '../../src/sheet/writes/proposals.ts'
import { readProvenance } from '../../src/sheet/cells/read-provenance.ts'
import { toolsOf } from '../../src/mcp/tools/tool-list.ts'
import { startAgent, type Agent } from '../support/agent.ts'
import { openOnEngine } from '../support/engine.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'
import { onEnd } from '../support/on-end.ts'

async function names(agent: Agent): Promise<readonly string[]> {
  return (await agent.tools()).map(({ name }) => name).toSorted()
}

const READING = toolsOf({ mode: 'read-only', allowDefinition: false }).map(({ name }) => name)

test('with --read-only no tool that writes is listed, and none can be called', async (t) => {
  const { sheet, api } = await writeLookupSheet(t)
  const agent = await startAgent(t, sheet, { flags: ['--read-only'] })
  assert.deepEqual(await names(agent), READING.toSorted())
  for (const { annotations, name: tool } of await agent.tools()) {
    assert.equal(annotations?.readOnlyHint, true, tool)
  }
  for (const tool of toolsOf({ mode: 'write', allowDefinition: false }).filter(
    ({ name: one }) => !READING.includes(one),
  )) {
    await assert.rejects(agent.raw(tool.name, {}), /not found/, tool.name)
  }
  const { structured } = await agent.call('get_permissions')
  assert.deepEqual(structured, { actor: 'agent', write: [], delete: false, mode: 'read-only' })
  // What it says of the rest, it does not do.
  assert.equal((await agent.call('plan_materialize')).structured['calls'], 3)
  assert.deepEqual((await agent.call('list_runs')).structured['runs'], [])
  assert.deepEqual(api.requests, [])
})

test('with --propose writes wait for a person, who is then in the provenance with the agent', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const flags = ['--propose', '--actor', 'agent:intern']
  const agent = await startAgent(t, sheet, { flags })
  const proposing = ['upsert_records', 'delete_records', 'materialize', 'cancel_run']
  assert.deepEqual(await names(agent), [...READING, ...proposing].toSorted())
  const { structured, text } = await agent.call('upsert_records', {
    records: [{ id: 'r0', a: 'better' }],
    note: 'A better value.',
  })
  const proposal = structured['proposal'] as Readonly<Record<string, unknown>>
  assert.equal(proposal['state'], 'waiting')
  assert.equal(proposal['proposed_by'], 'agent:intern')
  assert.match(text, /waits for a person/)
  assert.equal(((await agent.call('get_record', { id: 'r0' })).structured['record'] as { a: string }).a, 'v0')
  await agent.call('delete_records', { ids: ['r2'] })
  const waiting = await agent.call('list_proposals', { state: 'waiting' })
  assert.equal(waiting.structured['waiting'], 2)
  const shown = await agent.call('get_proposal', { id: String(proposal['id']) })
  assert.deepEqual((shown.structured['records'] as { fields: unknown }[])[0]?.fields, [
    { field: 'a', was: 'v0', now: 'v0', proposed: 'better', moved: false, decision: null },
  ])

  const person = await openOnEngine(sheet)
  onEnd(t, () => person.close())
  await acceptProposal(person, { id: String(proposal['id']), actor: 'human:ann' })
  const record = JSON.parse(String((await getRecord(person, 'r0', ['a'])).json)) as object
  assert.deepEqual(record, { a: 'better' })
  const entry = JSON.stringify(await readProvenance(person, { recordId: 'r0', field: 'a' }))
  assert.match(entry, /agent:intern/)
  assert.match(entry, /human:ann/)
  const told = await agent.call('get_proposal', { id: String(proposal['id']) })
  assert.match(told.text, /is accepted/)
})

test('with --propose a run keeps manual values, since it cannot be forced', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25', flags: ['--propose'] })
  assert.match(
    await agent.fails('materialize', { force: true }),
    /unknown argument "force"; known here: targets/,
  )
  assert.match(
    await agent.fails('materialize', { overwrite_manual: true }),
    /unknown argument "overwrite_manual"/,
  )
})

test('D28: an agent sees manual values, and overwrites them only with the option and the permission', async (t) => {
  const { sheet } = await writeLookupSheet(t, { editors: "'agent*'" })
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25' })
  await agent.call('upsert_records', { records: [{ id: 'r0', b: 'by hand' }] })
  assert.match((await agent.call('plan_materialize', { force: true })).text, /It would keep 1 manual value\./)
  assert.match((await agent.call('materialize', { force: true })).text, /It kept 1 manual value\./)
  const overwriting = { force: true, overwrite_manual: true }
  const plan = await agent.call('plan_materialize', overwriting)
  assert.match(plan.text, /It would overwrite 1 manual value; ask a person first\./)
  assert.equal(plan.structured['manual_overwritten'], 1)
  const { text, structured } = await agent.call('materialize', overwriting)
  assert.match(text, /It overwrote 1 manual value\./)
  assert.partialDeepStrictEqual(structured['run'], { manual_left: 0, manual_overwritten: 1 })

  const other = await writeLookupSheet(t, { editors: "'agent*'" })
  const writer = await startAgent(t, other.sheet, { transport: 'http', era: '2025-11-25' })
  await writer.call('upsert_records', { records: [{ id: 'r0', b: 'by hand' }] })
  const flags = ['--actor', 'bot']
  const bot = await startAgent(t, other.sheet, { transport: 'http', era: '2025-11-25', flags })
  for (const tool of ['plan_materialize', 'materialize']) {
    assert.match(
      await bot.fails(tool, overwriting),
      /^PermissionDeniedError: actor "bot" may not overwrite "b"/,
    )
  }
})

test('with --propose an agent cancels its own runs and no others', async (t) => {
  const { sheet, api } = await writeLookupSheet(t)
  const hold = api.hold('/b/*')
  const owner = await startAgent(t, sheet, {
    transport: 'http',
    era: '2025-11-25',
    flags: ['--actor', 'human:ann'],
  })
  const agent = await startAgent(t, sheet, { flags: ['--propose'] })
  const { structured } = await owner.call('materialize', { background: true })
  const { id } = structured['run'] as { id: string }
  await hold.arrived()
  assert.match(
    await agent.fails('cancel_run', { id }),
    /^PermissionDeniedError: run 1 was started by "human:ann".*\nget_permissions/,
  )
  assert.equal((await owner.call('cancel_run', { id })).structured['state'], 'cancelled')
  hold.release()
})

test('the actor is the one that the server was started with, whatever a call names', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const agent = await startAgent(t, sheet, {
    transport: 'http',
    era: '2025-11-25',
    flags: ['--actor', 'agent:fixed'],
  })
  for (const [tool, args] of [
    ['upsert_records', { records: [{ id: 'x' }] }],
    ['delete_records', { ids: ['r0'] }],
    ['materialize', {}],
  ] as const) {
    assert.match(await agent.fails(tool, { ...args, actor: 'human:ann' }), /unknown argument "actor"/)
  }
  await agent.call('upsert_records', { records: [{ id: 'x', a: 'new' }] })
  const { structured } = await agent.call('get_provenance', { record_id: 'x', field: 'a' })
  assert.equal((structured['entries'] as { actor: string }[])[0]?.actor, 'agent:fixed')
})
