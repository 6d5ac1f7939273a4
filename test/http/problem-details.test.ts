import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { createApp } from '../../src/http/app.ts'
import { openOnEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { editSheet, writeSheet } from '../support/sheet-fixture.ts'
import { exchange } from '../support/raw-client.ts'

const PROBLEM = 'application/problem+json'

const FAULTS: readonly [request: InjectOptions, status: number, type: string, code: string][] = [
  [{ url: '/api/records?limit=0' }, 400, 'ValidationError', 'out_of_range'],
  [{ url: '/api/records?fields=none' }, 400, 'ValidationError', 'unknown_field'],
  [{ url: '/api/records?none=1' }, 400, 'ValidationError', 'unknown_parameter'],
  [{ url: '/api/records?cursor=none' }, 400, 'ValidationError', 'invalid_cursor'],
  [{ url: '/api/records/nobody' }, 404, 'SheetError', 'unknown_record'],
  [{ url: '/api/runs/7' }, 404, 'SheetError', 'unknown_run'],
  [{ url: '/nowhere' }, 404, 'SheetError', 'unknown_path'],
  [{ url: '/api/status?targets=none' }, 400, 'OperationError', 'unknown_target'],
  [{ url: '/api/records/%ff' }, 400, 'ValidationError', 'malformed_request'],
  [{ url: '/api/records?filter=(' }, 400, 'QueryError', 'invalid_query'],
  [{ method: 'POST', url: '/api/records' }, 403, 'PermissionDeniedError', 'invalid_csrf_token'],
  [{ method: 'PUT', url: '/api/records' }, 405, 'OperationError', 'method_not_allowed'],
  [
    { url: '/api/records', headers: { host: 'evil.example' } },
    403,
    'PermissionDeniedError',
    'host_not_served',
  ],
]

test('RFC 9457: an error is problem details for a client that prefers these, and the envelope otherwise', async (t) => {
  const { app } = await startApp(t)
  for (const [request, status, type, code] of FAULTS) {
    const about = `${request.method ?? 'GET'} ${String(request.url)}`
    const ask = (accept: string) => app.inject({ ...request, headers: { ...request.headers, accept } })
    const envelope = await ask('*/*')
    const { message } = envelope.json<{ error: { message: string } }>().error
    for (const accept of [PROBLEM, `${PROBLEM}, application/json;q=0.9`]) {
      const response = await ask(accept)
      assert.equal(response.statusCode, status, about)
      assert.equal(response.headers['content-type'], `${PROBLEM}; charset=utf-8`, about)
      assert.deepEqual(
        response.json(),
        { type: `/docs#${type}`, title: type, code, status, detail: message },
        about,
      )
    }
    for (const accept of [
      'application/json',
      `application/json, ${PROBLEM}`,
      'application/*',
      `${PROBLEM};q=0`,
    ]) {
      const response = await ask(accept)
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8', `${about} ${accept}`)
      assert.deepEqual(response.json(), envelope.json())
    }
    assert.match(String(envelope.headers.vary), /\bAccept\b/, about)
  }
})

test('the type of every problem refers to its description in the documentation', async (t) => {
  const { app } = await startApp(t)
  const { body } = await app.inject({ url: '/docs' })
  for (const [, , type] of FAULTS) assert.ok(body.includes(` id="${type}"`), type)
})

test('the violations of refused records have their index and field, and the envelope has its two members only', async (t) => {
  const { app } = await startApp(t)
  const records = [
    { id: 'a', price: 1 },
    { id: 'b', price: 'records[0] (id "a"), field "price": x' },
    { id: 'c', nope: 1 },
  ]
  const post = (accept: string) =>
    app.inject({
      method: 'POST',
      url: '/api/records',
      headers: { ...CSRF, accept },
      payload: { records, actor: 'human:ann' },
    })
  const { violations, ...rest } = (await post(PROBLEM)).json<{
    violations: object[]
    violation_count: number
    detail: string
  }>()
  assert.deepEqual(violations, [
    { index: 1, field: 'price', message: '"records[0] (id \\"a\\"), field \\"price\\": x" is not a number' },
    { index: 2, field: 'nope', message: 'the contract has no such field' },
  ])
  assert.equal(rest.violation_count, 2)
  const { error } = (await post('*/*')).json<{ error: { message: string } }>()
  assert.deepEqual(error, { type: 'ValidationError', message: rest.detail })
})

test('an error in a file of the sheet has the file and the line', async (t) => {
  const directory = await writeSheet(t)
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  await editSheet(directory, 'contract.yaml', (text) => `${text}\nnot: [valid\n`)
  const { file, line, code, detail } = (
    await app.inject({ url: '/api/records', headers: { accept: PROBLEM } })
  ).json<{
    file: string
    line: number
    code: string
    detail: string
  }>()
  assert.deepEqual([file, code], ['contract.yaml', 'invalid_definition'])
  assert.ok(detail.startsWith(`${file}:${line}: `), detail)
})

test('an internal error reveals no more as problem details than as an envelope', async (t) => {
  const { app, sheet } = await startApp(t)
  sheet.current = () => Promise.reject(new Error('secret detail'))
  const response = await app.inject({ url: '/api/records/a', headers: { accept: PROBLEM } })
  assert.deepEqual(response.json(), {
    type: '/docs#ServiceError',
    title: 'ServiceError',
    code: 'internal_error',
    status: 500,
    detail: 'internal error',
  })
})

test('CONNECT and other protocols get the form that the client prefers; a message without headers does not', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const ask = (start: string) =>
    exchange(t, port, `${start}\r\nHost: localhost\r\nAccept: ${PROBLEM}\r\n\r\n`)
  for (const start of ['CONNECT a.example:443 HTTP/1.1', 'DESCRIBE /api/csrf RTSP/1.0']) {
    const { headers, body, status } = await ask(start)
    assert.match(headers, /content-type: application\/problem\+json; charset=utf-8\r\n/i, start)
    assert.equal((JSON.parse(body) as { status: number }).status, status)
  }
  const { headers } = await ask('garbage')
  assert.match(headers, /content-type: application\/json; charset=utf-8\r\n/i)
})
