import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createApp, type AppOptions } from '../../src/http/app.ts'
import { MCP_BODY_LIMIT } from '../../src/http/routes/mcp.ts'
import { McpEndpoint } from '../../src/mcp/mcp-endpoint.ts'
import type { SessionLimits } from '../../src/mcp/mcp-sessions.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { agentOverHttp, ERAS, serveAgents, type Agent } from '../support/agent.ts'
import { listen } from '../support/http-fixture.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'
import { onEnd } from '../support/on-end.ts'
import { openLookupSheet, type RunSheet } from '../support/run-fixture.ts'

const RECORDS = [
  { id: 'r0', a: 'v0' },
  { id: 'r1', a: 'v1' },
]

/** A server for agents in this process. */
async function serveHere(
  t: TestContext,
  { limits, app: options = {} }: { limits?: SessionLimits; app?: Partial<AppOptions> } = {},
): Promise<{ run: RunSheet; port: number; close(): Promise<void> }> {
  const run = await openLookupSheet(t, RECORDS)
  const scope = {
    actor: 'agent',
    mode: 'write',
    allowDefinition: false,
    maxCalls: null,
    maxCost: null,
  } as const
  const logged: unknown[] = []
  const agents = new McpEndpoint(run.sheet, {
    scope,
    version: '1',
    log: (error) => logged.push(error),
    ...(limits === undefined ? {} : { limits }),
  })
  const app = createApp(run.sheet, { agents, ...options })
  onEnd(t, async () => {
    await app.close()
    assert.deepEqual(logged, [])
  })
  return { run, port: await listen(app), close: () => app.close() }
}

function sessionOf({ transport }: Agent): string {
  return (transport as StreamableHTTPClientTransport).sessionId ?? assert.fail('no session')
}

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

function post(port: number, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { ...ACCEPT, ...headers },
    body: JSON.stringify(body),
  })
}

/** Begins a session by hand, and answers with its id. */
async function begin(port: number, headers: Record<string, string> = {}): Promise<string> {
  const response = await post(port, INITIALIZE, headers)
  assert.equal(response.status, 200)
  await response.text()
  return response.headers.get('mcp-session-id') ?? assert.fail('no session')
}

test('without --mcp there is no /mcp', async (t) => {
  const run = await openLookupSheet(t, RECORDS)
  const app = createApp(run.sheet)
  onEnd(t, () => app.close())
  assert.equal((await app.inject({ method: 'POST', url: '/mcp', payload: INITIALIZE })).statusCode, 404)
})

test('D38: pages of other sites, rebound names and links do not reach /mcp; cookies are neither read nor set', async (t) => {
  const { run } = await serveHere(t)
  const scope = {
    actor: 'agent',
    mode: 'write',
    allowDefinition: false,
    maxCalls: null,
    maxCost: null,
  } as const
  const agents = new McpEndpoint(run.sheet, { scope, version: '1', log: () => assert.fail() })
  const app = createApp(run.sheet, { agents })
  onEnd(t, () => app.close())
  const from = async (headers: Record<string, string>, method: 'POST' | 'GET' | 'DELETE' = 'POST') =>
    app.inject({
      method,
      url: '/mcp',
      headers: { ...ACCEPT, host: 'localhost:3000', ...headers },
      ...(method === 'POST' ? { payload: INITIALIZE } : {}),
    })
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  for (const [headers, method] of [
    [{ origin: 'https://evil.example' }],
    [{ origin: 'http://localhost:4000' }],
    [{ origin: 'null' }],
    [{ host: 'evil.example:3000' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'cross-site' }, 'GET'],
    [{ 'sec-fetch-site': 'cross-site', ...navigation }, 'GET'],
    [{ 'sec-fetch-site': 'same-origin', ...navigation }, 'GET'],
    [{ origin: 'https://evil.example' }, 'DELETE'],
  ] as const) {
    const response = await from(headers, method)
    assert.equal(response.statusCode, 403, JSON.stringify(headers))
    assert.equal(response.json<{ error: { type: string } }>().error.type, 'PermissionDeniedError')
  }
  // What a page may send without asking first is no request of the protocol.
  const plain = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { host: 'localhost:3000', accept: ACCEPT.accept, 'content-type': 'text/plain' },
    payload: JSON.stringify(INITIALIZE),
  })
  assert.equal(plain.statusCode, 415)
  const preflight = await app.inject({ method: 'OPTIONS', url: '/mcp', headers: { host: 'localhost:3000' } })
  assert.equal(preflight.statusCode, 405)
  assert.equal(preflight.headers['access-control-allow-origin'], undefined)
  const allowed = await from({ cookie: 'svc_csrf=x', origin: 'http://localhost:3000' })
  assert.equal(allowed.statusCode, 200)
  assert.equal(allowed.headers['set-cookie'], undefined)
  assert.equal(allowed.headers['x-content-type-options'], 'nosniff')
})

test('a message is JSON of a limited size', async (t) => {
  const { port } = await serveHere(t)
  const large = await post(port, { ...INITIALIZE, padding: 'x'.repeat(MCP_BODY_LIMIT) })
  assert.equal(large.status, 413)
  assert.match(await large.text(), new RegExp(`larger than ${MCP_BODY_LIMIT} bytes`))
  const url = `http://127.0.0.1:${port}/mcp`
  const broken = await fetch(url, { method: 'POST', headers: ACCEPT, body: '{' })
  assert.equal(broken.status, 400)
  await broken.text()
})

test('a session ends with DELETE, and an unknown one is 404, so that a client starts a new one', async (t) => {
  const { port } = await serveHere(t)
  const agent = await agentOverHttp(t, port)
  const session = sessionOf(agent)
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  assert.equal((await post(port, list)).status, 400)
  assert.equal((await post(port, list, { 'mcp-session-id': 'made-up' })).status, 404)
  await (agent.transport as StreamableHTTPClientTransport).terminateSession()
  assert.equal((await post(port, list, { 'mcp-session-id': session })).status, 404)
})

test('a session without a connected client ends, and so does its run', async (t) => {
  const { run, port } = await serveHere(t, { limits: { sessions: 4, idleMs: 200 } })
  const hold = run.api.hold('*')
  const stop = new AbortController()
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'materialize', arguments: {} } }
  // Where this machine is slow, a session may have ended before it is used.
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: { ...ACCEPT, 'mcp-session-id': await begin(port) },
      body: JSON.stringify(call),
      signal: stop.signal,
    })
    if (answer.status === 200) break
    assert.equal(answer.status, 404)
    await answer.text()
  }
  // While the answer is under way the session lasts.
  await hold.arrived()
  const under = run.sheet.runs.get('1') ?? assert.fail()
  assert.equal(under.signal.aborted, false)
  stop.abort()
  if (!under.signal.aborted) await once(under.signal, 'abort')
  await under.ended
  const [ended] = (await listRuns(run.sheet, { limit: 1, cursor: null })).runs
  assert.deepEqual([ended?.state, ended?.cancelledBy], ['cancelled', 'agent'])
  hold.release()
})

test('the number of sessions is limited: the one that has been idle longest is ended, never a working one', async (t) => {
  const { port } = await serveHere(t, { limits: { sessions: 2, idleMs: 60_000 } })
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  const open = async (session: string): Promise<Response> => {
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session }
    const stream = await fetch(`http://127.0.0.1:${port}/mcp`, { headers })
    assert.equal(stream.status, 200)
    return stream
  }
  const statusOf = async (session: string): Promise<number> => {
    const response = await post(port, list, { 'mcp-session-id': session })
    await response.text()
    return response.status
  }
  const first = await begin(port)
  const streams = [await open(first)]
  const second = await begin(port)
  const third = await begin(port)
  assert.deepEqual([await statusOf(first), await statusOf(second), await statusOf(third)], [200, 404, 200])
  streams.push(await open(third))
  const refused = await post(port, INITIALIZE)
  assert.equal(refused.status, 503)
  assert.match(await refused.text(), /Too many sessions/)
  for (const stream of streams) await stream.body?.cancel()
})

for (const era of ERAS) {
  void test(`${era}: closing the server ends streams and sessions, and runs that agents wait for`, async (t) => {
    const { run, port, close } = await serveHere(t)
    const agent = await agentOverHttp(t, port, { era })
    await agent.tools()
    if (era === '2026-07-28') await agent.client.listen({ resourcesListChanged: true })
    const hold = run.api.hold('*')
    const call = agent.raw('materialize', {}).catch(() => undefined)
    await hold.arrived()
    const under = run.sheet.runs.get('1') ?? assert.fail()
    await close()
    assert.equal(under.signal.aborted, true)
    hold.release()
    await agent.client.close()
    await call
  })
}

test('SIGTERM ends a server with agents connected, within its time limit', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const server = await serveAgents(t, sheet)
  const port = await server.port()
  const agents = await Promise.all(ERAS.map((era) => agentOverHttp(t, port, { era })))
  await Promise.all(agents.map((agent) => agent.call('get_status')))
  server.kill('SIGTERM')
  const { code, stderr } = await server.end()
  assert.equal(code, 0)
  assert.doesNotMatch(stderr, /internal error|went wrong/)
})

test('behind a proxy that names actors, these write, each in its own session', async (t) => {
  const { run, port } = await serveHere(t, { app: { trustedActorHeader: 'x-user' } })
  for (const era of ERAS) {
    const ann = await agentOverHttp(t, port, { era, headers: { 'x-user': 'human:ann' } })
    await ann.call('upsert_records', { records: [{ id: era, a: 'x' }] })
    assert.equal((await run.entry(era, 'a'))?.['actor'], 'human:ann')
    const nobody = await agentOverHttp(t, port, { era })
    await nobody.call('list_records')
    assert.match(
      await nobody.fails('upsert_records', { records: [{ id: 'y' }] }),
      /^ValidationError: actor is required: the header x-user, which names the actor/,
    )
    if (era === '2026-07-28') continue
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    const headers = { 'mcp-session-id': sessionOf(ann) }
    assert.equal((await post(port, list, { ...headers, 'x-user': 'human:bob' })).status, 404)
    assert.equal((await post(port, list, headers)).status, 404)
    const own = await post(port, list, { ...headers, 'x-user': 'human:ann' })
    assert.equal(own.status, 200)
    await own.text()
  }
})
