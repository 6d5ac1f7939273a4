import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { FILE_LIMIT } from '../../src/http/middleware/file-body.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'

/** Opens an app over the offers a, b and c. */
async function open(t: TestContext): Promise<FastifyInstance> {
  return (await startApp(t)).app
}

function post(
  app: FastifyInstance,
  url: string,
  payload: string | Buffer,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  const type = { 'content-type': 'application/octet-stream', 'x-svc-actor': 'human:ann' }
  return app.inject({ method: 'POST', url, payload, headers: { ...CSRF, ...type, ...headers } })
}

const columnsText = (columns: Record<string, string | null>): string =>
  encodeURIComponent(JSON.stringify(columns))

test('a file is imported as a run, and that is reverted', async (t) => {
  const app = await open(t)
  const file = 'id,title,price\na,Apple,9\nd,Date,4\n'
  const answer = await post(app, '/api/import?name=fruit.csv', file)
  assert.equal(answer.statusCode, 200, answer.body)
  const { faults, preview, guesses, ...result } = answer.json()
  assert.deepEqual([faults, preview, guesses], [[], [], []])
  assert.deepEqual(result, {
    records: 2,
    inserted: 1,
    updated: 1,
    unchanged: 0,
    written: true,
    run_id: '1',
    fault_count: 0,
  })
  assert.equal(answer.headers['location'], '/api/runs/1')
  const run = (await app.inject('/api/runs/1')).json()
  assert.deepEqual([run.kind, run.file, run.actor, run.materialized], ['import', 'fruit.csv', 'human:ann', 2])
  const revert = await app.inject({
    method: 'POST',
    url: '/api/revert',
    payload: { run_id: '1', actor: 'human:ann' },
    headers: CSRF,
  })
  assert.deepEqual([revert.json().reverted, revert.json().conflicts], [2, []])
  assert.equal((await app.inject('/api/records/d')).statusCode, 404)
  assert.equal((await app.inject('/api/records/a')).json().price, 1.5)
})

test('a dry run writes nothing, and lists the differences and the values that do not fit', async (t) => {
  const app = await open(t)
  const file = 'id,title,price\na,Apple,9\nb,Bean,cheap\nc,Corn,0.25\n'
  const answer = (await post(app, '/api/import?name=fruit.csv&dry_run=true', file)).json()
  assert.deepEqual([answer.written, answer.run_id, answer.updated, answer.unchanged], [false, null, 1, 1])
  assert.deepEqual(answer.preview[0], {
    record_id: 'a',
    place: 'fruit.csv:2',
    change: 'update',
    fields: [{ field: 'price', was: 1.5, value: 9 }],
  })
  assert.deepEqual(answer.faults, [
    { place: 'fruit.csv:3', record_id: 'b', field: 'price', message: '"cheap" is not a number' },
  ])
  const refused = await post(app, '/api/import?name=fruit.csv', file)
  assert.equal(refused.statusCode, 400)
  assert.match(refused.body, /nothing was imported: fruit\.csv:3, field .+"cheap.+ is not a number/)
  assert.equal((await app.inject('/api/records/a')).json().price, 1.5)
})

test('columns are found by their names, with samples and the type of a new field', async (t) => {
  const app = await open(t)
  const file = 'ID,title,Weight (kg)\na,Apple,1.5\nb,Bean,2\nb,Bean,2\n'
  const answer = await post(app, '/api/import/columns?name=fruit.csv', file)
  assert.deepEqual(answer.json(), {
    format: 'csv',
    columns: [
      { name: 'ID', field: 'id', samples: ['a', 'b'], new_field: { name: 'ID_2', type: 'string' } },
      {
        name: 'title',
        field: 'title',
        samples: ['Apple', 'Bean'],
        new_field: { name: 'title_2', type: 'string' },
      },
      {
        name: 'Weight (kg)',
        field: null,
        samples: ['1.5', '2'],
        new_field: { name: 'Weight_kg', type: 'number' },
      },
    ],
    ids: null,
    guesses: [],
  })
})

test('columns are mapped to fields or left out', async (t) => {
  const app = await open(t)
  const file = 'key,Weight,name\na,1,Apples\n'
  const columns = columnsText({ key: 'id', Weight: null, name: 'title' })
  const answer = await post(app, `/api/import?name=fruit.csv&columns=${columns}`, file)
  assert.equal(answer.json().updated, 1, answer.body)
  assert.equal((await app.inject('/api/records/a')).json().title, 'Apples')
  for (const bad of ['[]', '{"key":1}', '{']) {
    const refused = await post(app, `/api/import?name=fruit.csv&columns=${encodeURIComponent(bad)}`, file)
    assert.equal(refused.statusCode, 400)
    assert.match(refused.body, /columns must be a JSON object/)
  }
})

test('every format that is exported is imported, whatever its content type', async (t) => {
  const app = await open(t)
  for (const format of ['csv', 'json', 'ndjson', 'parquet', 'xlsx']) {
    const file = await app.inject(`/api/export/${format}`)
    const type = { 'content-type': String(file.headers['content-type']) }
    const answer = await post(app, `/api/import?name=a.${format}`, file.rawPayload, type)
    assert.equal(answer.json().unchanged, 3, answer.body)
    const named = await post(app, `/api/import?name=data&format=${format}`, file.rawPayload)
    assert.deepEqual([named.json().unchanged, named.json().run_id], [3, null])
  }
})

test('requests without a file, a name or a format are refused', async (t) => {
  const app = await open(t)
  const cases: readonly [url: string, file: string, message: RegExp][] = [
    ['/api/import?name=a.csv', '', /the body is empty; send the file/],
    ['/api/import', 'id\na\n', /name/],
    ['/api/import?name=%00.csv', 'id\na\n', /it must be a file name/],
    ['/api/import?name=a.doc', 'id\na\n', /the format of .+a\.doc.+ cannot be told from its name/],
    ['/api/import?name=a.csv&format=doc', 'id\na\n', /unknown format/],
    ['/api/import/columns?name=a.json', 'id\na\n', /a\.json/],
    ['/api/import?name=a.csv', 'title\nApple\n', /a\.csv has no column id/],
  ]
  for (const [url, file, message] of cases) {
    const answer = await post(app, url, file)
    assert.equal(answer.statusCode, 400, url)
    assert.match(answer.body, message)
  }
})

test('a file that is too large is a 413, before it is read', async (t) => {
  const app = await open(t)
  const port = await listen(app)
  const sent = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/api/import?name=a.csv',
    headers: { ...CSRF, 'content-length': FILE_LIMIT + 1 },
  })
  sent.on('error', () => undefined)
  const { promise, resolve } = Promise.withResolvers<readonly [number | undefined, string]>()
  sent.on('response', (response) => {
    void textOf(response).then((body) => resolve([response.statusCode, body]))
  })
  sent.flushHeaders()
  const [status, body] = await promise
  sent.destroy()
  assert.equal(status, 413)
  assert.match(body, /larger than 256 MiB/)
})
