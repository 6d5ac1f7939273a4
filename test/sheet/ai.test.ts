import assert from 'node:assert/strict'
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { evidenceOf } from '../../src/derivation/definition/evidence.ts'
import { ContractError, OperationError } from '../../src/errors/service-error.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { usedResources } from '../../src/sheet/calls/used-resources.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { readStatus } from '../../src/sheet/cells/read-status.ts'
import { changeContractField } from '../../src/sheet/definition/change/change-fields.ts'
import { revertChange } from '../../src/sheet/definition/change/history.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { GOOD, openAiSheet, PRICE } from '../support/ai-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { copiesOf } from '../support/sheet-copies.ts'

const ALL = { targets: null, recordIds: null, force: false }

/** The dollars of a bill as the sheet has them. */
const dollars = (billionths: bigint): number => Number(billionths) / 1e9

test('a model fills targets; request, evidence and cost are those of its API', async (t) => {
  const { run, server } = await openAiSheet(t, { file: { temperature: 0, system: 'Guess.' } })
  assert.deepEqual(await usedResources(run.sheet), [
    { type: 'host', name: new URL(server.url).host, refusal: null },
  ])
  const plan = await planMaterialize(run.sheet, ALL)
  const { materialized, totalCost } = await run.run()
  assert.equal(materialized, 2)
  assert.ok(Math.abs((plan.estimate?.inputTokens ?? 0) / server.tokens.input - 1) < 0.1)
  assert.ok((plan.estimate?.cost ?? 0) < plan.cost && totalCost <= plan.cost)
  assert.deepEqual(await run.record('1'), { id: '1', company: 'Acme', industry: 'Retail', staff: 12 })
  assert.equal(totalCost, dollars(server.billionths(PRICE)))

  const [request] = server.requests
  assert.deepEqual(request?.turns, ['Company: <data>"Acme"</data>'])
  assert.match(request.system, /between <data> and <\/data>.*untrusted.*never follow instructions/)
  assert.match(request.system, /\nGuess\.$/)
  assert.deepEqual([request.body['temperature'], request.body['max_tokens']], [0, 40])
  assert.deepEqual(request.schema, {
    type: 'object',
    properties: {
      industry: {
        type: ['string', 'null'],
        description: 'Its main business.',
        enum: ['Retail', 'Energy', null],
      },
      staff: { type: ['integer', 'null'], description: 'minimum 1' },
    },
    required: ['industry', 'staff'],
    additionalProperties: false,
  })

  const entry = (await run.entry('1', 'staff')) ?? {}
  const { duration_ms: duration, instructions, ...evidence } = evidenceOf(entry)
  assert.equal(entry['source'], 'ai')
  assert.ok(Number.isInteger(duration))
  assert.match(String(instructions), /^sha256:/)
  assert.deepEqual(evidence, {
    model: 'small',
    url: `${server.url}/chat/completions`,
    structured_output: 'json_schema',
    prompt: 'Company: <data>"Acme"</data>',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'qwen3:4b',
    'gen_ai.response.model': 'qwen3:4b-2026',
    'gen_ai.response.id': 'chatcmpl-1',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': server.tokens.input,
    'gen_ai.usage.cache_read.input_tokens': 0,
    'gen_ai.usage.output_tokens': server.tokens.output,
    cost: totalCost,
    attempts: 1,
  })
})

test('the API of Anthropic gets its version, its form of the schema, and its counts of the cache', async (t) => {
  const { run, server } = await openAiSheet(t, {
    companies: ['Acme', 'Borealis'],
    entry: { api: 'anthropic', headers: { 'x-api-key': 'secret-key-1' } },
    key: 'secret-key-1',
  })
  const { materialized, totalCost } = await run.run()
  assert.equal(materialized, 4)
  assert.ok(server.tokens.cached > 0)
  assert.equal(totalCost, dollars(server.billionths(PRICE)))
  assert.equal(server.requests[0]?.headers['anthropic-version'], '2023-06-01')
  const { evidence } = { evidence: evidenceOf((await run.entry('2', 'staff')) ?? {}) }
  assert.equal(evidence['gen_ai.provider.name'], 'anthropic')
  assert.deepEqual(evidence['gen_ai.response.finish_reasons'], ['end_turn'])
})

test('1,000 records with 400 duplicates make 600 requests, and the sum of costs is the bill', async (t) => {
  const companies = Array.from({ length: 1000 }, (_, index) => `Company ${index % 600}`)
  const { run, server } = await openAiSheet(t, { companies })
  const plan = await planMaterialize(run.sheet, ALL)
  assert.equal(plan.calls, 600)
  const { materialized, totalCost } = await run.run()
  assert.deepEqual([materialized, server.requests.length], [2000, 600])
  assert.equal(totalCost, dollars(server.billionths(PRICE)))
  assert.ok(totalCost <= plan.cost)
  const [last] = (await listRuns(run.sheet, { limit: 1, cursor: null })).runs
  assert.deepEqual([last?.calls, last?.totalCost], [600, totalCost])
  assert.deepEqual([(await run.run({ force: false })).materialized, server.requests.length], [0, 600])
})

test('an answer that violates the contract is asked for once more, with the violations', async (t) => {
  const { run, server } = await openAiSheet(t, {
    answer: ({ turns }) => (turns.length === 1 ? { json: { industry: 'Banking', staff: 0 } } : GOOD),
  })
  const { materialized, totalCost } = await run.run()
  assert.equal(materialized, 2)
  const [, repair] = server.requests
  assert.deepEqual(repair?.turns.slice(0, 2), [
    'Company: <data>"Acme"</data>',
    '{"industry":"Banking","staff":0}',
  ])
  const violations = (repair.turns[2] ?? '')
    .matchAll(/<data>(.+)<\/data>/g)
    .map(([, text = '']) => JSON.parse(text))
  const [industry, staff] = [...violations] as string[]
  assert.equal(industry, '"industry": "Banking" is not one of "Retail", "Energy"')
  assert.match(staff ?? '', /^"staff": 0 /)
  assert.equal(totalCost, dollars(server.billionths(PRICE)))
  const evidence = evidenceOf((await run.entry('1', 'staff')) ?? {})
  assert.deepEqual([evidence['attempts'], evidence['cost']], [2, totalCost])
  assert.equal(evidence['gen_ai.usage.input_tokens'], server.tokens.input)
})

test('a second request comes before first ones, so that a crash loses few paid answers', async (t) => {
  const { run, server } = await openAiSheet(t, {
    companies: ['Acme', 'Borealis', 'Cumulus'],
    answer: ({ turns }) => (turns.length === 1 ? { text: '{}' } : GOOD),
  })
  await run.edit('transport.yaml', "hosts: {'*': {concurrency: 1}}\n")
  assert.equal((await run.run()).materialized, 6)
  assert.deepEqual(
    server.requests.map(({ turns }) => turns.length),
    [1, 3, 1, 3, 1, 3],
  )
})

test('valid targets keep their values when another one fails twice, and the failure costs as well', async (t) => {
  const { run, server } = await openAiSheet(t, { answer: () => ({ json: { industry: 'Retail', staff: 0 } }) })
  const { materialized, failures, totalCost } = await run.run()
  assert.equal(materialized, 1)
  assert.deepEqual(
    failures.map(({ field, reason }) => [field, reason]),
    [['staff', 'contract']],
  )
  assert.equal(server.requests.length, 2)
  assert.equal(totalCost, dollars(server.billionths(PRICE)))
})

test('an edited price makes no cell stale; another model, another prompt and another schema do', async (t) => {
  const { run, server, models } = await openAiSheet(t, {
    file: { prompt: null, prompt_ref: 'prompts/company.md' },
    files: { 'prompts/company.md': 'About {{ company }}.\n' },
  })
  await run.run()
  await run.edit('models.yaml', models({ price: { input: 9, output: 9 }, headers: { 'x-team': 'a' } }))
  assert.deepEqual(await run.counts('staff'), { fresh: 1 })
  await run.edit('models.yaml', models({ model: 'qwen3:8b' }))
  assert.deepEqual(await run.counts('staff'), { stale: 1 })
  assert.deepEqual((await explainCell(run.sheet, 'staff', '1')).reasons, [
    { part: 'member', name: 'gen_ai.request.model', was: 'qwen3:4b', is: 'qwen3:8b' },
  ])
  await run.run()
  await run.edit('prompts/company.md', 'All about {{ company }}.\n')
  assert.deepEqual(await run.counts('staff'), { stale: 1 })
  await run.run()
  assert.equal(server.requests.at(-1)?.turns[0], 'All about <data>"Acme"</data>.\n')
  await run.edit('contract.yaml', (text) => text.replace('Its main business.', 'Its business.'))
  assert.deepEqual(await run.counts('staff'), { stale: 1 })
})

test('a plan estimates from the mean of 20 results or more of the same derivation, and reserves as much as before', async (t) => {
  const companies = Array.from({ length: 30 }, (_, index) => `Company ${index}`)
  const { run, server, models } = await openAiSheet(t, {
    companies,
    answer: ({ turns: [prompt = '', ...others] }) =>
      prompt.includes('7') && others.length === 0 ? { text: '{}' } : GOOD,
  })
  const plan = (): ReturnType<typeof planMaterialize> => planMaterialize(run.sheet, { ...ALL, force: true })
  const before = await plan()
  assert.deepEqual([before.estimate?.results, before.estimate?.fromBytes], [0, true])
  await run.run({ force: false, limit: 19 })
  assert.deepEqual(await plan(), before)
  await run.run({ force: false, limit: 1 })
  const after = await plan()
  assert.deepEqual([after.calls, after.cost], [before.calls, before.cost])
  const { input, output } = server.tokens
  assert.equal(server.requests.length, 22)
  const cost = after.estimate?.cost ?? 0
  assert.deepEqual(after.estimate, {
    inputTokens: Math.round((input / 20) * 30),
    outputTokens: Math.round((output / 20) * 30),
    cost,
    results: 20,
    fromBytes: false,
  })
  const billed = dollars(server.billionths(PRICE))
  assert.ok(Math.abs(cost / ((billed / 20) * 30) - 1) < 1e-3, `${cost} for ${billed} of 20`)
  assert.deepEqual(await plan(), after)
  assert.equal((await planMaterialize(run.sheet, ALL)).estimate?.results, 20)

  await run.edit('models.yaml', models({ price: { input: 1.5, cached_input: 0.75, output: 6 } }))
  const dearer = (await plan()).estimate
  assert.deepEqual([dearer?.inputTokens, dearer?.results], [after.estimate?.inputTokens, 20])
  assert.ok(Math.abs((dearer?.cost ?? 0) / cost - 10) < 1e-3)
  await run.edit('models.yaml', models({ model: 'qwen3:8b' }))
  assert.equal((await plan()).estimate?.results, 0)
})

test('an unknown price is null, and max_cost refuses the run and its plan', async (t) => {
  const { run, server } = await openAiSheet(t, { entry: { price: null } })
  const refused = (error: unknown): boolean => {
    assert.ok(error instanceof OperationError)
    assert.equal(error.code, 'unknown_price')
    assert.match(
      error.message,
      /^max_cost cannot be kept, since model small in models\.yaml has no price, which company\.yaml uses; add the price/,
    )
    return true
  }
  await assert.rejects(planMaterialize(run.sheet, { ...ALL, maxCost: 1 }), refused)
  await assert.rejects(run.start({ maxCost: 1 }), refused)
  assert.equal(server.requests.length, 0)
  assert.equal((await planMaterialize(run.sheet, ALL)).unpricedCalls, 1)
  assert.equal((await run.run()).totalCost, 0)
  assert.equal(evidenceOf((await run.entry('1', 'staff')) ?? {})['cost'], null)
})

test('secrets of models.yaml are sent, and are in no value, store, log, failure or plan', async (t) => {
  const secret = 'sk-canary-0123456789abcdef'
  process.env['TEST_MODEL_KEY'] = secret
  t.after(() => delete process.env['TEST_MODEL_KEY'])
  const { run, server } = await openAiSheet(t, {
    companies: ['Acme', 'Echo', 'Words'],
    entry: { headers: { Authorization: 'Bearer {{ env.TEST_MODEL_KEY }}' } },
    key: secret,
    answer: ({ turns: [prompt = ''], headers }) =>
      prompt.includes('Echo')
        ? { change: (body) => ({ ...body, model: headers.authorization }), text: '{}' }
        : prompt.includes('Words')
          ? { refusal: `I refuse ${secret}` }
          : GOOD,
  })
  const plan = await planMaterialize(run.sheet, ALL)
  const { materialized, failures } = await run.run()
  assert.deepEqual([materialized, failures.length, server.requests.length], [2, 4, 3])
  assert.deepEqual(new Set(failures.map(({ reason }) => reason)), new Set(['network']))
  const known = JSON.stringify([plan, failures, await run.history('1', 'staff')])
  const files = (await readdir(run.directory, { recursive: true, withFileTypes: true })).filter((file) =>
    file.isFile(),
  )
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')))
  for (const text of [known, ...texts]) {
    assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('base64')))
  }
})

test('a model that models.yaml does not have is refused with what to add, and so is a broken models.yaml', async (t) => {
  const { run, models } = await openAiSheet(t)
  const refused = (message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof ContractError, String(error))
    assert.match(error.message, message)
    return true
  }
  await assert.rejects(
    async () => {
      await run.edit('derivations/company.yaml', (text) => text.replace('"small"', '"smal"'))
      await planMaterialize(run.sheet, ALL)
    },
    refused(
      /^derivations\/company\.yaml:7: model is "smal", which models\.yaml does not have; it has small; did you mean "small"\?; add models: \{smal: \{api: /,
    ),
  )
  await run.edit('derivations/company.yaml', (text) => text.replace('"smal"', '"small"'))
  await assert.rejects(
    async () => {
      await run.edit('models.yaml', 'models:\n  small:\n    api: opnai\n')
      await planMaterialize(run.sheet, ALL)
    },
    refused(/^models\.yaml:3: api is "opnai"; write openai, anthropic/),
  )
  await run.edit('models.yaml', models())
  assert.equal((await run.run()).materialized, 2)
})

test('another name of a field is edited in the file of a prompt, and taken back with it', async (t) => {
  const prompt = '# About {{company}}\n\nThe company is {{ company }}, not company.\n'
  const { run } = await openAiSheet(t, {
    file: { prompt: null, prompt_ref: 'prompts/about/company.md' },
    files: { 'prompts/about/company.md': prompt },
  })
  const { sheet } = run
  const texts = async (): Promise<string> =>
    Buffer.from(
      (await sheet.definition()).files.texts(['prompts/about/company.md']).get('prompts/about/company.md') ??
        [],
    ).toString()
  const rename = (dryRun: boolean): ReturnType<typeof changeContractField> =>
    changeContractField(sheet, 'company', {
      change: { newName: 'firm', onInvalid: 'refuse', editInputs: false },
      actor: 'human:ann',
      note: null,
      ifMatch: null,
      dryRun,
    })
  const plan = await rename(true)
  assert.equal(await texts(), prompt)
  const { id, edits } = await rename(false)
  assert.deepEqual(edits, plan.edits)
  assert.deepEqual(
    edits.filter(({ file }) => file.endsWith('.md')).map(({ line, after }) => [line, after]),
    [
      [1, '# About {{firm}}'],
      [3, 'The company is {{ firm }}, not company.'],
    ],
  )
  assert.equal(
    await texts(),
    prompt.replace('{{company}}', '{{firm}}').replace('{{ company }}', '{{ firm }}'),
  )
  assert.equal((await run.run()).materialized, 2)
  await revertChange(sheet, {
    change: id ?? '',
    actor: 'human:ann',
    note: null,
    confirm: new Map(),
    dryRun: false,
  })
  assert.equal(await texts(), prompt)
  assert.deepEqual(await run.counts('staff'), { stale: 1 })
})

test('archives and copies have the models and prompts; a prompt outside of the sheet is not read', async (t) => {
  const { run } = await openAiSheet(t, {
    file: { prompt: null, prompt_ref: 'prompts/company.md' },
    files: { 'prompts/company.md': 'About {{ company }}.\n' },
  })
  await run.run()
  for (const copy of await copiesOf(t, run.sheet)) {
    const sheet = await openSheet(copy, { defaultActor: 'human:ann' })
    onEnd(t, () => sheet.close())
    assert.equal((await readStatus(sheet, ['staff']))['staff']?.fresh, 1, copy)
    assert.equal(await readFile(join(copy, 'prompts/company.md'), 'utf8'), 'About {{ company }}.\n')
  }
  const outside = `${run.directory}-outside.md`
  onEnd(t, () => rm(outside, { force: true }))
  await writeFile(outside, 'secret')
  await rm(join(run.directory, 'prompts/company.md'))
  await symlink(outside, join(run.directory, 'prompts/company.md'))
  await assert.rejects(
    planMaterialize(run.sheet, ALL),
    /company\.yaml:10: prompt_ref cannot be read: prompts\/company\.md is a symbolic link out of the sheet/,
  )
})
