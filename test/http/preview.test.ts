import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { previewDerivation } from '../../src/sheet/preview/preview-derivation.ts'
import { readChoices } from '../../src/sheet/schema/read-choices.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import type { DefinitionChangeAnswer } from '../../src/wire/definition/change.ts'
import type { PreviewAnswer } from '../../src/wire/definition/preview.ts'
import { contractText } from '../support/contract-with.ts'
import { assertEnvelope, CSRF, startApp, type TestApp, type TestAppOptions } from '../support/http-fixture.ts'
import { startLocalApi, type LocalApi } from '../support/local-api.ts'
import { openOnEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { NetworkTransport } from '../../src/sheet/transports.ts'

const FIELDS = [
  '{name: city, logicalType: string}',
  '{name: size, logicalType: number}',
  '{name: label, logicalType: string}',
  '{name: short, logicalType: string, logicalTypeOptions: {maxLength: 3}}',
]
const RECORDS = ['Bern', 'Cork', 'Bern', null, 'Graz'].map((city, index) => ({
  id: `r${index}`,
  city,
  size: index / 4,
}))

interface Started extends TestApp {
  readonly api: LocalApi
  readonly text: string
}

async function start(t: TestContext, options: TestAppOptions = {}): Promise<Started> {
  const api = await startLocalApi(t)
  api.answer('*', ({ path }) =>
    path.includes('Graz')
      ? { status: 503, json: { busy: true } }
      : { json: { label: `at ${path.slice(1)}` } },
  )
  const text = `targets: [label]\ninputs: [city]\nkind: http\nurl: ${api.url}/{{ city }}/{{ size }}\nresponse_path: label\n`
  const running = await startApp(t, {
    files: { contract: contractText(FIELDS), records: RECORDS, derivations: {} },
    ...options,
    sheet: { defaultActor: 'human:ann', transport: new NetworkTransport(), ...options.sheet },
  })
  return { ...running, api, text }
}

async function post(
  { app }: TestApp,
  url: string,
  payload: object,
): Promise<Awaited<ReturnType<typeof app.inject>>> {
  return app.inject({ method: 'POST', url, headers: CSRF, payload })
}

async function preview(running: TestApp, payload: object): Promise<PreviewAnswer> {
  const answer = await post(running, '/api/derivations/preview', payload)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

test('a preview computes and stores no cell, and a run with the same file does not call again', async (t) => {
  const running = await start(t)
  const { api, text } = running
  const ids = RECORDS.map(({ id }) => id)
  const found = await preview(running, { file: 'label.yaml', text, record_ids: ids })
  assert.deepEqual(
    found.records.map(({ record_id: id, outcome, values, calls }) => [id, outcome, values, calls]),
    [
      ['r0', 'computed', { label: 'at Bern/0' }, 1],
      ['r1', 'computed', { label: 'at Cork/0.25' }, 1],
      ['r2', 'computed', { label: 'at Bern/0.5' }, 1],
      ['r3', 'blocked', {}, 0],
      ['r4', 'failed', {}, 1],
    ],
  )
  const [first, , , blocked, failed] = found.records
  assert.equal(found.parallel, 8)
  assert.deepEqual(first?.inputs, { city: 'Bern', size: 0 })
  assert.equal(first?.request, `GET ${api.url}/Bern/0`)
  assert.deepEqual(first?.response, { status: 200, body: '{"label":"at Bern/0"}' })
  assert.equal(first?.evidence?.['status'], 200)
  assert.deepEqual(blocked?.blocked_by, { reason: 'input_empty', field: 'city' })
  assert.match(failed?.failures['label']?.error ?? '', /-> 503/)
  assert.equal(failed?.failures['label']?.response_body, '{"busy":true}')
  assert.deepEqual([found.calls, found.unpriced_calls], [4, 4])
  const record = (await running.app.inject('/api/records/r0')).json<{ label: null }>()
  assert.equal(record.label, null)
  assert.deepEqual(
    (await running.app.inject('/api/derivations')).json<{ derivations: unknown[] }>().derivations,
    [],
  )
  assert.deepEqual((await running.app.inject('/api/runs')).json<{ runs: unknown[] }>().runs, [])

  const calls = api.calls()
  const again = await preview(running, { file: 'label.yaml', text, record_ids: ['r0'] })
  assert.deepEqual([again.calls, again.records[0]?.evidence?.['cached']], [0, true])
  const put = await running.app.inject({
    method: 'PUT',
    url: '/api/derivations/label.yaml',
    headers: CSRF,
    payload: { text },
  })
  assert.equal(put.json<DefinitionChangeAnswer>().change, '1')
  const run = await post(running, '/api/materialize', { record_ids: ['r0', 'r1', 'r2'] })
  assert.equal(run.json<{ materialized: number }>().materialized, 3)
  assert.deepEqual(api.calls(), calls, 'the run called for nothing')
})

test('models and secrets are known by their names, whether the server has a secret, but no value, and whether it runs scripts', async (t) => {
  const headers = "headers: {A: '{{ env.PATH }} {{env.COLOPHON_NONE}}'}"
  const directory = await writeSheet(t, {
    contract: contractText(FIELDS),
    records: RECORDS,
    derivations: {
      'label.yaml': `targets: [label]\nkind: http\nurl: http://127.0.0.1:9/\n${headers}\nresponse_path: a\n`,
      'short.yaml': 'targets: [short]\nkind: ai\nmodel: small\nprompt: About {{ city }}\n',
    },
  })
  const model = '{api: openai, url: "http://127.0.0.1:9", model: local}'
  await writeFile(join(directory, 'models.yaml'), `models: {small: ${model}, large: ${model}}`)
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  assert.deepEqual(await readChoices(sheet), {
    models: ['small', 'large'],
    secrets: [
      { name: 'COLOPHON_NONE', isSet: false },
      { name: 'PATH', isSet: true },
    ],
    scripts: false,
  })
  const trusting = await openOnEngine(directory, { scripts: 'unconfined' })
  onEnd(t, () => trusting.close())
  assert.equal((await readChoices(trusting)).scripts, true)
})

test('a sample is the same for the same seed; equal computations share a call', async (t) => {
  const running = await start(t)
  const text = running.text.replace('/{{ size }}', '')
  const ids = async (seed: number, sample: number): Promise<readonly string[]> =>
    (await preview(running, { file: 'label.yaml', text, sample, seed })).records.map(
      ({ record_id: id }) => id,
    )
  assert.deepEqual(await ids(3, 2), await ids(3, 2))
  assert.ok(
    Object.entries(running.api.calls()).every(([path, count]) => !path.endsWith('/Bern') || count === 1),
  )
  assert.deepEqual((await ids(3, 50)).toSorted(), ['r0', 'r1', 'r2', 'r3', 'r4'])
  const samples = await Promise.all([1, 2, 3, 4, 5].map((seed) => ids(seed, 2)))
  assert.ok(new Set(samples.map((sample) => sample.join())).size > 1)
})

test('a preview can have a field that the contract does not have yet, and validates values', async (t) => {
  const running = await start(t)
  const contract = contractText([...FIELDS, '{name: added, logicalType: string}'])
  const text = running.text.replace('[label]', '[added]')
  const found = await preview(running, { file: 'added.yaml', text, contract, record_ids: ['r0'] })
  assert.deepEqual(found.records[0]?.values, { added: 'at Bern/0' })
  const short = await preview(running, {
    file: 'short.yaml',
    text: running.text.replace('[label]', '[short]'),
    record_ids: ['r0'],
  })
  assert.equal(short.records[0]?.failures['short']?.reason, 'contract')
})

test('what cannot be previewed is refused before any call', async (t) => {
  const running = await start(t)
  const { text, api } = running
  const cases: readonly (readonly [object, number, RegExp])[] = [
    [{ file: 'label.yaml' }, 404, /no derivation "label.yaml"/],
    [{ file: '../label.yaml', text }, 400, /file name/],
    [{ file: 'label.yaml', text: text.replace('[city]', '[town]') }, 400, /^derivations\/label\.yaml:2/],
    [{ file: 'label.yaml', text, record_ids: ['r0', 'nobody'] }, 404, /no record "nobody"/],
    [{ file: 'label.yaml', text, sample: 51 }, 400, /sample/],
    [
      { file: 'label.yaml', text, record_ids: Array.from({ length: 51 }, (_, index) => `r${index}`) },
      400,
      /51/,
    ],
  ]
  for (const [body, status, message] of cases) {
    const refused = await post(running, '/api/derivations/preview', body)
    assert.equal(refused.statusCode, status, refused.body)
    assertEnvelope(refused, refused.json<{ error: { type: string } }>().error.type, message)
  }
  assert.deepEqual(api.calls(), {})
})

test('with a fixed definition only files of the sheet are previewed', async (t) => {
  const running = await start(t, { sheet: { fixedDefinition: true } })
  const refused = await post(running, '/api/derivations/preview', { file: 'label.yaml', text: running.text })
  assert.equal(refused.statusCode, 403)
  assertEnvelope(refused, 'PermissionDeniedError', /--read-only-definition/)
})

test('calls beyond the bound of the cost are not made', async (t) => {
  const api = await startLocalApi(t)
  api.answer('*', { json: { label: 'x' } })
  const text = `targets: [label]\ninputs: [size]\nkind: http\nurl: ${api.url}/{{ size }}\nresponse_path: label\n`
  const directory = await writeSheet(t, {
    contract: contractText(FIELDS),
    records: RECORDS,
    derivations: { 'label.yaml': text },
  })
  const host = new URL(api.url).host
  await writeFile(join(directory, 'transport.yaml'), `hosts:\n  "${host}": {cost_per_call: 0.4}\n`)
  const sheet = await openOnEngine(directory, {
    defaultActor: 'human:ann',
    transport: new NetworkTransport(),
  })
  onEnd(t, () => sheet.close())
  const request = {
    file: 'label.yaml',
    text: null,
    contract: null,
    recordIds: null,
    sample: 5,
    seed: 0,
    actor: null,
  }
  const { records, totalCost } = await previewDerivation(
    sheet,
    { ...request, maxCost: 1 },
    new AbortController().signal,
  )
  assert.deepEqual(
    records.map(({ outcome, cost }) => [outcome, cost]),
    [...Array.from({ length: 2 }, () => ['computed', 0.4]), ...Array.from({ length: 3 }, () => ['left', 0])],
  )
  assert.equal(totalCost, 0.8)
})

test('an error ends the whole preview: nothing is computed or stored after it', async (t) => {
  const { api, sheet, text } = await start(t)
  const records = ['now', 'late/1', 'late/2', 'late/3', 'late/4'].map((city, index) => ({
    id: `s${index}`,
    city,
  }))
  await upsertRecords(sheet, { records, actor: null }, { ifMatch: null, actor: null })
  const held = api.hold('/late*')
  const { store } = await sheet.current()
  let stored = 0
  store.storeResults = async () => {
    stored += 1
    await held.arrived(3)
    throw new Error('the disk is full')
  }
  const computing = previewDerivation(
    sheet,
    {
      file: 'label.yaml',
      text: text.replace('/{{ size }}', ''),
      contract: null,
      recordIds: records.map(({ id }) => id),
      sample: 5,
      seed: 0,
      maxCost: null,
      actor: null,
    },
    new AbortController().signal,
  )
  await assert.rejects(computing, /the disk is full/)
  held.release()
  await sheet.close()
  assert.deepEqual([api.requests.length, stored], [4, 1])
})
