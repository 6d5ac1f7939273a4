import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import { openOnEngine, perEngine } from '../support/engine.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { RawClient } from '../support/raw-client.ts'
import { editSheet, writeSheet } from '../support/sheet-fixture.ts'

async function subscribe(t: TestContext, port: number): Promise<RawClient> {
  const client = await RawClient.open(t, port)
  client.send('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await client.waitFor((text) => text.includes(': connected\n\n'))
  return client
}

/** The stream's text so far, without the head of the answer and the marks of chunks. */
function streamText(received: string): string {
  let rest = received.slice(received.indexOf('\r\n\r\n') + 4)
  let text = ''
  for (;;) {
    const line = rest.indexOf('\r\n')
    const size = parseInt(rest.slice(0, line), 16)
    if (line === -1 || !(size > 0) || rest.length < line + 2 + size) return text
    text += rest.slice(line + 2, line + 2 + size)
    rest = rest.slice(line + 2 + size + 2)
  }
}

test('a subscriber gets a greeting, then each frame as event, one line of data and an empty line', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const client = await subscribe(t, port)
  const headers = client.received.slice(0, client.received.indexOf('\r\n\r\n'))
  assert.match(headers, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(headers, /^content-type: text\/event-stream/im)
  assert.match(headers, /^set-cookie: svc_csrf=[A-Za-z0-9_-]{43}; Path=\/; SameSite=Strict\r?$/im)
  assert.match(headers, /^cache-control: private, no-cache\r?$/im)
  const payload = { actor: 'agent:Zoë\n', record_ids: ['a'] }
  const bad = await app.inject({ method: 'POST', url: '/api/materialize', headers: CSRF, payload })
  assert.equal(bad.statusCode, 400)
  await app.inject({
    method: 'POST',
    url: '/api/materialize',
    headers: CSRF,
    payload: { ...payload, actor: 'agent:Zoë' },
  })
  await client.waitFor((text) => text.includes('materialize.end') && text.endsWith('\n\n\r\n'))
  const text = Buffer.from(streamText(client.received), 'latin1')
    .toString('utf8')
    .replaceAll(/"ts":"[^"]+"/g, '"ts":""')
    // Where servers share their frames they have ids, which shared-events.test.ts is about.
    .replaceAll(perEngine({ sqlite: /$^/g, postgres: /^id: \d+\n\n?/gm }), '')
  assert.equal(
    text,
    ': connected\n\n' +
      'event: materialize.start\n' +
      'data: {"kind":"materialize.start","ts":"","actor":"agent:Zoë","targets":null,"record_ids":["a"],"force":false}\n\n' +
      'event: materialize.end\n' +
      'data: {"kind":"materialize.end","ts":"","actor":"agent:Zoë","materialized":1,"skipped":0,"failures":0,"total_cost":0}\n\n',
  )
})

test('an aborted run is published as materialize.error with the type and the message', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const client = await subscribe(t, port)
  const payload = { actor: 'agent:test', targets: ['title'] }
  await app.inject({ method: 'POST', url: '/api/materialize', headers: CSRF, payload })
  const text = await client.waitFor((so_far) => so_far.includes('event: materialize.error'))
  assert.match(text, /"error_type":"OperationError","message":"no derivation has the target/)
})

test('keepalive comments are sent repeatedly', async (t) => {
  const { app } = await startApp(t, { app: { keepAliveMs: 5 } })
  const client = await subscribe(t, await listen(app))
  await client.waitFor((text) => text.split(': keepalive\n\n').length > 3)
})

test('D3: the stream begins and continues while the contract is invalid', async (t) => {
  const directory = await writeSheet(t)
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  const port = await listen(app)
  const before = await subscribe(t, port)
  await editSheet(directory, 'contract.yaml', 'kind: Nonsense\n')
  const since = await subscribe(t, port)
  const payload = { actor: 'agent:test' }
  await app.inject({ method: 'POST', url: '/api/materialize', headers: CSRF, payload })
  for (const client of [before, since]) {
    await client.waitFor((text) => text.includes('"error_type":"ContractError"'))
  }
})
