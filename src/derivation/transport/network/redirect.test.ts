import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { DEFAULT_HOST_POLICY } from '../../definition/host-policies.ts'
import { startHttp } from '../testing/local-server.ts'
import type { LocalServer } from '../testing/local-server.ts'
import type { TransportRequest } from '../call/transport.ts'
import { UndiciTransport } from './undici-transport.ts'

const SECRET = 'very-secret-value'
const { signal } = new AbortController()

/** Responds to `/to/<status>?<location>` with that redirect, and to anything else with the request. */
async function redirector(t: TestContext): Promise<LocalServer> {
  const server = await startHttp((incoming, response) => {
    const [, status, location] = /^\/to\/(\d+)\?(.*)$/.exec(incoming.url ?? '') ?? []
    if (status === undefined) {
      void echo(incoming).then((answer) => response.end(answer))
    } else {
      incoming.resume()
      response.writeHead(Number(status), { location: decodeURIComponent(location ?? '') }).end('moved')
    }
  })
  t.after(() => server.close())
  return server
}

async function echo(incoming: IncomingMessage): Promise<string> {
  const { method, url, headers } = incoming
  return JSON.stringify({ method, url, headers, body: await text(incoming) })
}

interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

async function send(
  t: TestContext,
  url: string,
  more: Partial<TransportRequest> = {},
): Promise<{ echo: Echo } | { error: unknown }> {
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const request: TransportRequest = {
    method: 'GET',
    url,
    headers: {},
    body: null,
    secretHeaders: new Set(),
    ...more,
  }
  const answer = await transport.send(request, { signal, policy: DEFAULT_HOST_POLICY })
  return answer.ok ? { echo: answer.value.json as unknown as Echo } : { error: answer.error }
}

async function sendThrough(t: TestContext, url: string, more: Partial<TransportRequest> = {}): Promise<Echo> {
  const answer = await send(t, url, more)
  assert.ok('echo' in answer, JSON.stringify(answer))
  return answer.echo
}

function to(status: number, location: string): string {
  return `/to/${status}?${encodeURIComponent(location)}`
}

for (const [method, status, then] of [
  ['GET', 301, 'GET'],
  ['GET', 307, 'GET'],
  ['POST', 301, 'GET'],
  ['POST', 302, 'GET'],
  ['POST', 303, 'GET'],
  ['PUT', 303, 'GET'],
  ['PUT', 301, 'PUT'],
  ['DELETE', 302, 'DELETE'],
  ['POST', 307, 'POST'],
  ['PATCH', 308, 'PATCH'],
] as const) {
  test(`a redirect ${status} of ${method} is followed with ${then}, as fetch does it`, async (t) => {
    const { origin } = await redirector(t)
    const body = method === 'GET' ? null : '{"b":1}'
    const answer = await sendThrough(t, origin + to(status, '/there?x=1'), { method, body })
    assert.deepEqual([answer.method, answer.url], [then, '/there?x=1'])
    assert.equal(answer.body, then === 'GET' ? '' : '{"b":1}')
    assert.equal(answer.headers['content-type'], then === 'GET' ? undefined : 'application/json')
  })
}

test('relative, empty-path and non-ASCII redirect addresses are resolved', async (t) => {
  const { origin } = await redirector(t)
  const utf8 = Buffer.from('/zürich', 'utf8').toString('latin1')
  for (const [location, url] of [
    ['there', '/to/there'],
    ['../up', '/up'],
    [origin, '/'],
    [utf8, '/z%C3%BCrich'],
    ['/x#fragment', '/x'],
  ] as const) {
    assert.equal((await sendThrough(t, origin + to(302, location))).url, url)
  }
})

test('five redirects are followed, a sixth fails the call', async (t) => {
  const { origin } = await redirector(t)
  const chain = (length: number): string =>
    Array.from({ length }).reduce<string>((location) => to(302, location), '/end')
  assert.equal((await sendThrough(t, origin + chain(5))).url, '/end')
  const url = origin + chain(6)
  assert.deepEqual(await send(t, url), {
    error: { reason: 'network', request: `GET ${url}`, detail: 'too many redirects' },
  })
})

test('a redirect loop fails the call', async (t) => {
  const server = await startHttp((_incoming, response) =>
    response.writeHead(302, { location: '/again' }).end(),
  )
  t.after(() => server.close())
  const url = `${server.origin}/`
  assert.deepEqual(await send(t, url), {
    error: { reason: 'network', request: `GET ${url}`, detail: 'too many redirects' },
  })
})

for (const location of [
  'file:///etc/hostname',
  'ftp://127.0.0.1/x',
  'data:application/json,1',
  'javascript:1',
]) {
  test(`a redirect to ${location} fails the call, without its text in the failure`, async (t) => {
    const { origin } = await redirector(t)
    const url = origin + to(302, location)
    assert.deepEqual(await send(t, url), {
      error: {
        reason: 'network',
        request: `GET ${url}`,
        detail: 'redirect to a scheme other than http and https',
      },
    })
  })
}

test('a redirect to an empty address fails the call; one without a location is a bad status', async (t) => {
  const { origin } = await redirector(t)
  const url = origin + to(302, 'http://[bad')
  assert.deepEqual(await send(t, url), {
    error: { reason: 'network', request: `GET ${url}`, detail: 'redirect to an invalid address' },
  })
  const server = await startHttp((_incoming, response) => response.writeHead(302).end())
  t.after(() => server.close())
  assert.deepEqual(await send(t, server.origin), {
    error: { reason: 'status', request: `GET ${server.origin}`, status: 302 },
  })
})

const headers = {
  Authorization: `Bearer ${SECRET}`,
  COOKIE: `session=${SECRET}`,
  'X-Api-Key': SECRET,
  'X-Plain': 'plain',
}
const secretHeaders = new Set(['x-api-key'])

test('D23: a redirect within the origin keeps all headers', async (t) => {
  const { origin } = await redirector(t)
  const answer = await sendThrough(t, origin + to(302, '/there'), { headers, secretHeaders })
  assert.equal(answer.headers['authorization'], headers.Authorization)
  assert.equal(answer.headers['cookie'], headers.COOKIE)
  assert.equal(answer.headers['x-api-key'], SECRET)
})

test('D23: a redirect to another port drops secrets and credentials, and a redirect back does not restore them', async (t) => {
  const first = await redirector(t)
  const second = await redirector(t)
  for (const location of [`${second.origin}/there`, second.origin + to(307, `${first.origin}/back`)]) {
    const answer = await sendThrough(t, first.origin + to(302, location), { headers, secretHeaders })
    assert.equal(answer.headers['x-plain'], 'plain')
    assert.doesNotMatch(JSON.stringify(answer), new RegExp(SECRET))
  }
})

test('D23: a redirect to another host drops secrets and credentials', async (t) => {
  const server = await redirector(t)
  const location = `http://user:${SECRET}@localhost:${server.port}/there`
  const answer = await sendThrough(t, server.origin + to(302, location), {
    headers: { 'X-Api-Key': SECRET },
    secretHeaders,
  })
  assert.equal(answer.url, '/there')
  assert.equal(answer.headers['x-api-key'], undefined)
  assert.equal(answer.headers['authorization'], undefined)
})
