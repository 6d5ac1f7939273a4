import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { PermissionDeniedError } from '../../src/errors/service-error.ts'
import { toolsOf } from '../../src/mcp/tools/tool-list.ts'
import { readProvenance } from '../../src/sheet/cells/read-provenance.ts'
import { addContractField } from '../../src/sheet/definition/change/change-fields.ts'
import { listChanges, readChange } from '../../src/sheet/definition/change/history.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import {
  acceptProposal,
  getProposal,
  planProposal,
  rejectProposal,
} from '../../src/sheet/writes/proposals.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { startAgent, type Agent } from '../support/agent.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { openOnEngine } from '../support/engine.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'
import { onEnd } from '../support/on-end.ts'

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

test('with --allow-definition an agent changes fields and derivations, each after a dry run, and takes changes back', async (t) => {
  const { sheet, api } = await writeLookupSheet(t)
  const flags = ['--allow-definition', '--actor', 'agent:smith']
  const agent = await startAgent(t, sheet, { flags })
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

/** A sheet whose definition an agent proposes to change, opened by a person too. */
async function proposing(
  t: TestContext,
  flags: readonly string[] = [],
): Promise<{ readonly agent: Agent; readonly person: Sheet; readonly sheet: string }> {
  const { sheet } = await writeLookupSheet(t)
  const agent = await over(t, sheet, ['--propose', '--allow-definition', '--actor', 'agent:smith', ...flags])
  const person = await openOnEngine(sheet)
  onEnd(t, () => person.close())
  return { agent, person, sheet }
}

async function proposed(agent: Agent, tool: string, args: Record<string, unknown>): Promise<string> {
  const { structured, text } = await agent.call(tool, args)
  assert.match(text, /^Proposal \d+ to change .* waits for a person; nothing has changed yet\./)
  return String(structured['proposal'])
}

const ANN = 'human:ann'

test('with --propose a change of the definition waits, and is carried out when a person accepts it', async (t) => {
  const { agent, person } = await proposing(t)
  const plan = await agent.call('rename_field', { field: 'a', new_name: 'word', dry_run: true })
  assert.equal(plan.structured['proposal'], undefined)
  const id = await proposed(agent, 'rename_field', { field: 'a', new_name: 'word', note: 'Clearer.' })
  assert.deepEqual(await fieldsOf(agent), ['id', 'a', 'b', 'secret_note'])

  const { kind, definition } = await getProposal(person, id)
  assert.equal(kind, 'definition')
  assert.deepEqual(
    definition?.files.map(({ path, moved }) => [path, moved]),
    [
      ['contract.yaml', false],
      ['derivations/b.yaml', false],
    ],
  )
  const { fields, dryRun, resources, secrets } = await planProposal(person, id)
  assert.equal(dryRun, true)
  assert.partialDeepStrictEqual(fields.fields, [{ change: 'renamed', field: 'word', kept: 3 }])
  assert.deepEqual([resources, secrets], [[], []])
  await assert.rejects(acceptProposal(person, { id, actor: 'agent:smith' }), PermissionDeniedError)

  assert.equal((await acceptProposal(person, { id, actor: ANN })).state, 'accepted')
  assert.deepEqual(await fieldsOf(agent), ['id', 'word', 'b', 'secret_note'])
  const [change] = (await listChanges(person, { limit: 1, cursor: null })).changes
  assert.deepEqual(
    [change?.actor, change?.note, change?.proposal],
    [ANN, 'Clearer.', { id, by: 'agent:smith' }],
  )
  const { store } = await person.current()
  assert.deepEqual((await readChange(person, change?.id ?? '')).change, change)
  assert.equal((await store.proposals.counts()).waiting, 0)
  for (const decide of [acceptProposal(person, { id, actor: ANN }), planProposal(person, id)]) {
    await assert.rejects(decide, /proposal 1 does not wait any more: "human:ann" accepted it/)
  }
})

test('a field and its derivation are added, proposed and removed together', async (t) => {
  const { agent, person } = await proposing(t)
  const text = 'targets: [c]\nkind: http\ninputs: [a]\nurl: https://a.example/{{ a }}\nresponse_path: c\n'
  const field = { name: 'c', logicalType: 'string', editable_by: ['human:*'] }
  const added = { ...field, derivations: { 'c.yaml': text } }
  const plan = await agent.call('add_field', { ...added, dry_run: true })
  assert.match(plan.text, /3 cells more to compute\. Computing c takes 3 calls: \$0\.$/)
  assert.partialDeepStrictEqual(plan.structured['recomputing'], { calls: 3, cost: 0 })
  assert.match(
    await agent.fails('add_field', { ...added, derivations: { 'c.yaml': 'targets: [d]\n' } }),
    /^OperationError: derivations\/c\.yaml:1: /,
  )
  const id = await proposed(agent, 'add_field', added)
  const { definition } = await getProposal(person, id)
  assert.deepEqual(
    definition?.files.map(({ path }) => path),
    ['contract.yaml', 'derivations/c.yaml'],
  )
  assert.equal((await planProposal(person, id)).recomputing?.calls, 3)
  await acceptProposal(person, { id, actor: ANN })
  assert.equal((await person.defined()).derivations.byTarget.get('c')?.file, 'c.yaml')

  await upsertRecords(person, { records: [{ id: 'r0', c: 'x' }], actor: ANN }, { ifMatch: null, actor: null })
  assert.match(
    await agent.fails('remove_field', { field: 'c' }),
    /^OperationError: .* is derived; .*; remove_field with derivations does that/,
  )
  const both = { field: 'c', derivations: { 'c.yaml': null } }
  assert.match(
    await agent.fails('remove_field', both),
    /^OperationError: removing property "c" loses its value in 1 record: confirm that number/,
  )
  const removal = await proposed(agent, 'remove_field', { ...both, confirm: 1 })
  await acceptProposal(person, { id: removal, actor: ANN })
  assert.deepEqual(await fieldsOf(agent), ['id', 'a', 'b', 'secret_note'])
  assert.equal((await person.defined()).derivations.byTarget.size, 1)
})

test('a proposal that two people accept at once is carried out once, and the other is told', async (t) => {
  const { agent, person, sheet } = await proposing(t)
  const other = await openOnEngine(sheet)
  onEnd(t, () => other.close())
  const id = await proposed(agent, 'add_field', { name: 'c', logicalType: 'string' })
  const outcomes = await Promise.allSettled([
    acceptProposal(person, { id, actor: ANN }),
    acceptProposal(other, { id, actor: 'human:bob' }),
  ])
  const refusals = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
  assert.equal(refusals.length, 1)
  assert.match(refusals[0]?.message ?? '', /does not wait any more/)
  const { changes } = await listChanges(person, { limit: 10, cursor: null })
  assert.deepEqual(
    changes.map(({ proposal }) => proposal?.id),
    [id],
  )
})

test('a proposal whose file has changed since cannot be accepted, and still waits', async (t) => {
  const { agent, person } = await proposing(t)
  const id = await proposed(agent, 'add_field', { name: 'c', logicalType: 'string' })
  const text = 'targets: [b]\nkind: sql\nexpression: upper(a)\n'
  const another = await proposed(agent, 'set_derivation', { file: 'b.yaml', text })
  const options = { actor: ANN, note: null, ifMatch: null, dryRun: false }
  await addContractField(person, { name: 'd', logicalType: 'string' }, options)
  const { definition, state } = await getProposal(person, id)
  assert.deepEqual([definition?.files[0]?.moved, state], [true, 'waiting'])
  const expected = { code: 'version_mismatch', message: /contract\.yaml has changed since/ }
  await assert.rejects(planProposal(person, id), expected)
  await assert.rejects(acceptProposal(person, { id, actor: ANN }), {
    ...expected,
    message:
      /^proposal 1 cannot be accepted, and nothing was changed: contract\.yaml has changed since it was made;/,
  })
  assert.equal((await getProposal(person, id)).state, 'waiting')
  // One of another file can be, and the rejected one is left as it was.
  await acceptProposal(person, { id: another, actor: ANN })
  await rejectProposal(person, { id, actor: ANN, reason: 'Later' })
  assert.match(
    (await agent.call('get_proposal', { id })).text,
    /is rejected: Later\. It changes contract\.yaml/,
  )
})

test('the plan of a proposal names the hosts, programs and secrets that it adds', async (t) => {
  const { agent, person } = await proposing(t)
  const text = JSON.stringify({
    targets: ['b'],
    inputs: ['a'],
    kind: 'http',
    url: 'https://elsewhere.example.com/{{ a }}',
    headers: { Authorization: 'Bearer {{ env.SOME_KEY }}' },
    response_path: 'x',
  })
  const id = await proposed(agent, 'set_derivation', { file: 'b.yaml', text })
  const { resources, secrets } = await planProposal(person, id)
  assert.deepEqual(resources, [{ type: 'host', name: 'elsewhere.example.com:443' }])
  assert.deepEqual(secrets, ['SOME_KEY'])
  // Nor does a preview call it before.
  assert.match(
    await agent.fails('preview_derivation', { file: 'b.yaml', text }),
    /^PermissionDeniedError: b\.yaml uses the host elsewhere\.example\.com:443, and a new text can be tried only once/,
  )
  const formula = 'targets: [b]\nkind: sql\nexpression: upper(a)\n'
  const tried = await agent.call('preview_derivation', { file: 'b.yaml', text: formula, sample: 1 })
  assert.match(tried.text, /^Of 1 record: 1 computed\./)
})

test('a proposal is refused where its change would be, or changes nothing, or is too large', async (t) => {
  const { agent, person } = await proposing(t)
  assert.match(await agent.fails('remove_field', { field: 'b' }), /derived/)
  assert.match(await agent.fails('remove_field', { field: 'a' }), /inputs names "a"/)
  assert.match(await agent.fails('set_derivation', { file: 'x.yaml', text: 'targets: [' }), /x\.yaml:1/)
  assert.match(
    await agent.fails('set_derivation', { file: '../x.yaml', text: '' }),
    /^ValidationError: the file name/,
  )
  const { text } = (await agent.call('get_derivation', { file: 'b.yaml' })).structured
  assert.match(await agent.fails('set_derivation', { file: 'b.yaml', text }), /nothing to propose/)
  const huge = `${String(text)}\n# ${'x'.repeat(2 << 20)}`
  assert.match(await agent.fails('set_derivation', { file: 'b.yaml', text: huge }), /is larger than 1 MiB/)
  assert.match(
    await agent.fails('set_derivation', { file: 'b.yaml', text: `${String(text)}\n`, keep_fresh: true }),
    /keep_fresh is not possible/,
  )
  assert.equal((await (await person.current()).store.proposals.counts()).waiting, 0)
})

test('the person who accepts a removal confirms the values that are there by then', async (t) => {
  const { agent, person } = await proposing(t)
  const id = await proposed(agent, 'remove_field', { field: 'secret_note' })
  await upsertRecords(person, Buffer.from('{"records":[{"id":"r0","secret_note":"x"}]}'), {
    actor: ANN,
    ifMatch: null,
  })
  await assert.rejects(acceptProposal(person, { id, actor: ANN }), /loses its value in 1 record: confirm/)
  const { fields } = await planProposal(person, id)
  assert.deepEqual([fields.fields[0]?.lost, fields.conflicts], [1, []])
  await acceptProposal(person, { id, actor: ANN, confirm: new Map([['secret_note', 1]]) })
  const reverted = (await listChanges(person, { limit: 1, cursor: null })).changes[0]?.id ?? ''
  const back = await proposed(agent, 'revert_definition_change', { change: reverted })
  await acceptProposal(person, { id: back, actor: ANN })
  const { structured } = await agent.call('get_record', { id: 'r0', fields: ['secret_note'] })
  assert.deepEqual(structured['record'], { secret_note: 'x' })
  const entry = JSON.stringify(await readProvenance(person, { recordId: 'r0', field: 'secret_note' }))
  assert.match(entry, /human:ann/)
})
