import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { JsonValue } from '../../../contract/json/json.ts'
import { renderFailure, responseBodyOf, type Failure } from '../../../errors/failure.ts'
import { OperationError } from '../../../errors/service-error.ts'
import type { Computed, Derivation, InputValues, Planned } from '../../definition/derivation-kind.ts'
import { DEFAULT_HOST_POLICIES, hostPolicies } from '../../definition/host-policies.ts'
import { Limiter } from '../../limiter/limiter.ts'
import type { HostPolicy } from '../../definition/host-policies.ts'
import { createKinds } from '../../kinds.ts'
import { parseDerivation } from '../../parse-derivation.ts'
import { testContract } from '../../testing/test-contract.ts'
import { testKind } from '../kind-suite.ts'
import type { HttpPlan } from './http-kind.ts'
import { httpKind } from './http-kind.ts'
import { startHttp } from '../../transport/testing/local-server.ts'
import { StubTransport } from '../../transport/network/stub-transport.ts'
import type { Transport, TransportRequest } from '../../transport/call/transport.ts'
import { UndiciTransport } from '../../transport/network/undici-transport.ts'

const contract = testContract({ city: 'string', land: 'string', pop: 'number', lat: 'number', lon: 'number' })
const CONTEXT = {
  signal: new AbortController().signal,
  policies: DEFAULT_HOST_POLICIES,
  onSent: () => undefined,
  wanted: () => Promise.resolve(true),
  limiter: new Limiter(),
  stored: Promise.resolve(),
}
const SECRET = 'geheim-0123456789'

testKind('http', async () => {
  const server = await startHttp((incoming, response) => {
    if (incoming.url?.startsWith('/fail')) response.writeHead(503).end()
    else response.end('{"at": {"lat": 46.9, "lon": null}}')
  })
  const transport = new UndiciTransport()
  return {
    kind: httpKind(transport, { API_KEY: SECRET }),
    contract,
    file: `targets: [lat, lon]
inputs: [pop]
kind: http
method: POST
url: ${server.origin}/{{ city }}
headers: { X-Api-Key: '{{ env.API_KEY }}' }
body_template: { people: '{{ pop }}' }
response_schema:
  lat: at.lat
  lon: at.lon
`,
    good: { inputs: { city: 'Bern', pop: 134_000 }, values: { lat: 46.9, lon: null } },
    failing: { city: 'fail', pop: 134_000 },
    blocked: { inputs: { city: null, pop: 1 }, field: 'city' },
    async close() {
      await transport.close()
      await server.close()
    },
  }
})

const noTransport = new StubTransport({ responses: new Map() })

const BASE = 'targets: [lat]\ninputs: []\nkind: http\n'

function parse(own: string, transport: Transport = noTransport, env: NodeJS.ProcessEnv = {}): Derivation {
  const bytes = Buffer.from(own.startsWith('targets') ? own : BASE + own)
  return parseDerivation({ file: 'x.yaml', bytes }, contract, createKinds({ transport, env }))
}

function planned(derivation: Derivation, inputs: InputValues): Planned<HttpPlan> {
  return derivation.kind.plan(derivation.spec, inputs) as Planned<HttpPlan>
}

function planOf(derivation: Derivation, inputs: InputValues): HttpPlan {
  const outcome = planned(derivation, inputs)
  assert.ok(outcome.outcome === 'run', JSON.stringify(outcome))
  return outcome.plan
}

/** Runs a derivation against a stub that always responds with `answer`, and returns what was sent. */
async function runAgainst(
  own: string,
  answer: JsonValue,
  { inputs = {}, env = {} }: { inputs?: InputValues; env?: NodeJS.ProcessEnv } = {},
): Promise<{ sent: TransportRequest; computed: Computed }> {
  const requests: TransportRequest[] = []
  const fallback = (request: TransportRequest): JsonValue => {
    requests.push(request)
    return answer
  }
  const derivation = parse(own, new StubTransport({ responses: new Map(), fallback }), env)
  const { kind, spec } = derivation
  kind.prepare(spec)
  const outcome = await kind.run(spec, planOf(derivation, inputs), CONTEXT)
  const [sent] = requests
  assert.ok(outcome.ok && sent)
  return { sent, computed: outcome.value }
}

test('H1: method is GET by default, and url is the only required key besides a path', () => {
  const plan = planOf(parse('url: https://h/{{ city }}\nresponse_path: v\n'), { city: 'Zürich' })
  assert.equal(plan.request, 'GET https://h/Z%C3%BCrich')
  assert.deepEqual(plan.hashed, { url: 'https://h/Z%C3%BCrich', body: null })
  assert.deepEqual(plan.evidence, { method: 'GET', url: 'https://h/Z%C3%BCrich' })
})

test('H2, D21: header values are percent-encoded, so that no value can end its header', async () => {
  const own = 'url: https://h/\nheaders:\n  X-City: city={{ city }}; pop={{ pop }}\nresponse_path: v\n'
  const { sent } = await runAgainst(own, { v: 1 }, { inputs: { city: 'a b\r\nX-Evil: 1', pop: 5 } })
  assert.deepEqual(sent.headers, { 'X-City': 'city=a%20b%0D%0AX-Evil%3A%201; pop=5' })
  assert.equal(sent.secretHeaders.size, 0)
})

test('the body of a request is made once', async (t) => {
  const own = 'method: POST\nurl: https://h/\nbody_template: {q: "{{ city }}"}\nresponse_path: v\n'
  const made = t.mock.method(JSON, 'stringify')
  const { sent } = await runAgainst(own, { v: 1 }, { inputs: { city: 'x' } })
  assert.equal(sent.body, '{"q":"x"}')
  assert.equal(made.mock.calls.filter(({ result }) => result === sent.body).length, 1)
})

test('D22: a null in the URL or a header blocks, a null in the body does not', () => {
  const own = (rest: string): Derivation => parse(`method: POST\n${rest}response_path: v\n`)
  const url = own('url: https://h/{{ city }}\n')
  const header = own('url: https://h/\nheaders: {X: "{{ city }}"}\n')
  const body = own('url: https://h/\nbody_template: {c: "{{ city }}"}\n')
  assert.deepEqual(planned(url, {}), { outcome: 'blocked', field: 'city' })
  assert.deepEqual(planned(header, { city: null }), { outcome: 'blocked', field: 'city' })
  assert.deepEqual(planOf(body, { city: null }).hashed.body, { c: null })
})

test('D21: a value that makes a dot segment fails the cell with a failure that shows the request', () => {
  const outcome = planned(parse('url: https://h/u/{{ city }}/y\nresponse_path: v\n'), { city: '..' })
  assert.ok(outcome.outcome === 'failed')
  assert.deepEqual(renderFailure(outcome.failure), {
    error: 'GET https://h/u/../y -> a value makes the path segment "..", which would lead to another path',
    detail: 'a value makes the path segment "..", which would lead to another path',
    errorType: 'ServiceError',
    reason: 'unusable_input',
  })
})

/** Returns the failure of a call to which a real server responds with this status and body. */
async function failureOf(
  t: TestContext,
  { status, body, headers = {} }: { status: number; body: string | Buffer; headers?: OutgoingHttpHeaders },
): Promise<Failure> {
  const server = await startHttp((_incoming, response) => response.writeHead(status, headers).end(body))
  const transport = new UndiciTransport()
  t.after(async () => {
    await transport.close()
    await server.close()
  })
  const own = `url: ${server.origin}/x\nheaders: {X-Key: 'key={{ env.API_KEY }}'}\nresponse_path: v\n`
  const derivation = parse(own, transport, { API_KEY: SECRET })
  const outcome = await derivation.kind.run(derivation.spec, planOf(derivation, {}), CONTEXT)
  assert.ok(!outcome.ok)
  return outcome.error
}

function bodyOf(failure: Failure): string | undefined {
  assert.equal('received' in failure, false)
  return responseBodyOf(failure)
}

test('D26: the error of a bad status is unchanged, and the body of the response is kept besides', async (t) => {
  const failure = await failureOf(t, { status: 404, body: '{"error": "unknown company"}\n' })
  assert.match(renderFailure(failure).error, /-> 404$/)
  assert.equal(bodyOf(failure), '{"error": "unknown company"}')
})

test('a response that is not JSON is kept with the failure as well', async (t) => {
  const failure = await failureOf(t, { status: 200, body: '<h1>Log in</h1>' })
  assert.equal(failure.reason, 'malformed_json')
  assert.equal(bodyOf(failure), '<h1>Log in</h1>')
})

test('the body of an error response is cut after 2 KB, between characters, and is decompressed first', async (t) => {
  const body = gzipSync(`x${'ä'.repeat(200_000)}`)
  const kept = bodyOf(await failureOf(t, { status: 500, body, headers: { 'content-encoding': 'gzip' } }))
  assert.equal(kept, `x${'ä'.repeat(1023)}…`)
})

test('an error response without a readable body is a failure without a body', async (t) => {
  for (const [body, encoding] of [
    ['', 'identity'],
    [' \n', 'identity'],
    ['abc', 'br'],
    ['no gzip', 'gzip'],
  ] as const) {
    const failure = await failureOf(t, { status: 500, body, headers: { 'content-encoding': encoding } })
    assert.equal(bodyOf(failure), undefined, encoding)
  }
})

test('D23: the body of an error response that repeats a secret is withheld, also if the cut would hide the rest of the secret', async (t) => {
  for (const body of [
    `your key ${SECRET} is wrong`,
    `${'-'.repeat(2040)}${encodeURIComponent(SECRET)} is wrong`,
    Buffer.from(SECRET).toString('base64'),
  ]) {
    const kept = bodyOf(await failureOf(t, { status: 401, body }))
    assert.equal(kept, '[withheld: the response repeats a secret of the request]')
  }
})

test('the body of an error response has no control characters but tabs and line breaks', async (t) => {
  const failure = await failureOf(t, { status: 500, body: 'a\0b\x1b[31m\r\n\tc\x7f' })
  assert.equal(bodyOf(failure), 'a\u{fffd}b\u{fffd}[31m\r\n\tc\u{fffd}')
})

test('D21: with GET the body is ignored: it is not sent and not hashed, and its fields are no inputs', async () => {
  const own = 'url: https://h/\nbody_template: {c: "{{ city }}"}\nresponse_path: v\n'
  const derivation = parse(own)
  assert.deepEqual(derivation.inputs, [])
  assert.equal(planOf(derivation, {}).hashed.body, null)
  assert.equal((await runAgainst(own, { v: 1 })).sent.body, null)
})

test('D21: other methods send the body as JSON; without body_template they send none', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const own = `url: https://h/\nmethod: ${method}\nbody_template: '{"c": {{ city }}, "n": "n{{ pop }}"}'\nresponse_path: v\n`
    const { sent } = await runAgainst(own, { v: 1 }, { inputs: { city: 'a"b', pop: null } })
    assert.deepEqual([sent.method, sent.body], [method, '{"c":"a\\"b","n":"nnull"}'])
  }
  assert.equal(
    (await runAgainst('url: https://h/\nmethod: POST\nresponse_path: v\n', { v: 1 })).sent.body,
    null,
  )
})

test('D21: a body_template that is a lone null value is sent as null', async () => {
  const own = 'url: https://h/\nmethod: POST\nbody_template: "{{ city }}"\nresponse_path: v\n'
  assert.equal((await runAgainst(own, { v: 1 }, { inputs: { city: null } })).sent.body, 'null')
})

test('D26, H7: a missing path fails its target alone, and null at a path is a value', async () => {
  const own = `targets: [lat, lon, pop]
inputs: []
kind: http
url: https://h/
response_schema: { lat: a.0, lon: a.length, pop: b.constructor }
`
  const { computed } = await runAgainst(own, { a: [null], b: {} })
  const missing = (path: string): unknown => ({
    ok: false,
    error: { reason: 'missing_path', request: 'GET https://h/', path },
  })
  assert.deepEqual(computed.values, {
    lat: { ok: true, value: null },
    lon: missing('a.length'),
    pop: missing('b.constructor'),
  })
  assert.deepEqual(computed.evidence, { status: 200, duration_ms: 0 })
})

test('a call has the cost and the limits of the policies for its URL', async () => {
  const policies = hostPolicies(
    new Map([
      ['h', { costPerCall: 0.5, retries: 2 }],
      ['h:81', { costPerCall: 2 }],
    ]),
  )
  const made: HostPolicy[] = []
  const transport: Transport = {
    async send(_request, { policy }) {
      made.push(policy)
      return { ok: true, value: { status: 200, text: '', json: { v: 1 }, durationMs: 0 } }
    },
    refusal: () => null,
    close: () => Promise.resolve(),
  }
  const costs: (number | null)[] = []
  for (const url of ['https://h/', 'https://h:81/', 'https://other/']) {
    const derivation = parse(`url: ${url}\nresponse_path: v\n`, transport)
    const plan = planOf(derivation, {})
    costs.push(derivation.kind.estimate(plan, policies))
    await derivation.kind.run(derivation.spec, plan, { ...CONTEXT, policies })
  }
  assert.deepEqual(costs, [0.5, 2, null])
  assert.deepEqual(
    made.map(({ retries, costPerCall }) => [retries, costPerCall]),
    [
      [2, 0.5],
      [2, 2],
      [0, null],
    ],
  )
})

test('a derivation is refused for the host and port of its URL, whatever its scheme', () => {
  const asked: string[] = []
  const transport: Transport = {
    send: () => assert.fail(),
    refusal: (host) => {
      asked.push(host)
      return host.startsWith('h:') ? null : `not ${host}`
    },
    close: () => Promise.resolve(),
  }
  const refusals = ['HTTPS://H/', 'http://h:8080/', 'http://[::1]/', 'http://2852039166/'].map((url) => {
    return parse(`url: ${url}\nresponse_path: v\n`, transport).refusal
  })
  assert.deepEqual(refusals, [null, null, 'not [::1]:80', 'not 169.254.169.254:80'])
  assert.deepEqual(asked, ['h:443', 'h:8080', '[::1]:80', '169.254.169.254:80'])
})

const WITH_KEY =
  'url: https://h/\nheaders:\n  Authorization: Bearer {{ env.API_KEY }}\n  X: plain\nresponse_path: v\n'

test('D23: a variable is put into its header unchanged, and the header is marked as secret', async () => {
  const { sent } = await runAgainst(WITH_KEY, { v: 1 }, { env: { API_KEY: 'a b%/é' } })
  assert.deepEqual(sent.headers, { Authorization: 'Bearer a b%/é', X: 'plain' })
  assert.deepEqual([...sent.secretHeaders], ['authorization'])
})

test('D23: a variable that is missing or holds control characters is an OperationError without its value', () => {
  for (const [env, message] of [
    [{}, /derivations\/x\.yaml needs the environment variable API_KEY, which is not set/],
    [{ API_KEY: `${SECRET}\n` }, /derivations\/x\.yaml .* API_KEY, which holds a line break/],
    [{ API_KEY: `${SECRET}\u0085` }, /control character/],
    [{ API_KEY: `\t${SECRET}` }, /control character/],
  ] as const) {
    const { kind, spec } = parse(WITH_KEY, noTransport, env)
    assert.throws(
      () => kind.prepare(spec),
      (error: Error) => {
        assert.ok(error instanceof OperationError)
        assert.match(error.message, message)
        assert.ok(!error.message.includes(SECRET))
        return true
      },
    )
  }
})

test('D23: an inherited member of the environment counts as missing', () => {
  const { kind, spec } = parse(WITH_KEY.replace('API_KEY', 'constructor'))
  assert.throws(() => kind.prepare(spec), /constructor, which is not set/)
})

test('D23: a plan and its hashed members do not contain the variable', () => {
  const env = { API_KEY: SECRET }
  const plan = planOf(parse(WITH_KEY, noTransport, env), {})
  assert.ok(!JSON.stringify(plan).includes(SECRET))
  env.API_KEY = 'another value'
  assert.deepEqual(planOf(parse(WITH_KEY, noTransport, env), {}), plan)
})

test('D23: a response that repeats the secret at the path fails the cell and is not stored', async () => {
  for (const value of [SECRET, [`Bearer ${SECRET}`], { deep: [{ [SECRET]: 1 }] }]) {
    const { computed } = await runAgainst(WITH_KEY, { v: value }, { env: { API_KEY: SECRET } })
    assert.deepEqual(computed.values['lat'], {
      ok: false,
      error: {
        reason: 'network',
        request: 'GET https://h/',
        detail: 'the value at "v" repeats a secret of the request',
      },
    })
  }
  const elsewhere = await runAgainst(WITH_KEY, { v: 1, echo: SECRET }, { env: { API_KEY: SECRET } })
  assert.deepEqual(elsewhere.computed.values['lat'], { ok: true, value: 1 })
  const setting = await runAgainst(WITH_KEY, { v: 'item' }, { env: { API_KEY: 'it' } })
  assert.deepEqual(setting.computed.values['lat'], { ok: true, value: 'item' })
})

test('D23: several targets with one path are one search, and nested paths have a bound', async () => {
  const own = (paths: string): string =>
    `targets: [lat, lon, pop]\ninputs: []\nkind: http\nurl: https://h/\nheaders: {X: "{{ env.API_KEY }}"}\nresponse_schema: ${paths}\n`
  const options = { env: { API_KEY: SECRET } }
  const text = 'x'.repeat(6 * 1024 * 1024)
  const answer = { v: { w: text } }
  const same = await runAgainst(own('{lat: v.w, lon: v.w, pop: v.w}'), answer, options)
  for (const value of Object.values(same.computed.values)) assert.ok(value.ok)
  const within = await runAgainst(own('{lat: v.w, lon: v, pop: v.w}'), answer, options)
  assert.deepEqual(within.computed.values['lat'], { ok: true, value: text })
  assert.deepEqual(within.computed.values['pop'], { ok: true, value: text })
  assert.deepEqual(within.computed.values['lon'], {
    ok: false,
    error: {
      reason: 'network',
      request: 'GET https://h/',
      detail: 'the value at "v" is beyond what is searched for secrets',
    },
  })
})

test('D23: a changed variable is searched for with its value at the time of the call', async () => {
  const env = { API_KEY: SECRET }
  const answers: JsonValue[] = [{ v: 'geheim-new-0123' }, { v: 'geheim-new-0123' }]
  const transport = new StubTransport({ responses: new Map(), fallback: () => answers.pop() ?? null })
  const derivation = parse(WITH_KEY, transport, env)
  const ran = async (): Promise<boolean | undefined> => {
    const outcome = await derivation.kind.run(derivation.spec, planOf(derivation, {}), CONTEXT)
    return outcome.ok && outcome.value.values['lat']?.ok
  }
  assert.equal(await ran(), true)
  env.API_KEY = 'geheim-new-0123'
  assert.equal(await ran(), false)
})

test('D23: a secret that the host echoes in errors, redirects and broken bodies is in no failure', async (t) => {
  const server = await startHttp((incoming, response) => {
    const secret = String(incoming.headers['authorization'])
    const answer = JSON.stringify(incoming.headers)
    if (incoming.url === '/status') response.writeHead(500, secret).end(answer)
    else if (incoming.url === '/redirect')
      response.writeHead(302, { location: `bad://${secret}` }).end(answer)
    else if (incoming.url === '/malformed') response.end(`${answer}}`)
    else if (incoming.url === '/encoding') response.writeHead(200, { 'content-encoding': secret }).end(answer)
    else incoming.socket.end(`${secret}\r\n\r\n`)
  })
  t.after(() => server.close())
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const reasons: string[] = []
  for (const path of ['status', 'redirect', 'malformed', 'encoding', 'protocol']) {
    const own = WITH_KEY.replace('https://h/', `${server.origin}/${path}`)
    const derivation = parse(own, transport, { API_KEY: SECRET })
    const { kind, spec } = derivation
    const outcome = await kind.run(spec, planOf(derivation, {}), CONTEXT)
    assert.ok(!outcome.ok)
    assert.ok(!JSON.stringify([outcome.error, renderFailure(outcome.error)]).includes(SECRET))
    reasons.push(outcome.error.reason)
  }
  assert.deepEqual(reasons, ['status', 'network', 'malformed_json', 'network', 'network'])
})
