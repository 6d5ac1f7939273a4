import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transport } from '../../src/sheet/transports.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'

test('closing the app finishes the request under way, and lets idle connections go', async (t) => {
  const called = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const transport: Transport = {
    async send() {
      called.resolve()
      await release.promise
      return { ok: true, value: { status: 200, json: { rate: 2 }, durationMs: 0 } }
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
