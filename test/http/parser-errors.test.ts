import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { respondToParserError } from '../../src/http/http-server.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { exchange, RawClient } from '../support/raw-client.ts'
import { onEnd } from '../support/on-end.ts'

const get = (target: string, ...headers: string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')

const post = (...headers: string[]): string =>
  ['POST /api/query HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', ...headers, '', ''].join(
    '\r\n',
  )

/** Bytes to send, and the status, type and words of the response. */
const MESSAGES: readonly [what: string, message: string, status: number, type: string, words: RegExp][] = [
  ['garbage', 'garbage\r\n\r\n', 400, 'ValidationError', /HTTP/],
  ['an unknown method', 'FETCH / HTTP/1.1\r\n\r\n', 400, 'ValidationError', /HTTP/],
  ['a bad header', get('/api/csrf', 'Bad Header: x'), 400, 'ValidationError', /HTTP/],
  ['two lengths', post('Content-Length: 1', 'Content-Length: 2'), 400, 'ValidationError', /HTTP/],
  [
    'length and chunks',
    post('Content-Length: 1', 'Transfer-Encoding: chunked'),
    400,
    'ValidationError',
    /HTTP/,
  ],
  ['a bad chunk', `${post('Transfer-Encoding: chunked')}zz\r\n`, 400, 'ValidationError', /HTTP/],
  ['no Host', 'GET /api/csrf HTTP/1.1\r\n\r\n', 403, 'PermissionDeniedError', /host ""/],
  ['no Host, HTTP/1.0', 'GET /api/csrf HTTP/1.0\r\n\r\n', 403, 'PermissionDeniedError', /host ""/],
  ['an empty Host', 'GET /api/csrf HTTP/1.1\r\nHost:\r\n\r\n', 403, 'PermissionDeniedError', /host ""/],
  ['two Hosts', get('/api/csrf', 'hOSt: evil.example'), 403, 'PermissionDeniedError', /more than one/],
  ['two equal Hosts', get('/api/csrf', 'Host: localhost'), 403, 'PermissionDeniedError', /more than one/],
  ['a whole URL of another host', get('http://evil.example/api/csrf'), 403, 'PermissionDeniedError', /evil/],
  ['a URL over 64 KiB', get(`/api/records?filter=${'x'.repeat(65_530)}`), 414, 'ValidationError', /65536/],
  ['an id over 64 KiB', get(`/api/records/${'x'.repeat(200_000)}`), 414, 'ValidationError', /65536/],
  [
    'headers over 256 KiB',
    get('/api/csrf', `X-Big: ${'x'.repeat(300_000)}`),
    431,
    'ValidationError',
    /headers/,
  ],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', 404, 'SheetError', /path/],
  ['TRACE', 'TRACE /api/csrf HTTP/1.1\r\nHost: localhost\r\n\r\n', 405, 'OperationError', /TRACE/],
  ['CONNECT', 'CONNECT a.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405, 'OperationError', /CONNECT/],
]

test('D36: a request that the HTTP parser refuses gets the error envelope too', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  for (const [what, message, status, type, words] of MESSAGES) {
    await t.test(what, async (own) => {
      const answer = await exchange(own, port, message)
      assert.equal(answer.status, status, answer.body.slice(0, 500))
      assert.match(answer.headers, /^content-type: application\/json; charset=utf-8\r$/im)
      const { error } = JSON.parse(answer.body) as { error: { type: string; message: string } }
      assert.equal(error.type, type)
      assert.match(error.message, words)
      if (status === 405) assert.match(answer.headers, /^allow: /im)
    })
  }
})

test('unusual but valid requests pass', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const query = '{"sql":"SELECT 1 AS one"}'
  const length = `Content-Length: ${query.length}`
  for (const message of [
    get('http://localhost/api/csrf'),
    get('/api/csrf', 'Expect: a miracle'),
    get('/api/csrf', 'Upgrade: websocket', 'Connection: Upgrade'),
    get(`/api/records?filter=id%20%3D%20'${'x'.repeat(60_000)}'`),
    post(length, 'Connection: close') + query,
    `${post('Transfer-Encoding: chunked')}${query.length.toString(16)}\r\n${query}\r\n0\r\n\r\n`,
  ]) {
    const { status, body } = await exchange(t, port, message)
    assert.equal(status, 200, `${message.slice(0, 100)} -> ${body.slice(0, 300)}`)
  }
})

test('D36: a client that continues to send after a refusal still gets the response', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const size = 33 * 1024 * 1024
  const head = (path: string, ...headers: string[]): string =>
    [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: application/json',
      `Content-Length: ${size}`,
      ...headers,
      '',
      '',
    ].join('\r\n')
  for (const [message, status] of [
    [head('/api/query'), 413],
    [head('/api/records', ...Object.entries(CSRF).map(([name, value]) => `${name}: ${value}`)), 413],
    [head('/api/records'), 403],
    [head('/api/nowhere'), 404],
  ] as const) {
    const client = await RawClient.open(t, port)
    client.send(message)
    client.send(Buffer.alloc(size, 0x20))
    assert.equal((await client.answer()).status, status)
    // The connection is good for another request.
    client.send(get('/api/csrf'))
    assert.equal((await client.answer()).status, 200)
  }
})

test('D36: a request that takes too long to arrive is a 408 with the envelope', async (t) => {
  const server = createServer({ headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 })
  server.on('clientError', respondToParserError)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  onEnd(t, () => server.close())
  const answer = await exchange(t, (server.address() as AddressInfo).port, 'GET / HTTP/1.1\r\n')
  assert.equal(answer.status, 408)
  assert.equal((JSON.parse(answer.body) as { error: { type: string } }).error.type, 'ValidationError')
})

test('a client that disconnects in the middle of a body has no effect and is not logged', async (t) => {
  const { app, logged } = await startApp(t)
  const port = await listen(app)
  const client = await RawClient.open(t, port)
  client.send(`${post('Content-Length: 1000')}{"sql":`)
  client.socket.destroy()
  assert.equal((await exchange(t, port, get('/api/csrf'))).status, 200)
  assert.deepEqual(logged, [])
})
