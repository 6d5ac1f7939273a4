import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { toolsOf } from '../../src/mcp/tools/tool-list.ts'
import type { AgentMode } from '../../src/mcp/tools/agent-scope.ts'
import { forEveryClient, startAgent, type Agent } from '../support/agent.ts'
import { perEngine } from '../support/engine.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'

type Members = Readonly<Record<string, unknown>>

/** Calls every tool of a server that may write, in an order that makes sense; answers with their names. */
async function useAllTools(agent: Agent): Promise<readonly string[]> {
  const used: string[] = []
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Members> => {
    used.push(name)
    return (await agent.call(name, args)).structured
  }
  const { contract } = await call('get_contract')
  assert.equal((contract as Members)['kind'], 'DataContract')
  const permissions = await call('get_permissions')
  assert.deepEqual(permissions, { actor: 'agent', write: ['id', 'a'], delete: true, mode: 'write' })

  const first = await call('list_records', { fields: ['id'], limit: 2 })
  assert.deepEqual(first['records'], [{ id: 'r0' }, { id: 'r1' }])
  const second = await call('list_records', { fields: ['id'], limit: 2, cursor: first['next_cursor'] })
  assert.deepEqual(second, { records: [{ id: 'r2' }], limit: 2, next_cursor: null })
  const { record } = await call('get_record', { id: 'r1' })
  assert.deepEqual(record, { id: 'r1', a: 'v1', b: null, secret_note: null })
  assert.deepEqual(
    await call('query', { sql: 'SELECT count(*) AS n FROM records WHERE a > ?', params: ['v0'] }),
    {
      rows: [{ n: 2 }],
      count: 1,
    },
  )
  assert.equal((await call('summarize_records', { fields: ['a'], filter: "id <> 'r0'" }))['count'], 2)

  const { targets } = await call('get_status')
  assert.equal((targets as Record<string, Members>)['b']?.['missing'], 3)
  const plan = await call('plan_materialize', { limit: 2 })
  assert.equal(plan['calls'], 2)
  const { run, failures } = await call('materialize', { limit: 2 })
  assert.equal((run as Members)['materialized'], 2)
  assert.deepEqual(failures, [])
  assert.deepEqual(await call('get_cell_states', { ids: ['r0', 'r2'] }), {
    cells: { r0: { b: 'fresh' }, r2: { b: 'missing' } },
  })
  assert.equal((await call('explain_cell', { record_id: 'r0', target: 'b' }))['state'], 'fresh')
  const { entries } = await call('get_provenance', { record_id: 'r0', field: 'b', history: true })
  const [latest] = entries as readonly Members[]
  assert.equal(latest?.['value'], '<v0>')
  assert.equal(latest?.['actor'], 'agent')
  assert.equal(((await call('list_derivations'))['derivations'] as unknown[]).length, 1)

  const { version } = await call('get_record', { id: 'r1', fields: ['id'] })
  const changed = await call('upsert_records', {
    records: [{ id: 'r1', a: 'w' }],
    if_version: version,
  })
  assert.equal(changed['updated'], 1)
  const reverted = await call('revert_cell', {
    record_id: 'r0',
    field: 'b',
    seq: latest?.['seq'],
  })
  assert.equal(reverted['reverted'], 1)
  const undone = await call('revert_run', { run_id: (run as Members)['id'] })
  assert.deepEqual([undone['reverted'], undone['conflict_count']], [1, 1])
  assert.equal((await call('delete_records', { ids: ['r1', 'nobody'] }))['deleted'], 1)
  assert.deepEqual(await call('restore_records', { ids: ['r1'] }), { restored: 1 })
  assert.match(await agent.fails('restore_records', { ids: ['r1', 'r2'], seq: 3 }), /^ValidationError: "seq"/)

  const { runs } = await call('list_runs')
  assert.deepEqual(
    (runs as readonly Members[]).map(({ kind }) => kind),
    ['revert', 'materialize'],
  )
  assert.equal((await call('get_run', { id: '1' }))['state'], 'finished')
  assert.deepEqual(await call('list_run_failures', { id: '1' }), { failures: [], next_cursor: null })
  assert.deepEqual(await call('group_failures', { run_id: '1' }), { cells: 0, groups: [] })
  const again = await call('materialize', { background: true, force: true })
  const { id } = again['run'] as Members
  // It may have ended before it could be cancelled; what counts is that the tool answers as it should.
  used.push('cancel_run')
  const cancelled = await agent.raw('cancel_run', { id: String(id) })
  if (cancelled.isError === true) assert.match(JSON.stringify(cancelled.content), /is not running any more/)

  assert.deepEqual(await call('list_proposals'), { proposals: [], waiting: 0, next_cursor: null })
  used.push('get_proposal')
  assert.match(await agent.fails('get_proposal', { id: '1' }), /^SheetError: no proposal "1"/)
  return used
}

forEveryClient(({ transport, era, name }) => {
  void test(`${name}: every tool works, and its result matches its schema`, async (t) => {
    const { sheet } = await writeLookupSheet(t)
    const agent = await startAgent(t, sheet, { transport, era })
    const used = await useAllTools(agent)
    const tools = await agent.tools()
    assert.ok(JSON.stringify(tools).length <= 21_000, 'an agent reads all definitions before it begins')
    const listed = tools.map((tool) => tool.name)
    assert.deepEqual([...new Set(used)].toSorted(), listed.toSorted())
    const told = JSON.stringify([await agent.tools(), agent.client.getInstructions()])
    const [own, other] = perEngine({ sqlite: ['SQLite', 'PostgreSQL'], postgres: ['PostgreSQL', 'SQLite'] })
    assert.equal(told.match(new RegExp(`\\(${own}\\)|SQL of ${own}`, 'g'))?.length, 5)
    assert.doesNotMatch(told, new RegExp(`${other}|\\{dialect\\}`))
  })
})

test('a large result is sent once, as text; a small one is structured as well', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25' })
  const records = Array.from({ length: 300 }, (_, index) => ({ id: `large-${index}`, a: 'x'.repeat(40) }))
  await agent.call('upsert_records', { records })
  const large = await agent.raw('list_records', { limit: 300 })
  assert.equal(large.structuredContent, undefined)
  const [, data] = large.content
  assert.ok(data?.type === 'text')
  assert.equal((JSON.parse(data.text) as { records: unknown[] }).records.length, 300)
  const small = await agent.raw('list_records', { limit: 1 })
  assert.equal((small.structuredContent as { records: unknown[] }).records.length, 1)
  assert.match(
    await agent.fails('list_records', { fields: ['idd'] }),
    /unknown field "idd" \(did you mean "id"\?\)/,
  )
})

const MODES: readonly AgentMode[] = ['write', 'read-only', 'propose']

test('the schemas of all tools compile, and describe each member', () => {
  const ajv = new Ajv({ strict: true })
  for (const mode of MODES) {
    for (const { name, title, description, input, output } of toolsOf({ mode, allowDefinition: false })) {
      assert.match(name, /^[a-z]+(_[a-z]+)*$/)
      assert.ok(title.length > 3 && description.length > 20, name)
      assert.equal((input as { additionalProperties?: unknown }).additionalProperties, false, name)
      for (const [member, schema] of Object.entries(input.properties)) {
        assert.ok('description' in schema, `${name}: ${member}`)
      }
      for (const schema of [input, output]) {
        assert.equal(schema.type, 'object')
        // As a client gets it.
        ajv.compile(JSON.parse(JSON.stringify(schema)) as object)
      }
    }
  }
})

test('no tool takes an actor', () => {
  for (const mode of MODES) {
    for (const { name, input } of toolsOf({ mode, allowDefinition: false })) {
      assert.ok(!Object.keys(input.properties).some((member) => member.includes('actor')), name)
    }
  }
})

test('the annotations of a tool match its effect', () => {
  const hints = Object.fromEntries(
    MODES.flatMap((mode) =>
      toolsOf({ mode, allowDefinition: false })
        .filter(({ annotations }) => annotations.readOnlyHint !== true)
        .map(({ name, annotations }) => {
          const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
          assert.equal(readOnlyHint, false)
          return [`${mode} ${name}`, [destructiveHint, idempotentHint, openWorldHint]] as const
        }),
    ),
  )
  assert.deepEqual(hints, {
    'write upsert_records': [true, true, false],
    'write delete_records': [true, true, false],
    'write materialize': [true, false, true],
    'write cancel_run': [false, true, false],
    'write revert_cell': [true, true, false],
    'write revert_run': [true, true, false],
    'write restore_records': [false, false, false],
    'propose upsert_records': [false, false, false],
    'propose delete_records': [false, false, false],
    'propose materialize': [true, false, true],
    'propose cancel_run': [false, true, false],
  })
})
