import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { LightMyRequestResponse } from 'fastify'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { exportRecords } from '../../src/sheet/transfer/export-records.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { contractText } from '../support/contract-with.ts'
import { listen, startApp } from '../support/http-fixture.ts'
import { readAll } from '../support/read-all.ts'
import type { SheetFiles } from '../support/sheet-fixture.ts'
import { temporaryFile } from '../support/temporary-file.ts'

const MANY = {
  contract: contractText(['{name: text, logicalType: string}']),
  derivations: {},
}

/** Enough records that no buffer on the way holds them all. */
const LARGE = Array.from({ length: 30_000 }, (_, index) => ({ id: `r${index}`, text: 'x'.repeat(1000) }))

/** Enough records for several pages. */
const PAGES = LARGE.slice(0, 3000)

async function get(
  t: TestContext,
  url: string,
  files: Partial<SheetFiles> = {},
): Promise<LightMyRequestResponse> {
  const { app } = await startApp(t, { files })
  return app.inject(url)
}

test('records are exported as CSV, under a name and a type that browsers save', async (t) => {
  const answer = await get(t, '/api/export/csv?fields=id,title,price')
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8; header=present')
  assert.match(
    String(answer.headers['content-disposition']),
    /^attachment; filename="colophon-sheet-\w+\.csv"$/,
  )
  assert.equal(answer.body, 'id,title,price\r\na,Apple,1.5\r\nb,Bean,2\r\nc,Corn,0.25\r\n')
})

test('an export has a filter, an order, and fields in their order', async (t) => {
  const answer = await get(t, '/api/export/ndjson?fields=price,id&filter=price%3E1&sort=-price')
  assert.equal(answer.body, '{"price":2,"id":"b"}\n{"price":1.5,"id":"a"}\n')
  assert.equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8')
})

test('large records are exported completely', async (t) => {
  const sizes = [10, 3 << 20, 3 << 20, 5 << 20, 10]
  const records = sizes.map((size, index) => ({ id: `r${index}`, text: '\u0001'.repeat(size / 6) }))
  const answer = await get(t, '/api/export/ndjson', { ...MANY, records })
  const lines = answer.body.split('\n').slice(0, -1)
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    records,
  )
})

test('JSON is an array of records, also if there are none', async (t) => {
  const { app } = await startApp(t)
  const all = await app.inject('/api/export/json?fields=id')
  assert.deepEqual(all.json(), [{ id: 'a' }, { id: 'b' }, { id: 'c' }])
  assert.deepEqual((await app.inject('/api/export/json?filter=false')).json(), [])
})

for (const format of ['parquet', 'xlsx'] as const) {
  test(`an exported ${format} file can be read`, async (t) => {
    const answer = await get(t, `/api/export/${format}?fields=id,price`)
    const { records } = await readAll(await temporaryFile(t, `x.${format}`, answer.rawPayload), format)
    assert.deepEqual(records, [
      { id: 'a', price: 1.5 },
      { id: 'b', price: 2 },
      { id: 'c', price: 0.25 },
    ])
  })
}

test('texts that look like formulas are guarded in CSV, unless they are requested raw', async (t) => {
  const { app } = await startApp(t, {
    files: { ...MANY, records: [{ id: 'a', text: '=HYPERLINK("http://x")' }] },
  })
  assert.match((await app.inject('/api/export/csv')).body, /^a,"'=HYPERLINK\(""http:\/\/x""\)"\r$/m)
  assert.match((await app.inject('/api/export/csv?raw=true')).body, /^a,"=HYPERLINK/m)
})

test('the provenance of a sheet is exported as events of OpenLineage, and as PROV-JSON', async (t) => {
  const { app, sheet } = await startApp(t)
  await materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'agent:a' })
  const events = await app.inject('/api/export/openlineage?namespace=mine')
  assert.equal(events.headers['content-type'], 'application/x-ndjson; charset=utf-8')
  assert.match(
    String(events.headers['content-disposition']),
    /filename="colophon-sheet-\w+\.openlineage\.ndjson"$/,
  )
  const types = events.body
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const { eventType, job } = JSON.parse(line) as { eventType: string; job: { namespace: string } }
      return `${eventType} ${job.namespace}`
    })
  assert.deepEqual(types, ['START mine', 'START mine', 'COMPLETE mine', 'COMPLETE mine'])
  const document = await app.inject('/api/export/prov-json')
  assert.equal(document.headers['content-type'], 'application/json; charset=utf-8')
  assert.match(String(document.headers['content-disposition']), /filename="colophon-sheet-\w+\.prov\.json"$/)
  const { activity } = JSON.parse(document.body) as { activity: object }
  assert.deepEqual(Object.keys(activity).toSorted(), [
    'sheet:import/1',
    'sheet:run/1',
    'sheet:run/1/rate.yaml',
  ])
})

const FAULTS: readonly (readonly [url: string, status: number, type: string, message: RegExp])[] = [
  [
    '/api/export/pdf',
    404,
    'SheetError',
    /unknown export format "pdf"; known formats: csv, json, ndjson, parquet, xlsx, openlineage, prov-json/,
  ],
  ['/api/export/csv?fields=nope', 400, 'ValidationError', /unknown field "nope"/],
  ['/api/export/csv?filter=nope%3D1', 400, 'QueryError', /nope/],
  ['/api/export/csv?sort=nope', 400, 'ValidationError', /unknown field "nope"/],
  ['/api/export/json?raw=true', 400, 'ValidationError', /raw applies to csv only/],
  [
    '/api/export/csv?namespace=a',
    400,
    'ValidationError',
    /namespace applies to openlineage only; csv has records/,
  ],
  [
    '/api/export/openlineage?namespace=',
    400,
    'ValidationError',
    /"namespace" is ""; expected a text of 1 to 200 characters/,
  ],
  [
    '/api/export/openlineage?fields=id',
    400,
    'ValidationError',
    /fields does not apply to openlineage, which has the runs of the sheet and no records/,
  ],
  [
    '/api/export/prov-json?filter=true',
    400,
    'ValidationError',
    /filter does not apply to prov-json, which has the whole provenance log and no records/,
  ],
  ['/api/export/csv?raw=1', 400, 'ValidationError', /"raw" is "1"; expected true or false/],
  ['/api/export/csv?limit=1', 400, 'ValidationError', /unknown query parameter "limit"/],
]

test('requests that no file can answer are refused', async (t) => {
  const { app } = await startApp(t)
  for (const [url, status, type, message] of FAULTS) {
    await t.test(`${url} is ${status} before the first byte of a file`, async () => {
      const answer = await app.inject(url)
      assert.equal(answer.statusCode, status)
      const { error } = answer.json<{ error: { type: string; message: string } }>()
      assert.equal(error.type, type)
      assert.match(error.message, message)
      assert.equal(answer.headers['content-disposition'], undefined)
    })
  }
})

test('HEAD has the headers and no file', async (t) => {
  const { app } = await startApp(t)
  const answer = await app.inject({ method: 'HEAD', url: '/api/export/xlsx' })
  assert.equal(answer.statusCode, 200)
  assert.match(String(answer.headers['content-disposition']), /\.xlsx"$/)
  assert.equal(answer.body, '')
})

test('a large export is compressed on request', async (t) => {
  const { app } = await startApp(t, { files: { ...MANY, records: PAGES } })
  const answer = await app.inject({ url: '/api/export/ndjson', headers: { 'accept-encoding': 'gzip' } })
  assert.equal(answer.headers['content-encoding'], 'gzip')
  const lines = gunzipSync(answer.rawPayload).toString().trimEnd().split('\n')
  assert.equal(lines.length, PAGES.length)
  assert.ok(answer.rawPayload.length < 1_000_000)
})

/** Counts the pages that are read of a sheet. */
async function countPages(sheet: Sheet): Promise<{ count: number; fail: boolean }> {
  const { store } = await sheet.current()
  const page = store.page.bind(store)
  const pages = { count: 0, fail: false }
  store.page = (query) => {
    pages.count += 1
    return pages.fail && pages.count > 3 ? Promise.reject(new Error('the disk is gone')) : page(query)
  }
  return pages
}

test('no more of a sheet is read than requested', async (t) => {
  const { sheet } = await startApp(t, { files: { ...MANY, records: PAGES } })
  const pages = await countPages(sheet)
  const query = { fields: null, filter: null, sort: null, raw: false }
  const { bytes } = await exportRecords(sheet, { ...query, format: 'ndjson' })
  const chunks = bytes[Symbol.asyncIterator]()
  await chunks.next()
  await chunks.next()
  assert.equal(pages.count, 2)
  await chunks.return?.()
  assert.equal((await chunks.next()).done, true)
  assert.equal(pages.count, 2)
})

test('a client that disconnects stops the export', async (t) => {
  const { app, sheet } = await startApp(t, { files: { ...MANY, records: LARGE } })
  const pages = await countPages(sheet)
  const connected = once(app.server, 'connection')
  const socket = connect(await listen(app), '127.0.0.1')
  socket.write('GET /api/export/ndjson HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [serverSide] = (await connected) as [Socket]
  await once(socket, 'readable')
  socket.destroy()
  // It may well end in an error, which is no matter.
  serverSide.on('error', () => undefined)
  if (!serverSide.closed) await new Promise((resolve) => serverSide.on('close', resolve))
  // One page is that of each request, and one more may have been under way.
  let asked = 0
  for (let before = -1; pages.count !== before + 1; asked += 1) {
    before = pages.count
    await app.inject('/api/records?limit=1')
  }
  const count = pages.count - asked
  assert.ok(count < 25, `${count} pages were read, which is all`)
})

for (const [format, encoding] of [
  ['csv', 'identity'],
  ['ndjson', 'gzip'],
  ['xlsx', 'identity'],
] as const) {
  test(`an error after the first byte of ${format} (${encoding}) closes the connection, and is logged`, async (t) => {
    const { app, sheet, logged } = await startApp(t, { files: { ...MANY, records: PAGES } })
    const pages = await countPages(sheet)
    pages.fail = true
    const socket = connect(await listen(app), '127.0.0.1')
    socket.write(
      `GET /api/export/${format} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${encoding}\r\n\r\n`,
    )
    const answer = (await buffer(socket).catch((error: unknown) => assert.fail(String(error)))).toString(
      'latin1',
    )
    assert.match(answer, /^HTTP\/1\.1 200 OK/)
    assert.match(answer, /transfer-encoding: chunked/i)
    // The last chunk, which would say that all is there.
    assert.doesNotMatch(answer, /\r\n0\r\n\r\n$/)
    assert.deepEqual(
      logged.map(({ message }) => message),
      ['an export failed'],
    )
  })
}

test('a text that no XLSX cell can hold is a 400 if it is among the first records', async (t) => {
  const files = { ...MANY, records: [{ id: 'a', text: 'x'.repeat(32_768) }] }
  const answer = await get(t, '/api/export/xlsx', files)
  assert.equal(answer.statusCode, 400)
  assert.match(
    answer.body,
    /record \\"a\\", field text: the text has 32768 characters, and an XLSX cell holds 32,767/,
  )
})
