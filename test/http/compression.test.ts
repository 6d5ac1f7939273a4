import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { CSRF, listen, startApp, type TestApp } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'

async function large(t: Parameters<typeof startApp>[0]): Promise<TestApp> {
  const records = Array.from({ length: 60 }, (_one, index) => ({ id: `r${index}`, title: `Record ${index}` }))
  return startApp(t, { files: { records } })
}

const URL = '/api/records'

test("a response is compressed with the client's preferred encoding, and has the same content", async (t) => {
  const { app } = await large(t)
  const plain = await app.inject({ url: URL })
  assert.equal(plain.headers['content-encoding'], undefined)
  const cases = [
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['gzip;q=0.5, br', 'br'],
    ['GZIP', 'gzip'],
    ['identity, gzip;q=0.5', undefined],
    ['gzip;q=0', undefined],
    ['gzip;q=0, *', 'br'],
    ['deflate', undefined],
    ['', undefined],
    ['nonsense;;q=x', undefined],
  ] as const
  for (const [accepted, expected] of cases) {
    const { headers, rawPayload } = await app.inject({ url: URL, headers: { 'accept-encoding': accepted } })
    assert.equal(headers['content-encoding'], expected, accepted)
    assert.match(String(headers.vary), /(?:^|, )Accept-Encoding$/, accepted)
    assert.equal(headers['content-length'], String(rawPayload.length), accepted)
    const body =
      expected === 'gzip'
        ? gunzipSync(rawPayload)
        : expected === 'br'
          ? brotliDecompressSync(rawPayload)
          : rawPayload
    assert.equal(body.toString(), plain.body, accepted)
    if (expected !== undefined) assert.ok(rawPayload.length < plain.rawPayload.length / 2)
  }
})

test('HEAD has the headers that GET has, compressed or not', async (t) => {
  const { app } = await large(t)
  const withoutToken = ({ 'set-cookie': _token, date: _date, ...rest }: Record<string, unknown>): object =>
    rest
  for (const accepted of ['identity', 'gzip', 'br']) {
    const headers = { 'accept-encoding': accepted }
    const get = await app.inject({ url: URL, headers })
    const head = await app.inject({ method: 'HEAD', url: URL, headers })
    assert.equal(head.body, '')
    assert.deepEqual(withoutToken(head.headers), withoutToken(get.headers), accepted)
  }
})

test('responses of less than a kilobyte, the CSRF token and errors are not compressed', async (t) => {
  const { app } = await large(t)
  const headers = { 'accept-encoding': 'gzip, br' }
  for (const url of [
    '/api/records/r1',
    '/api/csrf',
    '/api/nowhere',
    `/api/records?filter=${'x'.repeat(3000)}`,
  ]) {
    const response = await app.inject({ url, headers })
    assert.equal(response.headers['content-encoding'], undefined, url)
    assert.doesNotMatch(String(response.headers.vary), /Encoding/, url)
    response.json()
  }
})

test('results of queries are compressed too', async (t) => {
  const { app } = await large(t)
  const { headers, rawPayload } = await app.inject({
    method: 'POST',
    url: '/api/query',
    headers: { 'accept-encoding': 'gzip' },
    payload: { sql: 'SELECT * FROM records' },
  })
  assert.equal(headers['content-encoding'], 'gzip')
  const { count } = JSON.parse(gunzipSync(rawPayload).toString()) as { count: number }
  assert.equal(count, 60)
})

test('event streams are not compressed, so that each frame arrives when it is sent', async (t) => {
  const { app } = await large(t)
  const client = await RawClient.open(t, await listen(app))
  client.send('GET /events HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip, br\r\n\r\n')
  const text = await client.waitFor((received) => received.includes(': connected'))
  assert.doesNotMatch(text, /content-encoding/i)
  await app.inject({
    method: 'POST',
    url: '/api/materialize',
    headers: CSRF,
    payload: { actor: 'agent:test' },
  })
  await client.waitFor((received) => received.includes('event: materialize.end'))
})
