import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import type { Transport } from '../../src/sheet/transports.ts'
import { assertEnvelope, CSRF, listen, startApp } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'

test('closing the app finishes the request under way, and closes idle connections', async (t) => {
  const called = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const transport: Transport = {
    async send() {
      called.resolve()
      await release.promise
      return { ok: true, value: { status: 200, text: '', json: { rate: 2 }, durationMs: 0 } }
    },
    refusal: () => null,
    close: () => Promise.resolve(),
  }
  const { app } = await startApp(t, { sheet: { transport } })
  const port = await listen(app)
  const idle = await RawClient.open(t, port)
  idle.send('GET /api/csrf HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await idle.answer()
  const busy = await RawClient.open(t, port)
  const body = '{"actor":"agent:test","record_ids":["a"]}'
  busy.send(
    [
      'POST /api/materialize HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...Object.entries(CSRF).map(([name, value]) => `${name}: ${value}`),
      '',
      body,
    ].join('\r\n'),
  )
  await called.promise
  const closed = app.close()
  await idle.end()
  release.resolve()
  const answer = await busy.answer()
  assert.equal(answer.status, 200)
  assert.equal((JSON.parse(answer.body) as { materialized: number }).materialized, 1)
  await closed
  await busy.end()
})

test('while the service is stopping, refused operations are a 500 ServiceError with the time to retry', async (t) => {
  const { app, sheet, logged } = await startApp(t)
  const post = (url: string, body: object): Promise<LightMyRequestResponse> =>
    app.inject({ method: 'POST', url, headers: CSRF, payload: { actor: 'agent:test', ...body } })
  await sheet.stopRuns()
  const refused = [
    await post('/api/materialize', {}),
    await post('/api/materialize', { dry_run: true }),
    await post('/api/revert', { run_id: '1' }),
  ]
  // What it still does tells clients to connect to another one the next time.
  const read = await app.inject({ url: '/api/records' })
  assert.deepEqual([read.statusCode, read.headers.connection], [200, 'close'])
  await sheet.close()
  refused.push(
    await app.inject({ method: 'POST', url: '/api/query', headers: CSRF, payload: { sql: 'SELECT 1' } }),
  )
  refused.push(await post('/api/records', { records: [{ id: 'd' }] }))
  for (const response of refused) {
    assert.equal(response.statusCode, 500, response.payload)
    assertEnvelope(response, 'ServiceError', /stopping|closed/)
    assert.match(String(response.headers['retry-after']), /^\d+$/)
    assert.equal(response.headers.connection, 'close')
  }
  assert.deepEqual(logged, [])
})
