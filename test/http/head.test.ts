import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listRoutes } from '../support/app-routes.ts'
import { listen, startApp } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'

const withoutToken = ({ 'set-cookie': _token, date: _date, ...rest }: Record<string, unknown>): object => rest

test('every GET has a HEAD with the same status and headers and without a body', async (t) => {
  const { app } = await startApp(t)
  const routes = listRoutes(app)
  await app.ready()
  const paths = routes.filter(({ method }) => method === 'GET').map(({ path }) => path)
  const heads = routes.filter(({ method }) => method === 'HEAD').map(({ path }) => path)
  assert.deepEqual(heads.toSorted(), paths.toSorted())
  for (const path of paths.filter((one) => !one.endsWith('/events'))) {
    const url = path.replaceAll(/:\w+/g, 'a')
    const get = await app.inject({ url })
    const head = await app.inject({ method: 'HEAD', url })
    assert.equal(head.statusCode, get.statusCode, path)
    assert.equal(head.body, '', path)
    assert.deepEqual(withoutToken(head.headers), withoutToken(get.headers), path)
  }
})

test('HEAD of a stream has its headers and ends, without a subscription', async (t) => {
  const { app, sheet } = await startApp(t)
  const port = await listen(app)
  const before = sheet.events.size
  for (const path of ['/events', '/api/sheet/events']) {
    const client = await RawClient.open(t, port)
    client.send(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const text = await client.waitFor((received) => received.includes('\r\n\r\n'))
    assert.match(text, /^HTTP\/1\.1 200 [^]*content-type: text\/event-stream/, path)
    assert.ok(text.endsWith('\r\n\r\n'), path)
    // The connection goes on.
    client.received = ''
    client.send('GET /api/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert.equal((await client.answer()).status, 200)
  }
  assert.equal(sheet.events.size, before)
})
