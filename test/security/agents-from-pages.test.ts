import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import { McpEndpoint } from '../../src/mcp/mcp-endpoint.ts'
import { NO_BROWSER, startBrowser } from '../support/browser.ts'
import { RequestLog, servePages, startServer } from '../support/hostile-server.ts'
import { listen } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { CANARY } from '../support/page-attacks.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'upsert_records',
    arguments: { records: [{ id: 'planted', title: 'x' }] },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'evil', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}

const HEADERS = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'upsert_records',
}

/** Ways of a page to have a call made; each comes to the text that the page learns. `M` is the endpoint. */
const ATTACKS: Readonly<Record<string, string>> = {
  'a call': `fetch(M, { method: 'POST', headers: HEADERS, body: CALL }).then((r) => r.text())`,
  'a call without asking first': `fetch(M, { method: 'POST', mode: 'no-cors', credentials: 'include', body: CALL }).then((r) => r.text())`,
  'a call as plain text': `fetch(M, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: CALL }).then((r) => r.text())`,
  'a beacon of JSON': `String(navigator.sendBeacon(M, new Blob([CALL], { type: 'application/json' })))`,
  'a stream': `new Promise((resolve) => { const s = new EventSource(M); s.onopen = () => resolve('open'); s.onerror = () => resolve('error') })`,
  'the end of a session': `fetch(M, { method: 'DELETE', mode: 'cors', headers: { 'mcp-session-id': 'x' } }).then((r) => r.text())`,
  'a form': `(() => { const f = document.createElement('form'); f.method = 'POST'; f.enctype = 'text/plain'; f.action = M; f.target = 'none'; const i = document.createElement('input'); i.name = CALL; f.append(i); const frame = document.createElement('iframe'); frame.name = 'none'; document.body.append(f, frame); return new Promise((resolve) => { frame.onload = () => resolve('sent'); f.submit() }) })()`,
}

test(
  'D38: a page of another origin in a real browser cannot call a tool, and a page of the service can',
  { skip: NO_BROWSER },
  async (t) => {
    const browser = await startBrowser(t, ['evil.example'])
    const evil = await startServer(t, servePages)
    const sheet = await openTestSheet(t, { records: [{ id: 'a', title: CANARY }] })
    const scope = {
      actor: 'agent',
      mode: 'write',
      allowDefinition: false,
      maxCalls: null,
      maxCost: null,
    } as const
    const agents = new McpEndpoint(sheet, { scope, version: '1', log: () => assert.fail() })
    const app = createApp(sheet, { agents })
    onEnd(t, () => app.close())
    app.get('/page', (_request, reply) =>
      reply
        .header('content-security-policy', "default-src 'self'")
        .type('text/html')
        .send('<!doctype html><body></body>'),
    )
    const port = await listen(app)
    const log = new RequestLog(app.server)
    const context = await browser.newContext()
    onEnd(t, () => context.close())

    const attack = async (page: string, name: string): Promise<string> => {
      const opened = await context.newPage()
      await opened.goto(page)
      const code = ATTACKS[name] ?? assert.fail(name)
      const learnt = await opened.evaluate(
        `(async () => { const M = ${JSON.stringify(`http://127.0.0.1:${port}/mcp`)}; const HEADERS = ${JSON.stringify(HEADERS)}; const CALL = ${JSON.stringify(JSON.stringify(CALL))}; try { return String(await ${code}) } catch (error) { return String(error) } })()`,
      )
      await opened.close()
      return String(learnt)
    }
    const ids = async (): Promise<unknown> =>
      (await app.inject('/api/records?fields=id')).json<{ records: unknown }>().records

    for (const page of [
      `http://127.0.0.1:${evil.port}/`,
      `http://evil.example:${evil.port}/`,
      `http://127.0.0.1:${evil.port}/sandboxed`,
    ]) {
      for (const name of Object.keys(ATTACKS)) {
        const known = log.seen.length
        const learnt = await attack(page, name)
        await log.answered(known + 1, () => true)
        assert.doesNotMatch(learnt, new RegExp(`${CANARY}|inserted|^open$`), `${page}: ${name}`)
      }
    }
    assert.ok(log.seen.length >= 3 * Object.keys(ATTACKS).length)
    assert.deepEqual(
      log.seen.filter(({ status }) => status !== 403),
      [],
    )
    assert.deepEqual(await ids(), [{ id: 'a' }])

    // The control: the same call gets through where it may.
    assert.match(await attack(`http://127.0.0.1:${port}/page`, 'a call'), /1 inserted/)
    assert.deepEqual(await ids(), [{ id: 'a' }, { id: 'planted' }])
  },
)
