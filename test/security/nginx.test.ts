import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { findNginx } from '../support/find-program.ts'
import { codeBlocks, readPage, section } from '../support/markdown.ts'
import { startNginx } from '../support/nginx.ts'
import { onEnd } from '../support/on-end.ts'
import { RATES, writeSheet } from '../support/sheet-fixture.ts'

/** The output of `openssl passwd -6`, as used in the guide, for this password. */
const HASHED =
  '$6$colophon$TE1x/pF55uMpSa32Phq9XwRI2kEBbiY0pXDyewtTL2P2jUOTRSVEYAckJ.08kbEK7juNZxjDaKBiFcEn15VRm/'

const { path: nginx, skip } = findNginx()
const guide = readPage('docs/guides/behind-a-proxy.md')

/** The one code block under a heading that has this in it. */
function block(title: string, part: string): string {
  const [found, second] = codeBlocks(section(guide, title)).filter(({ text }) => text.includes(part))
  assert.ok(found !== undefined && second === undefined, `one block with ${part}`)
  return found.text
}

/** The text with each of these replaced, which it must have exactly once. */
function replaced(text: string, pairs: Readonly<Record<string, string>>): string {
  let result = text
  for (const [from, to] of Object.entries(pairs)) {
    assert.equal(result.split(from).length, 2, `the guide has one ${from}`)
    result = result.replace(from, () => to)
  }
  return result
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly payload?: unknown
}

const TOKEN = 'a'.repeat(43)
const CSRF = { cookie: `svc_csrf=${TOKEN}`, 'x-csrf-token': TOKEN }
const ANN = { authorization: basic('ann', 'secret of ann') }
const ANN_WRITES = { ...ANN, ...CSRF, 'content-type': 'application/json' }

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** Colophon and nginx as the guide starts them; TLS apart, which would need a certificate. */
class Proxied {
  readonly #socket: string
  readonly colophon: number

  private constructor(socket: string, colophon: number) {
    this.#socket = socket
    this.colophon = colophon
  }

  static async start(t: TestContext): Promise<Proxied> {
    const sheet = await writeSheet(t)
    const stub = join(sheet, 'stub.json')
    await writeFile(stub, RATES)
    const [name, ...args] = block('Start Colophon', 'serve').trim().split(' ')
    assert.equal(name, 'colophon')
    assert.equal(args[1], 'my-sheet')
    const more = ['--port', '0', '--stub', stub, '--actor', 'agent:default']
    const colophon = await new ColophonProcess(t, [...args.with(1, sheet), ...more]).port()
    assert.match(block('Users', 'htpasswd'), /\$\(openssl passwd -6\)/)
    const { socket } = await startNginx(t, nginx, {
      passwords: `ann:${HASHED}\nzoë:{PLAIN}secret of zoë\n`,
      site: (paths) =>
        replaced(block('nginx', 'server_name'), {
          'listen 443 ssl;': `listen unix:${paths.socket};`,
          'ssl_certificate /etc/ssl/certs/sheet.example.pem;': '',
          'ssl_certificate_key /etc/ssl/private/sheet.example.key;': '',
          'server 127.0.0.1:3000;': `server 127.0.0.1:${colophon};`,
          '/etc/nginx/colophon.htpasswd': paths.passwords,
        }),
    })
    return new Proxied(socket, colophon)
  }

  /** Asks through the proxy, as a client of `https://sheet.example`. */
  ask(path: string, asked: Asked = {}): Promise<Answer> {
    return whole(send({ socketPath: this.#socket }, path, asked))
  }

  /** Asks Colophon itself. */
  askAround(path: string, asked: Asked): Promise<Answer> {
    return whole(send({ host: '127.0.0.1', port: this.colophon }, path, asked))
  }

  /** Opens a stream through the proxy; the function waits until the text so far has this in it. */
  async stream(t: TestContext, path: string): Promise<(part: string) => Promise<string>> {
    const response = await send({ socketPath: this.#socket }, path, { headers: ANN })
    onEnd(t, () => response.destroy())
    assert.equal(response.statusCode, 200)
    const chunks = response.setEncoding('utf8')[Symbol.asyncIterator]() as AsyncIterator<string>
    let text = ''
    return async (part) => {
      while (!text.includes(part)) {
        const { value, done } = await chunks.next()
        assert.ok(done !== true, `the stream ended after ${text}`)
        text += value
      }
      return text
    }
  }

  async actorOf(id: string, field: string): Promise<unknown> {
    const { body } = await this.ask(`/api/provenance?record_id=${id}&field=${field}`, { headers: ANN })
    return (JSON.parse(body) as { actor: unknown } | null)?.actor
  }
}

type Where = { readonly socketPath: string } | { readonly host: string; readonly port: number }

function send(where: Where, path: string, { method, headers, payload }: Asked): Promise<IncomingMessage> {
  const body = payload === undefined ? undefined : JSON.stringify(payload)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    request({
      ...where,
      path,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { host: 'sheet.example', ...length, ...headers },
      agent: false,
    })
      .on('response', resolve)
      .on('error', reject)
      .end(body)
  })
}

async function whole(sent: Promise<IncomingMessage>): Promise<Answer> {
  const response = await sent
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { status: response.statusCode ?? 0, headers: response.headers, body: String(Buffer.concat(chunks)) }
}

const PRICE = { records: [{ id: 'a', price: 3 }] }

test(
  'the guide to reverse proxies: nginx as it has it, in front of Colophon as it starts it',
  { skip },
  async (t) => {
    const proxied = await Proxied.start(t)

    await t.test('without the right password every request is refused', async () => {
      const wrong = [
        {},
        { authorization: basic('ann', 'guess') },
        { authorization: basic('bo', 'secret of ann') },
      ]
      for (const headers of wrong) {
        for (const path of ['/', '/api/records', '/api/csrf', '/events', '/api/runs/1/events', '/nowhere']) {
          assert.equal((await proxied.ask(path, { headers })).status, 401, path)
        }
        const write = { headers: { ...CSRF, 'x-forwarded-user': 'ann', ...headers }, payload: PRICE }
        assert.equal((await proxied.ask('/api/records', write)).status, 401)
      }
    })

    await t.test('with it reads work, and the cookie of the CSRF token is for TLS only', async () => {
      const { status, headers, body } = await proxied.ask('/api/records', { headers: ANN })
      assert.equal(status, 200)
      assert.equal((JSON.parse(body) as { records: unknown[] }).records.length, 3)
      assert.match(
        String(headers['set-cookie']),
        /^svc_csrf=[A-Za-z0-9_-]{43}; Path=\/; SameSite=Strict; Secure$/i,
      )
    })

    await t.test('a write needs the CSRF token, and is then from the user', async () => {
      const { authorization } = ANN
      const type = { 'content-type': 'application/json' }
      const without = await proxied.ask('/api/records', {
        headers: { authorization, ...type },
        payload: PRICE,
      })
      assert.equal(without.status, 403)
      assert.match(without.body, /CSRF/)
      const written = await proxied.ask('/api/records', { headers: ANN_WRITES, payload: PRICE })
      assert.equal(written.status, 200, written.body)
      assert.equal(await proxied.actorOf('a', 'price'), 'ann')
    })

    await t.test('a user whose name is not ASCII is that user', async () => {
      const headers = { ...ANN_WRITES, authorization: basic('zoë', 'secret of zoë') }
      assert.equal(
        (await proxied.ask('/api/records', { headers, payload: { records: [{ id: 'z', title: 'Z' }] } }))
          .status,
        200,
      )
      assert.equal(await proxied.actorOf('z', 'title'), 'zoë')
    })

    await t.test('no request can name another user', async () => {
      const spoofs: readonly Readonly<Record<string, string | string[]>>[] = [
        { 'X-Forwarded-User': 'agent:owner' },
        { 'x-forwarded-USER': ['agent:owner', 'agent:owner'] },
        { 'X-Forwarded-User': '', X_Forwarded_User: 'agent:owner' },
        { 'X-Svc-Actor': 'agent:owner' },
        // A proxy that honours this takes out the very header that it sets.
        { Connection: 'close, X-Forwarded-User' },
      ]
      let price = 10
      for (const spoof of spoofs) {
        price += 1
        const headers = { ...ANN_WRITES, ...spoof }
        const payload = { records: [{ id: 'a', price }], actor: 'agent:owner' }
        const { status, body } = await proxied.ask('/api/records', { headers, payload })
        assert.equal(status, 200, body)
        const now = await proxied.ask('/api/provenance?record_id=a&field=price', { headers: ANN })
        const { value, actor } = JSON.parse(now.body) as { value: number; actor: string }
        assert.deepEqual([value, actor], [price, 'ann'], JSON.stringify(spoof))
        const note = { records: [{ id: 'a', owner_note: 'mine' }], actor: 'agent:owner' }
        const denied = await proxied.ask('/api/records', { headers, payload: note })
        assert.equal(denied.status, 403, denied.body)
      }
      const headers = { ...ANN_WRITES, 'x-svc-actor': 'agent:owner' }
      assert.equal((await proxied.ask('/api/records?ids=z', { method: 'DELETE', headers })).status, 200)
      assert.equal(await proxied.actorOf('z', 'title'), 'ann')
    })

    await t.test('a write that bypasses the proxy is refused', async () => {
      const payload = { ...PRICE, actor: 'agent:owner' }
      const headers = { ...CSRF, 'content-type': 'application/json', 'x-svc-actor': 'agent:owner' }
      const { status, body } = await proxied.askAround('/api/records', { headers, payload })
      assert.equal(status, 400)
      assert.match(body, /actor is required/)
    })

    await t.test('frames arrive as they are published, on both streams', async (own) => {
      const told = await proxied.stream(own, '/events')
      await told(': connected\n\n')
      const run = await proxied.ask('/api/materialize', {
        headers: ANN_WRITES,
        payload: { actor: 'agent:owner' },
      })
      assert.equal(run.status, 200, run.body)
      const text = await told('event: materialize.end')
      assert.match(text, /event: materialize.start\ndata: \{.*"actor":"ann"/)
      const ended = await proxied.stream(own, '/api/runs/1/events')
      await ended('event: run.end')
    })

    await t.test('a body of 20 MiB passes, and one beyond the limit does not', async () => {
      const records = Array.from({ length: 20 }, (_, index) => ({
        id: `big${index}`,
        title: 'x'.repeat(1024 * 1024),
      }))
      const big = await proxied.ask('/api/records', { headers: ANN_WRITES, payload: { records } })
      assert.equal(big.status, 200, big.body)
      const ids = records.map(({ id }) => id).join(',')
      await proxied.ask(`/api/records?ids=${ids}`, { method: 'DELETE', headers: ANN_WRITES })
      const payload = { records: [{ id: 'b', title: 'x'.repeat(33 * 1024 * 1024) }] }
      const refused = await proxied
        .ask('/api/records', { headers: ANN_WRITES, payload })
        .catch(() => ({ status: 413 }))
      assert.equal(refused.status, 413)
    })

    await t.test('an address of 60 KB passes; beyond 64 KiB Colophon refuses it', async () => {
      const ids = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(5, 'x')).join(',')
      assert.ok(ids.length > 59_000 && ids.length < 60_000)
      const long = await proxied.ask(`/api/records?ids=${ids}`, { method: 'DELETE', headers: ANN_WRITES })
      assert.equal(long.status, 200, long.body)
      const longer = await proxied.ask(`/api/records?filter=${'x'.repeat(66_000)}`, { headers: ANN })
      assert.equal(longer.status, 414)
      assert.match(longer.body, /"ValidationError"/)
    })

    await t.test('ids with encoded characters arrive as sent', async () => {
      const id = 'a/b%2F..#?'
      await proxied.ask('/api/records', { headers: ANN_WRITES, payload: { records: [{ id, title: 'odd' }] } })
      const { status, body } = await proxied.ask(`/api/records/${encodeURIComponent(id)}`, { headers: ANN })
      assert.equal(status, 200)
      assert.equal((JSON.parse(body) as { id: string }).id, id)
    })

    await t.test('D38: host and origin are checked as they are without a proxy', async () => {
      const own = { ...ANN, origin: 'https://sheet.example', 'sec-fetch-site': 'same-origin' }
      assert.equal((await proxied.ask('/api/records', { headers: own })).status, 200)
      const port = { ...ANN, host: 'sheet.example:8443', origin: 'https://sheet.example:8443' }
      assert.equal((await proxied.ask('/api/records', { headers: port })).status, 200)
      const refused = [
        { origin: 'https://evil.example' },
        { origin: 'https://sheet.example:8443' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { host: 'evil.example' },
        { host: 'evil.example', origin: 'https://evil.example' },
      ]
      for (const headers of refused) {
        for (const path of ['/api/records', '/events']) {
          const { status, body } = await proxied.ask(path, { headers: { ...ANN, ...headers } })
          assert.equal(status, 403, JSON.stringify(headers))
          assert.match(body, /"PermissionDeniedError"/)
        }
      }
    })
  },
)
