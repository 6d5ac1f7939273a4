import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { contractText } from '../support/contract-with.ts'
import { CSRF } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'
import {
  RawUpstream,
  say,
  sayAndLeave,
  whole,
  type RawAnswer,
  type RawRequest,
} from '../support/raw-upstream.ts'
import { formsFound, secretForms } from '../support/secret-forms.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

/** Secrets by the variables that hold them; the two short ones are one only together. */
const ENV = {
  CANARY_PLAIN: 'canary-Plain-7f3a9c',
  CANARY_SHORT: 'c4N4ry8!',
  CANARY_AWKWARD: `ca"na'ry\\n/<b>&amp;%41 +=é€😀`,
  CANARY_BASE64: 'Y2FuYXJ5+/7x/w==',
  CANARY_DIGITS: '90210447713',
  CANARY_USER: 'canary7',
  CANARY_WORD: 'yranac3',
} as const

/** The secrets, each with the header that carries it. */
const SECRETS: Readonly<Record<string, string>> = {
  authorization: ENV.CANARY_PLAIN,
  'x-short': ENV.CANARY_SHORT,
  'x-awkward': ENV.CANARY_AWKWARD,
  'x-base64': ENV.CANARY_BASE64,
  'x-digits': ENV.CANARY_DIGITS,
  'x-pair': `${ENV.CANARY_USER}:${ENV.CANARY_WORD}`,
}

const HEADERS = {
  Authorization: 'Bearer {{ env.CANARY_PLAIN }}',
  'X-Short': '{{ env.CANARY_SHORT }}',
  'X-Awkward': '{{ env.CANARY_AWKWARD }}',
  'X-Base64': 'Basic {{ env.CANARY_BASE64 }}',
  'X-Digits': '{{ env.CANARY_DIGITS }}',
  'X-Pair': '{{ env.CANARY_USER }}:{{ env.CANARY_WORD }}',
}

const REPEATS = 'the value at "value" repeats a secret of the request'

/** Ways in which a host returns the secrets that it received, and the error of the cell; null for a value. */
interface Echo {
  readonly answer: RawAnswer
  readonly comesTo: string | null
}

function json(value: unknown): Buffer {
  return whole(JSON.stringify({ value }))
}

/** The secret in a text, as a header's bytes. */
function bytesOf(secret: string): string {
  return Buffer.from(secret, 'utf8').toString('latin1')
}

/** Everything that arrived, in one line of text. */
function allSent({ headers }: RawRequest): string {
  return [...headers].map(([name, value]) => `${name}: ${value}`).join(' | ')
}

/** Echoes in a value that would be stored. */
function valueEchoes(): Record<string, Echo> {
  const echoes: Record<string, Echo> = {}
  for (const [header, secret] of Object.entries(SECRETS)) {
    for (const [form, text] of Object.entries(secretForms(secret))) {
      const name = `/${header}~${form.replaceAll(' ', '-')}`
      echoes[name] = { answer: say(json(`you sent ${text}, thanks`)), comesTo: REPEATS }
    }
    const half = Math.floor(secret.length / 2)
    for (const [form, value] of Object.entries({
      key: { [secret]: 1 },
      'nested-key': [{ a: { [`x-${secret}`]: null } }],
      'two-values': { a: secret.slice(0, half), b: secret.slice(half) },
      'two-items': [1, [secret.slice(0, half)], [[secret.slice(half)]]],
      characters: secret.split(''),
      'base64-in-base64-lines': Buffer.from(`user:${secret}:x`).toString('base64').replace(/.{7}/g, '$&\r\n'),
      'long-text': `${'x'.repeat(100_000)}${secret}${'y'.repeat(100_000)}`,
    })) {
      echoes[`/tree-${header}~${form}`] = { answer: say(json(value)), comesTo: REPEATS }
    }
  }
  echoes['/tree-number'] = { answer: say(json({ code: Number(ENV.CANARY_DIGITS) })), comesTo: REPEATS }
  echoes['/everything'] = {
    answer: (socket, request) => void socket.write(json(allSent(request))),
    comesTo: REPEATS,
  }
  return echoes
}

/** Echoes in every other part of an answer. `elsewhere` is another origin. */
function otherEchoes(elsewhere: string): Record<string, Echo> {
  const secret = ENV.CANARY_PLAIN
  const raw = bytesOf(ENV.CANARY_AWKWARD)
  const both = `${secret} ${raw}`
  const answer = (bytes: string): RawAnswer => say(bytes)
  const redirect = (location: string): RawAnswer =>
    answer(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\nx: ${both}\r\ncontent-length: 0\r\n\r\n`)
  const good = '{"value":"fine"}'
  return {
    '/error-body': { answer: say(whole(both, '', '401 Unauthorized')), comesTo: '401' },
    '/reason': { answer: say(whole('', '', `403 ${both}`)), comesTo: '403' },
    '/good-reason': { answer: say(whole(good, '', `200 ${both}`)), comesTo: null },
    '/header': { answer: say(whole(good, `x-echo: ${both}\r\nset-cookie: s=${secret}\r\n`)), comesTo: null },
    '/header-name': { answer: say(whole(good, `${secret}: 1\r\n`)), comesTo: null },
    '/trailer': {
      answer: answer(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10;x=${secret}\r\n${good}\r\n0\r\nx-echo: ${both}\r\n\r\n`,
      ),
      comesTo: null,
    },
    '/malformed': { answer: say(whole(`{"value": ${both}}`)), comesTo: 'malformed JSON' },
    '/encoding': {
      answer: say(whole(good, `content-encoding: ${secret}\r\n`)),
      comesTo: 'unknown content encoding',
    },
    '/content-type': { answer: say(whole(good, `content-type: ${secret}\r\n`)), comesTo: null },
    '/retry-after': { answer: say(whole(both, `retry-after: ${secret}\r\n`, '503 Wait')), comesTo: '503' },
    '/no-http': { answer: sayAndLeave(`${both}\r\n\r\n`), comesTo: 'invalid HTTP response' },
    '/bad-header': {
      answer: sayAndLeave(`HTTP/1.1 200 OK\r\n${both}\r\n\r\n`),
      comesTo: 'invalid HTTP response',
    },
    '/bad-length': {
      answer: say(`HTTP/1.1 200 OK\r\ncontent-length: ${secret}\r\n\r\n${good}`),
      comesTo: 'invalid HTTP response',
    },
    '/elsewhere-in-answer': {
      answer: say(whole(`{"value":"fine","you":${JSON.stringify(secret)}}`)),
      comesTo: null,
    },
    '/missing': {
      answer: say(whole(JSON.stringify({ [secret]: secret }))),
      comesTo: 'no "value" in the response',
    },
    '/to-path': { answer: redirect(`/good/${secret}`), comesTo: null },
    '/to-query': { answer: redirect(`/good?key=${encodeURIComponent(ENV.CANARY_AWKWARD)}`), comesTo: null },
    '/to-user': { answer: redirect(`http://${secret}:${secret}@${elsewhere}/good`), comesTo: null },
    '/to-other': {
      answer: redirect(`http://${elsewhere}/good/${secret}?key=${secret}#${secret}`),
      comesTo: null,
    },
    '/to-other-error': { answer: redirect(`http://${elsewhere}/none/${secret}`), comesTo: '404' },
    '/to-loop': { answer: redirect(`/to-loop?${secret}`), comesTo: 'too many redirects' },
    '/to-scheme': {
      answer: redirect(`${secret}:x`),
      comesTo: 'redirect to a scheme other than http and https',
    },
    '/to-nowhere': { answer: redirect(`http://[${secret}`), comesTo: 'redirect to an invalid address' },
    '/to-name': { answer: redirect(`http://${secret}.invalid:1/`), comesTo: 'host not found' },
  }
}

/** A server under test, and all that anybody could see of it. */
class Watched {
  /** By what it is. */
  readonly seen: { readonly what: string; readonly bytes: Buffer }[] = []
  readonly #process: ColophonProcess
  readonly #directory: string
  #url = ''

  private constructor(process: ColophonProcess, directory: string) {
    this.#process = process
    this.#directory = directory
  }

  static async start(t: TestContext, directory: string, args: readonly string[] = []): Promise<Watched> {
    const process = new ColophonProcess(t, ['serve', directory, '--port', '0', ...args], { env: ENV })
    const watched = new Watched(process, directory)
    watched.#url = `http://127.0.0.1:${await process.port()}`
    return watched
  }

  /** Asks for something, and keeps status line, headers and body of the answer. */
  async ask(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, init)
    const text = await response.text()
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    this.see(
      `${init.method ?? 'GET'} ${path}`,
      `${response.status} ${response.statusText}\n${headers}\n${text}`,
    )
    return text === '' ? null : (JSON.parse(text) as unknown)
  }

  write(path: string, body: object): Promise<unknown> {
    const headers = { ...CSRF, 'content-type': 'application/json' }
    return this.ask(path, { method: 'POST', headers, body: JSON.stringify({ actor: 'agent:test', ...body }) })
  }

  /** Listens to a stream of events; the answer is what has come, once asked for. */
  async listen(t: TestContext, path: string): Promise<() => void> {
    const client = await RawClient.open(t, Number(new URL(this.#url).port))
    client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await client.waitFor((text) => text.includes('\r\n\r\n'))
    return () => this.see(path, Buffer.from(client.received, 'latin1'))
  }

  see(what: string, bytes: Buffer | string): void {
    this.seen.push({ what, bytes: Buffer.from(bytes) })
  }

  /** Looks at the files of the sheet, and at what the system shows of the process and its children. */
  async lookAround(): Promise<void> {
    for (const entry of await readdir(this.#directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      this.see(path, await readFile(path))
    }
    const { pid } = this.#process
    this.see('cmdline', await readFile(`/proc/${pid}/cmdline`))
    this.see('comm', await readFile(`/proc/${pid}/comm`))
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')
    for (const child of children.filter((text) => text !== '')) {
      for (const file of ['cmdline', 'environ']) {
        this.see(`${file} of a child`, await readFile(`/proc/${child}/${file}`))
      }
    }
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM')
    const { code, stdout, stderr } = await this.#process.end()
    assert.equal(code, 0)
    this.see('standard output', stdout)
    this.see('standard error', stderr)
  }

  /** D23: nothing that was seen has a secret in any form. */
  check(): void {
    const found = this.seen.flatMap(({ what, bytes }) =>
      Object.entries(SECRETS).flatMap(([header, secret]) =>
        formsFound(bytes, secret).map((form) => `${what} has the secret of ${header}: ${form}`),
      ),
    )
    assert.deepEqual(found, [])
  }
}

async function writeSecretSheet(t: TestContext, paths: readonly string[], url: string): Promise<string> {
  const derivation = (target: string): string =>
    JSON.stringify({
      targets: [target],
      inputs: [],
      kind: 'http',
      url: `${url}/{{ ${target}_path }}`,
      headers: HEADERS,
      response_path: 'value',
    })
  return writeSheet(t, {
    contract: contractText([
      '{name: text_path, logicalType: string}',
      '{name: tree_path, logicalType: string}',
      '{name: text, logicalType: string}',
      '{name: tree, logicalType: object}',
    ]),
    records: paths.map((path) => ({
      id: path,
      [path.startsWith('/tree') ? 'tree_path' : 'text_path']: path.slice(1),
    })),
    derivations: { 'text.yaml': derivation('text'), 'tree.yaml': derivation('tree') },
  })
}

interface Run {
  readonly materialized: number
  readonly failures: readonly { record_id: string; field: string; error: string }[]
}

test('D23: secrets that a host echoes in any part of its response are nowhere visible', async (t) => {
  const upstream = await RawUpstream.start(t)
  const elsewhere = await RawUpstream.start(t)
  const arrived: RawRequest[] = []
  const strangers: RawRequest[] = []
  const echoes = { ...valueEchoes(), ...otherEchoes(elsewhere.host) }
  upstream.answer('*', (socket, request) => {
    arrived.push(request)
    const path = decodeURIComponent(request.path.replace(/\?.*/, ''))
    if (path.startsWith('/good')) socket.write(json('fine'))
    else echoes[path]?.answer(socket, request)
  })
  elsewhere.answer('*', (socket, request) => {
    strangers.push(request)
    socket.write(request.path.startsWith('/good') ? json('fine') : whole('', '', '404 None'))
  })
  const paths = [...Object.keys(echoes), '/good']
  const directory = await writeSecretSheet(t, paths, upstream.url)
  const watched = await Watched.start(t, directory, ['--log-level', 'debug'])

  const frames = await watched.listen(t, '/events')
  await watched.write('/api/materialize', { dry_run: true })
  const started = watched.write('/api/materialize', {})
  const [begun] = ((await watched.ask('/api/runs')) as { runs: { id: string }[] }).runs
  const runFrames = await watched.listen(t, `/api/runs/${begun?.id ?? ''}/events`)
  const run = (await started) as Run

  // Else the rest would prove nothing.
  for (const [header, secret] of Object.entries(SECRETS)) {
    assert.ok(
      arrived.every(({ headers }) => headers.get(header)?.includes(bytesOf(secret))),
      header,
    )
  }
  assert.ok(strangers.length >= 3)
  for (const { headers } of strangers) {
    for (const header of Object.keys(SECRETS)) assert.equal(headers.get(header), undefined)
  }

  const errors = new Map(
    run.failures.map(({ record_id: id, error }) => [id, error.replace(/^GET \S+ -> /, '')]),
  )
  for (const [path, { comesTo }] of Object.entries(echoes))
    assert.equal(errors.get(path) ?? null, comesTo, path)
  assert.equal(errors.get('/good'), undefined)

  for (const path of [
    '/api/contract',
    '/api/status',
    '/api/records?limit=10000',
    '/api/runs',
    '/api/csrf',
    '/none',
  ]) {
    await watched.ask(path)
  }
  await watched.ask(`/api/runs/${begun?.id ?? ''}`)
  await watched.ask(`/api/runs/${begun?.id ?? ''}/failures?limit=10000`)
  await watched.ask(`/api/records?limit=10000&as_of=${new Date().toISOString()}`)
  await watched.write('/api/query', { sql: 'SELECT * FROM records' })
  await watched.write('/api/materialize', { dry_run: true, force: true })
  for (const path of paths.filter((_, index) => index % 10 === 0 || index > paths.length - 30)) {
    const field = path.startsWith('/tree') ? 'tree' : 'text'
    const id = encodeURIComponent(path)
    await watched.ask(`/api/status/${field}/${id}`)
    await watched.ask(`/api/records/${id}`)
    await watched.ask(`/api/provenance?record_id=${id}&field=${field}&history=true`)
  }
  frames()
  runFrames()
  await watched.lookAround()
  await watched.stop()
  await watched.lookAround().catch(() => undefined)
  watched.check()
})

test('D23: no level of the log, and no error of the run or of the start, contains a secret', async (t) => {
  const upstream = await RawUpstream.start(t)
  const echo = `${ENV.CANARY_PLAIN} ${bytesOf(ENV.CANARY_AWKWARD)}`
  upstream.answer('/good', say(json('fine')))
  upstream.answer('/error', say(whole(echo, `x: ${echo}\r\n`, `500 ${echo}`)))
  upstream.answer('/broken', sayAndLeave(echo))
  upstream.answer('/echo', say(json(echo)))
  const directory = await writeSecretSheet(t, ['/good', '/error', '/broken', '/echo'], upstream.url)
  // Debug has the lines of all levels between.
  for (const level of ['debug', 'silent']) {
    const watched = await Watched.start(t, directory, ['--log-level', level])
    const { materialized, failures } = (await watched.write('/api/materialize', { force: true })) as Run
    assert.deepEqual([materialized, failures.length], [1, 3])
    await watched.ask('/api/status')
    await watched.stop()
    watched.check()
  }
  for (const env of [
    { ...ENV, CANARY_PLAIN: `${ENV.CANARY_PLAIN}\n` },
    { ...ENV, CANARY_PLAIN: `\u0085${ENV.CANARY_PLAIN}` },
  ]) {
    const server = new ColophonProcess(t, ['serve', directory, '--port', '0', '--log-level', 'debug'], {
      env,
    })
    const response = await fetch(`http://127.0.0.1:${await server.port()}/api/materialize`, {
      method: 'POST',
      headers: { ...CSRF, 'content-type': 'application/json' },
      body: '{"actor":"a","force":true}',
    })
    assert.equal(response.status, 400)
    const told = await response.text()
    assert.match(told, /OperationError.*CANARY_PLAIN.*control character/)
    server.kill('SIGTERM')
    const { stdout, stderr } = await server.end()
    assert.deepEqual(formsFound(told + stdout + stderr, ENV.CANARY_PLAIN), [])
  }
  const refused = await new ColophonProcess(t, ['serve', join(directory, 'none'), '--port', '0'], {
    env: ENV,
  }).end()
  assert.equal(refused.code, 1)
  for (const secret of Object.values(SECRETS))
    assert.deepEqual(formsFound(refused.stdout + refused.stderr, secret), [])
})
