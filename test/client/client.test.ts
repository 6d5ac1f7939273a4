import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  ApiError,
  createClient,
  type Client,
  type ClientOptions,
  type Condition,
} from '../../src/client/client.ts'
import { createApp } from '../../src/http/app.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { listen, startApp, type TestApp, type TestAppOptions } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { RATES } from '../support/sheet-fixture.ts'

interface Served extends TestApp {
  readonly client: Client
  readonly port: number
  readonly baseUrl: string
}

/** A server with offers, and a client for it. */
async function serve(
  t: TestContext,
  options: TestAppOptions = {},
  client: ClientOptions = {},
): Promise<Served> {
  const sheet = { transport: parseStub(RATES), ...options.sheet }
  const started = await startApp(t, { ...options, sheet })
  const port = await listen(started.app)
  const baseUrl = `http://127.0.0.1:${port}`
  return { ...started, port, baseUrl, client: createClient({ baseUrl, actor: 'tester', ...client }) }
}

const MANY = Array.from({ length: 2500 }, (_, index) => ({
  id: `r${index}`,
  title: `Record ${index}`,
  price: index,
}))

test('a record can be written, read, written again and deleted, without any code for CSRF', async (t) => {
  const { client } = await serve(t)
  const upserted = await client.records.upsert([{ id: 'd/1 é', title: 'Dill', price: 3 }])
  assert.deepEqual(upserted, { inserted: 1, updated: 0, total: 4 })
  assert.deepEqual(await client.records.get('d/1 é', { fields: ['id', 'price'] }), { id: 'd/1 é', price: 3 })
  const entry = await client.cells.provenance({ record_id: 'd/1 é', field: 'price' })
  assert.deepEqual([entry?.actor, entry?.value], ['tester', 3])
  assert.deepEqual(await client.records.delete(['d/1 é', 'nobody'], { actor: 'Zoë' }), {
    deleted: 1,
    remaining: 3,
  })
  const history = await client.cells.history({ record_id: 'd/1 é', field: 'price' })
  assert.deepEqual(
    history.map(({ actor, source }) => [actor, source]),
    [
      ['tester', 'write'],
      ['Zoë', 'delete'],
    ],
  )
})

test('the iterators return every record once, in pages of the requested size', async (t) => {
  const { client } = await serve(t, { files: { records: MANY } })
  const ids: unknown[] = []
  for await (const record of client.records.all()) ids.push(record['id'])
  assert.deepEqual(
    ids,
    MANY.map(({ id }) => id),
  )
  const sizes: number[] = []
  for await (const page of client.records.pages({ filter: 'price >= 10', limit: 1000, position: 5 })) {
    sizes.push(page.length)
  }
  assert.deepEqual(sizes, [1000, 1000, 485])
  const top: unknown[] = []
  for await (const { id } of client.records.all({ sort: ['-price'], fields: ['id'] })) {
    top.push(id)
    if (top.length === 2) break
  }
  assert.deepEqual(top, ['r2499', 'r2498'])
})

test('a conditional write for an old version is refused, and the record is unchanged', async (t) => {
  const { client } = await serve(t)
  const { record, version } = await client.records.getVersioned('a')
  assert.equal(record['title'], 'Apple')
  await client.records.upsert([{ id: 'a', price: 9 }])
  await assert.rejects(client.records.upsert([{ id: 'a', price: 10 }], { ifMatch: version }), isApiError(412))
  assert.equal((await client.records.get('a'))['price'], 9)
})

test('errors have the members of the envelope', async (t) => {
  const { client } = await serve(t)
  const missing = await client.records.get('nobody').catch((error: unknown) => error)
  assert.ok(missing instanceof ApiError)
  assert.deepEqual([missing.status, missing.type], [404, 'SheetError'])
  assert.match(missing.message, /nobody/)
  await assert.rejects(
    client.query('DELETE FROM records'),
    (error) => error instanceof ApiError && error.type === 'QueryError',
  )
  await assert.rejects(client.records.upsert([{ id: 'a', price: 'much' }]), isApiError(400))
})

test('an unreachable server is an error with status 0', async (t) => {
  const { app, baseUrl } = await serve(t)
  await app.close()
  const error = await createClient({ baseUrl })
    .status()
    .catch((reason: unknown) => reason)
  assert.ok(error instanceof ApiError)
  assert.deepEqual([error.status, error.type], [0, 'Unreachable'])
})

test('a call rejects with the reason of its signal, and the next one still gets its token', async (t) => {
  const { client } = await serve(t)
  const reason = new Error('enough')
  await assert.rejects(
    client.records.upsert([{ id: 'e', title: 'Elder' }], { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  )
  assert.equal((await client.records.upsert([{ id: 'e', title: 'Elder' }])).inserted, 1)
})

test('a refused token is fetched anew once, and the write is made once', async (t) => {
  let csrf = 0
  const spoiling: typeof fetch = async (url, init) => {
    if (String(url).endsWith('/api/csrf')) csrf += 1
    const headers = new Headers(init?.headers)
    if (csrf === 1 && headers.has('x-csrf-token')) headers.set('cookie', 'svc_csrf=of-another-server')
    return fetch(url, { ...init, headers })
  }
  const { client } = await serve(t, {}, { fetch: spoiling })
  assert.deepEqual(await client.records.upsert([{ id: 'a', price: 7 }]), {
    inserted: 0,
    updated: 1,
    total: 3,
  })
  assert.equal(csrf, 2)
  await client.records.upsert([{ id: 'a', price: 8 }])
  assert.equal(csrf, 2)
})

test('contract, derivations, status, permissions, summary, states and SQL are returned', async (t) => {
  const { client } = await serve(t)
  assert.equal((await client.contract())['kind'], 'DataContract')
  assert.deepEqual(
    (await client.derivations()).derivations.map(({ file }) => file),
    ['rate.yaml'],
  )
  assert.equal((await client.status(['rate']))['rate']?.missing, 3)
  const mine = await client.permissions()
  assert.deepEqual([mine.actor, mine.write.includes('owner_note')], ['tester', false])
  assert.ok((await client.permissions('agent:owner')).write.includes('owner_note'))
  assert.equal((await client.records.summary({ fields: ['price'], filter: 'price > 1' })).count, 2)
  const where: Condition = { field: 'price', operator: 'greater_than', value: 1 }
  const { records } = await client.records.list({ where, fields: ['id'], sort: '-id' })
  assert.deepEqual(records, [{ id: 'b' }, { id: 'a' }])
  assert.equal(await client.records.position('a', { where, sort: '-id' }), 1)
  const summary = await client.records.summary({ fields: ['title'], where, search: 'BE' })
  assert.deepEqual(summary.fields['title']?.top, [{ value: 'Bean', count: 1 }])
  assert.match((await client.dialect(where)).filter ?? '', /"price" > 1/)
  assert.deepEqual(await client.cells.states(['a']), { a: { rate: 'missing' } })
  const { rows } = await client.query('SELECT title FROM records WHERE price > ? ORDER BY id', [1])
  assert.deepEqual(rows, [{ title: 'Apple' }, { title: 'Bean' }])
})

test('a derivation is read, tried, changed with its version, taken back and removed', async (t) => {
  const { client } = await serve(t)
  const { definition } = client
  const { text, version } = await definition.read('rate.yaml')
  const edited = `# Rates\n${text}`
  assert.equal((await definition.write('rate.yaml', edited, { dryRun: true })).change, null)
  const { change } = await definition.write('rate.yaml', edited, { ifVersion: version, note: 'Why' })
  await assert.rejects(definition.write('rate.yaml', text, { ifVersion: version }), isApiError(412))
  const [newest] = (await definition.history({ limit: 1 })).changes
  assert.deepEqual([newest?.id, newest?.actor, newest?.note], [change, 'tester', 'Why'])
  assert.equal((await definition.change(change ?? '')).files[0]?.text_before, text)
  await definition.revert(change ?? '')
  assert.equal((await definition.read('rate.yaml')).version, version)
  const fault = await definition.write('rate.yaml', `${text}no: 1\n`).catch((error: unknown) => error)
  assert.ok(fault instanceof ApiError)
  assert.deepEqual(fault.place, { file: 'derivations/rate.yaml', line: text.split('\n').length })
  await definition.remove('rate.yaml', { actor: 'Zoë', ifVersion: version })
  assert.deepEqual((await client.derivations()).derivations, [])
  assert.equal((await definition.history()).changes[0]?.actor, 'Zoë')
})

test('fields are added, renamed with a version, removed with the number of their values, and come back', async (t) => {
  const { client } = await serve(t)
  const { definition } = client
  const field = { name: 'size', logicalType: 'integer' } as const
  assert.equal((await definition.addField(field, { dryRun: true })).change, null)
  const { version } = await definition.readContract()
  await definition.addField(field, { ifVersion: version })
  await assert.rejects(definition.addField({ ...field, name: 'b' }, { ifVersion: version }), isApiError(412))
  const now = await definition.readContract()
  assert.deepEqual(
    await definition.changeField('currency', { new_name: 'money' }, { ifVersion: now.version }),
    await client.contract(),
  )
  assert.equal((await definition.removeField('price', 3, { dryRun: true, actor: 'Zoë' })).fields[0]?.lost, 3)
  await assert.rejects(definition.removeField('price'), isApiError(400))
  await definition.removeField('price', 3, { actor: 'Zoë' })
  const [removal] = (await definition.history()).changes
  assert.equal(removal?.actor, 'Zoë')
  await definition.revert(removal?.id ?? '', {}, { note: 'Needed' })
  assert.equal((await definition.history()).changes[0]?.note, 'Needed')
  const { records } = await client.records.list({ fields: ['price', 'money', 'size'], limit: 1 })
  assert.deepEqual(records, [{ price: 1.5, money: 'EUR', size: null }])
  const { contract } = await definition.readContract()
  assert.deepEqual((await definition.writeContract({ document: contract })).files, [])
})

test('a derivation is tried on records, and an edit that changes no value keeps them fresh', async (t) => {
  const { client } = await serve(t)
  const { definition } = client
  const tried = await definition.preview({ file: 'rate.yaml', record_ids: ['a', 'c'] })
  assert.deepEqual(
    tried.records.map(({ record_id: id, outcome }) => [id, outcome]),
    [
      ['a', 'computed'],
      ['c', 'failed'],
    ],
  )
  await client.runs.materialize({ targets: ['rate'] })
  const { text } = await definition.read('rate.yaml')
  const moved = text.replace('{{ currency }}', '{{ currency }}?v=2')
  const { run_id: run } = await definition.write('rate.yaml', moved, { keepFresh: true })
  for await (const { kind } of client.runs.events(run ?? '')) if (kind === 'run.end') break
  assert.equal((await client.status(['rate']))['rate']?.fresh, 2)
})

test('a run can be planned, started, followed to its end, read, and reverted', async (t) => {
  const { client } = await serve(t)
  assert.deepEqual((await client.runs.plan({ targets: ['rate'] })).calls, 3)
  const started = await client.runs.start({ targets: ['rate'] })
  const kinds: string[] = []
  let last: unknown
  for await (const event of client.runs.events(started.id)) {
    kinds.push(event.kind)
    if (event.kind === 'run.end') last = event.data.materialized
  }
  assert.equal(last, 2)
  assert.deepEqual([kinds[0], kinds.at(-1)], ['run.progress', 'run.end'])
  assert.equal((await client.runs.get(started.id)).actor, 'tester')
  assert.deepEqual(
    (await client.runs.failures(started.id)).failures.map(({ record_id: id }) => id),
    ['c'],
  )
  assert.equal((await client.cells.explain({ record_id: 'c', field: 'rate' })).state, 'failed')
  assert.deepEqual(
    (await client.runs.list({ limit: 1 })).runs.map(({ id }) => id),
    [started.id],
  )
  assert.equal((await client.runs.revert(started.id)).reverted, 2)
  assert.equal((await client.records.get('a'))['rate'], null)
  await client.records.upsert([{ id: 'a', price: 2 }])
  const entry = await client.cells.provenance({ record_id: 'a', field: 'price' })
  await client.cells.revert({ record_id: 'a', field: 'price' }, entry?.seq ?? 0)
  await client.records.delete(['a', 'b'])
  assert.equal((await client.records.restore(['b'])).reverted, 1)
  const [deletion] = (await client.cells.history({ record_id: 'a', field: 'price' })).slice(-1)
  assert.equal((await client.records.restore({ record_id: 'a', seq: deletion?.seq ?? 0 })).reverted, 1)
  assert.equal((await client.records.get('a'))['price'], 1.5)
  assert.deepEqual(await client.runs.materialize({ targets: [] }), {
    materialized: 0,
    skipped: 0,
    failures: [],
    total_cost: 0,
  })
  const { erased, compacted } = await client.records.erase(['a'])
  assert.deepEqual([erased.map(({ record_id: id }) => id), compacted], [['a'], true])
})

test('a write can be proposed, read, accepted by someone else, or rejected', async (t) => {
  const { client } = await serve(t)
  const { id } = await client.proposals.propose({ records: [{ id: 'a', price: 4 }] }, { actor: 'agent' })
  const [record] = (await client.proposals.get(id)).records
  assert.deepEqual(record?.fields, [
    { field: 'price', was: 1.5, now: 1.5, proposed: 4, moved: false, decision: null },
  ])
  assert.equal((await client.proposals.accept(id)).state, 'accepted')
  assert.equal((await client.records.get('a'))['price'], 4)
  const second = await client.proposals.propose({ ids: ['b'] }, { actor: 'agent' })
  assert.equal((await client.proposals.list({ state: 'waiting' })).waiting, 1)
  assert.equal((await client.proposals.reject(second.id, 'still sold')).reason, 'still sold')
  await assert.rejects(client.proposals.accept(second.id), isApiError(409))
})

test('records are exported as a file, as a stream', async (t) => {
  const { client } = await serve(t)
  const file = await client.records.export('csv', { fields: ['id', 'price'], filter: 'price > 1' })
  assert.equal(await file.text(), 'id,price\r\na,1.5\r\nb,2\r\n')
  await assert.rejects(client.records.export('docx'), isApiError(404, 'unknown_format'))
  await assert.rejects(client.records.export('csv', { fields: ['none'] }), isApiError(400, 'unknown_field'))
})

test('frames arrive as they are published', async (t) => {
  const { promise: subscribed, resolve } = Promise.withResolvers<void>()
  const telling: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    if (String(url).endsWith('/events')) resolve()
    return response
  }
  const { client } = await serve(t, {}, { fetch: telling })
  const events = client.events()
  const first = events.next()
  await subscribed
  await client.runs.materialize({ record_ids: ['a'] })
  assert.equal((await first).value?.kind, 'materialize.start')
  assert.equal((await events.next()).value?.kind, 'materialize.end')
  await events.return()
})

test('a stream survives the server: it reconnects, reports that, and continues', async (t) => {
  const { client, app, sheet, port } = await serve(t)
  const { promise: reconnected, resolve } = Promise.withResolvers<void>()
  const changes = client.changes({ onReconnect: resolve })
  const before = (await changes.next()).value
  const next = changes.next()
  await app.close()
  const second = createApp(sheet)
  onEnd(t, () => second.close())
  await second.listen({ host: '127.0.0.1', port })
  await reconnected
  assert.deepEqual((await next).value, before)
  await client.records.upsert([{ id: 'a', price: 5 }])
  assert.notEqual((await changes.next()).value?.seq, before?.seq)
  await changes.return()
})

test('a stream ends with the reason of its signal, also while it waits to reconnect', async (t) => {
  const { client, app } = await serve(t)
  const [first, second] = [new AbortController(), new AbortController()]
  const reason = new Error('enough')
  const open = client.changes({ signal: first.signal })
  const lost = client.changes({ signal: second.signal })
  await Promise.all([open.next(), lost.next()])
  const ended = assert.rejects(open.next(), (error) => error === reason)
  first.abort(reason)
  await ended
  const waiting = assert.rejects(lost.next(), (error) => error === reason)
  await app.close()
  second.abort(reason)
  await waiting
})

test('the stream of an unknown run is an error and is not requested again', async (t) => {
  const { client } = await serve(t)
  await assert.rejects(client.runs.events('nothing').next(), isApiError(404, 'unknown_run'))
})

function isApiError(status: number, code?: ApiError['code']): (error: unknown) => boolean {
  return (error) =>
    error instanceof ApiError && error.status === status && (code === undefined || error.code === code)
}
