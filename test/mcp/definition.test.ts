import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toolsOf } from '../../src/mcp/tools/tool-list.ts'
import { forEveryClient, startAgent, type Agent } from '../support/agent.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'

const BOTH = { mode: 'write', allowDefinition: true } as const
const OWN = toolsOf(BOTH)
  .filter((tool) => !toolsOf({ ...BOTH, allowDefinition: false }).includes(tool))
  .map(({ name }) => name)

function over(t: Parameters<typeof startAgent>[0], sheet: string, flags: readonly string[]): Promise<Agent> {
  return startAgent(t, sheet, { transport: 'http', era: '2025-11-25', flags })
}

async function fieldsOf(agent: Agent): Promise<readonly string[]> {
  const { structured } = await agent.call('get_contract')
  const { schema } = structured['contract'] as {
    schema: readonly [{ properties: readonly { name: string }[] }]
  }
  return schema[0].properties.map(({ name }) => name)
}

forEveryClient(({ transport, era, name }) => {
  void test(`${name}: with --allow-definition an agent changes fields and derivations, each after a dry run, and takes changes back`, async (t) => {
    const { sheet, api } = await writeLookupSheet(t)
    const flags = ['--allow-definition', '--actor', 'agent:smith']
    const agent = await startAgent(t, sheet, { transport, era, flags })
    assert.equal((await agent.call('get_permissions')).structured['definition'], true)

    const field = { name: 'c', logicalType: 'string' }
    const plan = await agent.call('add_field', { ...field, dry_run: true })
    assert.match(plan.text, /^This change of contract\.yaml would be made; nothing has changed yet\./)
    assert.deepEqual(await fieldsOf(agent), ['id', 'a', 'b', 'secret_note'])
    await agent.call('add_field', { ...field, note: 'For the loud ones.' })

    const text = 'targets: [c]\nkind: sql\nexpression: upper(a)\n'
    const previewed = await agent.call('preview_derivation', { file: 'c.yaml', text, record_ids: ['r1'] })
    assert.deepEqual((previewed.structured['records'] as [{ values: object }])[0].values, { c: 'V1' })
    assert.match(previewed.text, /^Of 1 record: 1 computed\. 0 calls; no cell was stored\./)
    const set = await agent.call('set_derivation', { file: 'c.yaml', text })
    assert.match(set.text, /^Change 2 of derivations\/c\.yaml was made; .* 3 cells more to compute\.$/)
    const { version } = (await agent.call('get_derivation', { file: 'c.yaml' })).structured
    assert.match(
      await agent.fails('set_derivation', { file: 'c.yaml', text: `${text}# new\n`, if_version: 'old' }),
      /^OperationError: derivations\/c\.yaml has changed/,
    )
    await agent.call('set_derivation', { file: 'c.yaml', text: `${text}# new\n`, if_version: version })

    const renamed = await agent.call('rename_field', { field: 'a', new_name: 'word' })
    assert.deepEqual(
      new Set((renamed.structured['edits'] as { file: string }[]).map(({ file }) => file)),
      new Set(['contract.yaml', 'derivations/b.yaml', 'derivations/c.yaml']),
    )
    await agent.call('change_field', { field: 'word', description: 'A word.', required: true })
    await agent.call('remove_derivation', { file: 'c.yaml' })
    assert.match(
      await agent.fails('remove_field', { field: 'word', dry_run: true }),
      /^OperationError: derivations\/b\.yaml:1: inputs names "word", which is no field of the contract/,
    )
    const gone = await agent.call('remove_field', { field: 'c' })
    assert.deepEqual(await fieldsOf(agent), ['id', 'word', 'b', 'secret_note'])

    const back = await agent.call('revert_definition_change', { change: String(gone.structured['change']) })
    assert.deepEqual(await fieldsOf(agent), ['id', 'word', 'b', 'secret_note', 'c'])
    const { structured } = await agent.call('list_definition_changes', { limit: 2 })
    assert.partialDeepStrictEqual(structured['changes'], [
      { id: back.structured['change'], actor: 'agent:smith', reverts: gone.structured['change'] },
      { id: gone.structured['change'], actor: 'agent:smith' },
    ])
    const first = await agent.call('get_definition_change', { change: '1' })
    assert.equal(first.structured['note'], 'For the loud ones.')
    assert.deepEqual(api.requests, [])
  })
})

test('without --allow-definition no tool for the definition is listed, and none can be called', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  for (const flags of [[], ['--propose'], ['--read-only']]) {
    const agent = await over(t, sheet, flags)
    const listed = (await agent.tools()).map(({ name }) => name)
    assert.deepEqual(
      OWN.filter((name) => listed.includes(name)),
      [],
    )
    for (const tool of OWN) await assert.rejects(agent.raw(tool, {}), /not found/, tool)
    assert.equal((await agent.call('get_permissions')).structured['definition'], undefined)
  }
  const { code, stderr } = await new ColophonProcess(t, [
    'mcp',
    sheet,
    '--read-only',
    '--allow-definition',
  ]).end()
  assert.equal(code, 2)
  assert.match(stderr, /cannot be used with/)
})

test('previews and runs have one budget of calls', async (t) => {
  const { sheet, api } = await writeLookupSheet(t, { records: 6 })
  const agent = await over(t, sheet, ['--allow-definition', '--max-calls', '4'])
  const preview = (args: object): ReturnType<Agent['call']> =>
    agent.call('preview_derivation', { file: 'b.yaml', ...args })
  const first = await preview({ record_ids: ['r0', 'r1', 'r2'] })
  const budget = { calls: 3, max_calls: 4, calls_left: 1, cost: 0, max_cost: null, cost_left: null }
  assert.deepEqual(first.structured['budget'], budget)
  assert.match(first.text, /Spent so far: 3 of 4 calls\.$/)
  // What is in the cache needs no budget, the next two need more than is left.
  const second = await preview({ record_ids: ['r0', 'r3', 'r4'] })
  assert.match(second.text, /2 computed, 1 left because of a bound\. 1 call, /)
  assert.match(
    (await preview({ record_ids: ['r5'] })).text,
    /^Of 1 record: 1 left because of a bound\. 0 calls/,
  )
  assert.match(await agent.fails('materialize', { record_ids: ['r5'] }), /the budget does not allow any/)
  assert.equal(api.requests.length, 4)
})

test('a preview counts in the budget of dollars, also one that the client cancels', async (t) => {
  const { sheet, api } = await writeLookupSheet(t, { records: 6, cost: 0.1 })
  const agent = await over(t, sheet, ['--allow-definition', '--max-cost', '0.3'])
  const hold = api.hold('/b/*')
  const cancel = new AbortController()
  const cancelled = agent.call('preview_derivation', { file: 'b.yaml', sample: 1 }, { signal: cancel.signal })
  await hold.arrived()
  cancel.abort()
  await assert.rejects(cancelled)
  hold.release()
  // Its permission has ended when another one may spend.
  const rest = await agent.call('preview_derivation', { file: 'b.yaml', sample: 6 })
  assert.equal(rest.structured['calls'], 2)
  assert.equal((rest.structured['budget'] as { cost: number }).cost, 0.3)
  assert.equal(api.requests.length, 3)
})
