import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from 'typebox'
import type { DefinitionChangeAnswer, PutDerivationAnswer } from '../../src/wire/definition/change.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { assertEnvelope, CSRF, startApp, type TestApp } from '../support/http-fixture.ts'
import { OFFERS } from '../support/sheet-fixture.ts'

const RATE = OFFERS.derivations['rate.yaml'] as string
const EDITED = `# Rates of the day\n${RATE}`
const NOTE =
  'targets: [owner_note]\ninputs: [title]\nkind: http\nurl: https://a.example/{{ title }}\nresponse_path: n\n'
const ACTOR = 'human:ann'

interface PutOptions {
  readonly ifMatch?: string
  readonly dryRun?: boolean
}

async function put(
  { app }: TestApp,
  file: string,
  text: string,
  { ifMatch, dryRun = false }: PutOptions = {},
): Promise<Awaited<ReturnType<TestApp['app']['inject']>>> {
  return app.inject({
    method: 'PUT',
    url: `/api/derivations/${encodeURIComponent(file)}${dryRun ? '?dry_run=true' : ''}`,
    headers: { ...CSRF, ...(ifMatch !== undefined && { 'if-match': ifMatch }) },
    payload: { text, actor: ACTOR },
  })
}

async function remove({ app }: TestApp, file: string, query = ''): Promise<Awaited<ReturnType<typeof put>>> {
  const headers = { ...CSRF, 'x-svc-actor': ACTOR }
  return app.inject({
    method: 'DELETE',
    url: `/api/derivations/${encodeURIComponent(file)}${query}`,
    headers,
  })
}

async function files({ app }: TestApp): Promise<Readonly<Record<string, string>>> {
  const { derivations } = (await app.inject('/api/derivations')).json<{
    derivations: { file: string; text: string }[]
  }>()
  return Object.fromEntries(derivations.map(({ file, text }) => [file, text]))
}

function tagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('hex')}"`
}

test('a derivation file is read with its version, written and removed', async (t) => {
  const running = await startApp(t)
  const read = await running.app.inject('/api/derivations/rate.yaml')
  assert.equal(read.headers['etag'], tagOf(RATE))
  assert.deepEqual(read.json(), { file: 'rate.yaml', text: RATE, version: tagOf(RATE).slice(1, -1) })

  await materialize(running.sheet, { targets: null, recordIds: null, force: false, actor: ACTOR })
  const wrote = await put(running, 'rate.yaml', EDITED, { ifMatch: read.headers['etag'] ?? '' })
  assert.equal(wrote.statusCode, 200, wrote.body)
  assert.equal(wrote.headers['etag'], tagOf(EDITED))
  const cells = { fresh: 0, stale: 0, missing: 0, failed: 1, overridden: 0, blocked: 0 }
  assert.deepEqual(wrote.json(), {
    change: '1',
    dry_run: false,
    files: [
      { path: 'derivations/rate.yaml', before: tagOf(RATE).slice(1, -1), after: tagOf(EDITED).slice(1, -1) },
    ],
    records: 3,
    fields: [],
    conflicts: [],
    run_id: null,
    run_error: null,
    targets: [
      {
        field: 'rate',
        file: 'rate.yaml',
        change: 'changed',
        before: { ...cells, fresh: 2 },
        after: { ...cells, stale: 2 },
      },
    ],
  })
  assert.deepEqual(await files(running), { 'rate.yaml': EDITED })

  const removed = await remove(running, 'rate.yaml')
  assert.equal(removed.statusCode, 200, removed.body)
  assert.deepEqual(await files(running), {})
  const record = (await running.app.inject('/api/records/a')).json<{ rate: number }>()
  assert.equal(record.rate, 1, 'the values stay')
  assertEnvelope(
    await running.app.inject('/api/derivations/rate.yaml'),
    'SheetError',
    /no derivation "rate.yaml"/,
  )
})

test('a dry run returns the effect of the change, and changes nothing', async (t) => {
  const running = await startApp(t)
  const answer = async (dryRun: boolean): Promise<DefinitionChangeAnswer> =>
    (await put(running, 'note.yaml', NOTE, { dryRun })).json()
  const plan = await answer(true)
  assert.deepEqual(await files(running), { 'rate.yaml': RATE })
  const done = await answer(false)
  const { recomputing, ...effect } = plan
  assert.deepEqual({ ...effect, dry_run: false, change: '1' }, done)
  assert.deepEqual(recomputing, {
    targets: { owner_note: { compute: 3, cached: 0, skipped: 0 } },
    calls: 3,
    cost: 0,
    unpriced_calls: 3,
  })
  assert.deepEqual(done.targets[0]?.after, {
    fresh: 0,
    stale: 0,
    missing: 3,
    failed: 0,
    overridden: 0,
    blocked: 0,
  })
  assert.deepEqual(Object.keys(await files(running)).toSorted(), ['note.yaml', 'rate.yaml'])
  const again = await put(running, 'note.yaml', NOTE)
  assert.deepEqual(again.json<DefinitionChangeAnswer>().files, [], 'the same text changes nothing')
})

test('a change is refused for another version, and leaves the file', async (t) => {
  const running = await startApp(t)
  const refused = await put(running, 'rate.yaml', EDITED, { ifMatch: tagOf('other') })
  assert.equal(refused.statusCode, 412)
  assertEnvelope(refused, 'OperationError', /derivations\/rate\.yaml has changed since it was read/)
  const absent = await put(running, 'note.yaml', NOTE, { ifMatch: '*' })
  assert.equal(absent.statusCode, 412)
  assert.deepEqual(await files(running), { 'rate.yaml': RATE })
})

test('with If-None-Match: * only a new file is written', async (t) => {
  const running = await startApp(t)
  const create = async (file: string, tag = '*') =>
    running.app.inject({
      method: 'PUT',
      url: `/api/derivations/${file}`,
      headers: { ...CSRF, 'if-none-match': tag },
      payload: { text: file === 'rate.yaml' ? EDITED : NOTE, actor: ACTOR },
    })
  const refused = await create('rate.yaml')
  assert.equal(refused.statusCode, 412)
  assertEnvelope(refused, 'OperationError', /derivations\/rate\.yaml exists already/)
  const malformed = await create('note.yaml', tagOf(NOTE))
  assert.equal(malformed.statusCode, 400)
  assertEnvelope(malformed, 'ValidationError', /If-None-Match/)
  assert.deepEqual(await files(running), { 'rate.yaml': RATE })
  assert.equal((await create('note.yaml')).statusCode, 200)
  assert.equal((await create('note.yaml')).statusCode, 412)
})

test('a run of keep=fresh that cannot start is told beside the change', async (t) => {
  const running = await startApp(t)
  await materialize(running.sheet, { targets: null, recordIds: null, force: false, actor: ACTOR })
  await running.sheet.stopRuns()
  const answer = await running.app.inject({
    method: 'PUT',
    url: '/api/derivations/rate.yaml?keep=fresh',
    headers: CSRF,
    payload: { text: EDITED, actor: ACTOR },
  })
  assert.equal(answer.statusCode, 200, answer.body)
  const { change, run_id, run_error } = answer.json<Static<typeof PutDerivationAnswer>>()
  assert.deepEqual([change, run_id, run_error?.type], ['1', null, 'ServiceError'])
  assert.match(run_error?.message ?? '', /stopping/)
})

test('a text that the definition cannot have is refused as an edit of the file would be', async (t) => {
  const running = await startApp(t)
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['rate.yaml', RATE.replace('currency', 'coin'), /^derivations\/rate\.yaml:2: inputs names "coin"/],
    ['rate.yaml', 'targets: [rate', /^derivations\/rate\.yaml:1: /],
    ['more.yaml', RATE, /rate/],
    ['note.yaml', `${NOTE}#${'x'.repeat(1 << 20)}`, /^derivations\/note\.yaml/],
    ['note.yaml', '\u0000', /^derivations\/note\.yaml/],
  ]
  for (const [file, text, message] of cases) {
    const refused = await put(running, file, text)
    assert.equal(refused.statusCode, 400, refused.body)
    assertEnvelope(refused, 'OperationError', message)
  }
  assert.deepEqual(await files(running), { 'rate.yaml': RATE })
})

test('a name that no derivation file can have is refused', async (t) => {
  const running = await startApp(t)
  const names = [
    '../contract.yaml',
    '..%2fcontract.yaml',
    'a/b.yaml',
    'a\\b.yaml',
    '.hidden.yaml',
    'note.yml',
    '.yaml',
  ]
  for (const name of [...names, 'a\u0000.yaml', `${'n'.repeat(300)}.yaml`, 'a\nb.yaml', '\u{fffd}.yaml']) {
    const refused = await put(running, name, NOTE)
    assert.equal(refused.statusCode, 400, `${name}: ${refused.body}`)
  }
  assertEnvelope(await put(running, 'RATE.yaml', NOTE), 'OperationError', /differs only in case/)
  assert.deepEqual(await files(running), { 'rate.yaml': RATE })
})

test('a service with a fixed definition refuses changes', async (t) => {
  const running = await startApp(t, { sheet: { fixedDefinition: true } })
  for (const refused of [await put(running, 'rate.yaml', EDITED), await remove(running, 'rate.yaml')]) {
    assert.equal(refused.statusCode, 403)
    assertEnvelope(refused, 'PermissionDeniedError', /--read-only-definition/)
  }
  assert.equal((await running.app.inject('/api/derivations/rate.yaml')).statusCode, 200)
  const permissions = (await running.app.inject('/api/permissions?actor=user:ann')).json<object>()
  assert.equal('read_only_definition' in permissions, true)
})

test('with keep=fresh the values of an edited file stay fresh, and a run says so in their provenance', async (t) => {
  const running = await startApp(t)
  const { app, sheet } = running
  await materialize(sheet, { targets: null, recordIds: null, force: false, actor: ACTOR })
  const answer = await app.inject({
    method: 'PUT',
    url: '/api/derivations/rate.yaml?keep=fresh',
    headers: CSRF,
    payload: { text: EDITED, actor: ACTOR },
  })
  const { run_id: run, targets } = answer.json<{
    run_id: string
    targets: DefinitionChangeAnswer['targets']
  }>()
  assert.equal(run, '2')
  assert.equal(targets[0]?.after?.stale, 2)
  await app.inject(`/api/runs/${run}/events`)
  const status = (await app.inject('/api/status')).json<{ rate: { fresh: number; stale: number } }>()
  assert.deepEqual([status.rate.fresh, status.rate.stale], [2, 0])
  const entry = (await app.inject('/api/provenance?record_id=a&field=rate')).json<{
    keeps: number
    run_id: string
  }>()
  assert.equal(entry.run_id, run)
  assert.ok(entry.keeps > 0)
})

test('keep=fresh keeps values that an earlier change made stale, also with the same text', async (t) => {
  const running = await startApp(t)
  const { app, sheet } = running
  await materialize(sheet, { targets: null, recordIds: null, force: false, actor: ACTOR })
  await put(running, 'rate.yaml', EDITED)
  const keep = async (): Promise<string | null> => {
    const answer = await app.inject({
      method: 'PUT',
      url: '/api/derivations/rate.yaml?keep=fresh',
      headers: CSRF,
      payload: { text: EDITED, actor: ACTOR },
    })
    return answer.json<{ run_id: string | null }>().run_id
  }
  const run = await keep()
  assert.equal(run, '2')
  await app.inject(`/api/runs/${run}/events`)
  const status = (await app.inject('/api/status')).json<{ rate: { fresh: number; stale: number } }>()
  assert.deepEqual([status.rate.fresh, status.rate.stale], [2, 0])
  assert.equal(await keep(), null, 'no cell is stale')
})
