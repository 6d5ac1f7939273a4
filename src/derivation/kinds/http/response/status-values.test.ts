import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { contractWith } from '../../../../../test/support/contract-with.ts'
import type { JsonObject } from '../../../../contract/json/json.ts'
import { ContractError } from '../../../../errors/service-error.ts'
import type { Failure } from '../../../../errors/failure.ts'
import type { Result } from '../../../../errors/result.ts'
import type { Computed, Derivation } from '../../../definition/derivation-kind.ts'
import { hostPolicies } from '../../../definition/host-policies.ts'
import { Limiter } from '../../../limiter/limiter.ts'
import { createKinds } from '../../../kinds.ts'
import { parseDerivation } from '../../../parse-derivation.ts'
import { startHttp } from '../../../transport/testing/local-server.ts'
import { parseStub, StubTransport } from '../../../transport/network/stub-transport.ts'
import type { Transport } from '../../../transport/call/transport.ts'
import { UndiciTransport } from '../../../transport/network/undici-transport.ts'

const CONTRACT = contractWith(
  '{name: label, logicalType: string, logicalTypeOptions: {maxLength: 9}}',
  '{name: count, logicalType: integer}',
  '{name: code, logicalType: string, unique: true}',
)
const SECRET = 'geheim-0123456789'

function parse(
  file: JsonObject,
  transport: Transport = new StubTransport({ responses: new Map() }),
): Derivation {
  const both = { targets: ['label', 'count'], response_schema: { label: 'label', count: 'count' } }
  const text = JSON.stringify({ inputs: [], kind: 'http', url: 'https://h/', ...both, ...file })
  const source = { file: 'x.yaml', bytes: Buffer.from(text) }
  return parseDerivation(source, CONTRACT, createKinds({ transport, env: { API_KEY: SECRET } }))
}

async function run({ kind, spec }: Derivation): Promise<Result<Computed, Failure>> {
  const planned = kind.plan(spec, {})
  assert.ok(planned.outcome === 'run')
  return kind.run(spec, planned.plan, {
    signal: new AbortController().signal,
    policies: hostPolicies(new Map([['*', { retries: 3 }]])),
    onSent: () => undefined,
    wanted: () => true,
    limiter: new Limiter(),
    stored: Promise.resolve(),
  })
}

/** Runs a derivation against a server that responds with a status, and counts the requests. */
async function against(
  t: TestContext,
  file: JsonObject,
  answer: { readonly status: number; readonly body?: string; readonly location?: string },
): Promise<{ result: Result<Computed, Failure>; requests: number; derivation: Derivation }> {
  let requests = 0
  const server = await startHttp((_incoming, response) => {
    requests += 1
    const { status, body = '', location } = answer
    response.writeHead(status, location === undefined ? {} : { location }).end(body)
  })
  const transport = new UndiciTransport()
  t.after(async () => {
    await transport.close()
    await server.close()
  })
  const headers = { 'X-Key': '{{ env.API_KEY }}' }
  const derivation = parse({ ...file, url: `${server.origin}/x`, headers }, transport)
  return { result: await run(derivation), requests, derivation }
}

test('on_status: the value of a listed status is set for all targets, whatever the body, at the first try', async (t) => {
  for (const answer of [
    { status: 404, body: '<h1>Not found</h1>' },
    { status: 204 },
    { status: 202, body: '{"label": "later", "count": 1}' },
    { status: 302, location: '/elsewhere' },
    { status: 429 },
    { status: 503, body: 'down' },
  ]) {
    const { status } = answer
    const { result, requests } = await against(t, { on_status: { [status]: null } }, answer)
    assert.ok(result.ok, String(status))
    assert.deepEqual(result.value.values, {
      label: { ok: true, value: null },
      count: { ok: true, value: null },
    })
    assert.equal(result.value.evidence['status'], status)
    assert.equal(requests, 1, `${status} is not tried again`)
  }
})

test('on_status: other statuses fail as without it', async (t) => {
  const { result } = await against(t, { on_status: { 404: null } }, { status: 410 })
  assert.ok(!result.ok && result.error.reason === 'status' && result.error.status === 410)
})

test('on_status: the response is kept with its status and 2 KB of an error, unless it repeats a secret', async (t) => {
  const file = { on_status: { 404: null, 202: null } }
  const kept = async (status: number, body: string): Promise<unknown> => {
    const { result } = await against(t, file, { status, body })
    assert.ok(result.ok)
    return result.value.response && [result.value.response.status, result.value.response.body]
  }
  assert.deepEqual(await kept(404, 'gone'), [404, 'gone'])
  assert.deepEqual(await kept(404, 'x'.repeat(5000)), [404, `${'x'.repeat(2048)}…`])
  assert.deepEqual(await kept(202, `{"label": "${'x'.repeat(5000)}"}`), [
    202,
    `{"label": "${'x'.repeat(5000)}"}`,
  ])
  assert.equal(await kept(404, `no ${SECRET} here`), undefined)
})

test('on_status: a kept response is evaluated with the present on_status of the file', () => {
  const response = { request: 'r', status: 404, durationMs: 3, body: 'gone', at: '' }
  const evaluate = (file: JsonObject): unknown => {
    const { kind, spec } = parse(file)
    const planned = kind.plan(spec, {})
    assert.ok(planned.outcome === 'run')
    return kind.responses?.evaluate(spec, planned.plan, response)
  }
  const value = { ok: true, value: null }
  assert.deepEqual(evaluate({ on_status: { 404: null } }), {
    ok: true,
    value: { values: { label: value, count: value }, evidence: { status: 404, duration_ms: 3 } },
  })
  assert.deepEqual(evaluate({}), {
    ok: false,
    error: { reason: 'status', request: 'GET https://h/', status: 404, responseBody: 'gone' },
  })
})

test('on_status: a request that failed for another derivation is a result, unless the failure may be temporary', () => {
  const { kind, spec } = parse({ on_status: { 404: null, 503: null } })
  const planned = kind.plan(spec, {})
  assert.ok(planned.outcome === 'run')
  const { plan } = planned
  const of = (status: number): boolean | undefined =>
    kind.responses?.evaluateFailure?.(spec, plan, { reason: 'status', request: '', status }).ok
  assert.deepEqual([of(404), of(410), of(503)], [true, false, false])
})

test('on_status: an invalid status, map or value of a target is a ContractError with its line', () => {
  for (const [given, message] of [
    ['{404: null, 200: null}', /:7: on_status has 200, whose responses have values/],
    ['{199: null}', /:7: on_status has "199"; a status is a whole number from 201 to 599$/],
    ['{4xx: null}', /:7: on_status has "4xx"; /],
    ['[404]', /:7: on_status is an array of 1 item; write a map of statuses/],
    ['{404: none}', /:7: on_status 404: field "count": "none" is not an integer/],
    ['{404: 1, 410: 1234567890}', /:7: on_status 410: field "label": .*9/],
  ] as const) {
    const text = `targets: [label, count]
inputs: []
kind: http
url: https://h/
response_schema: {label: label, count: count}

on_status: ${given}
`
    const kinds = createKinds({ transport: new StubTransport({ responses: new Map() }) })
    const source = { file: 'x.yaml', bytes: Buffer.from(text) }
    assert.throws(() => parseDerivation(source, CONTRACT, kinds), ContractError)
    assert.throws(() => parseDerivation(source, CONTRACT, kinds), { message })
  }
  const unique = { targets: ['code'], response_schema: null, response_path: 'code' }
  assert.throws(() => parse({ ...unique, on_status: { 404: 'none' } }), /field "code": is unique, and "none"/)
  parse({ ...unique, on_status: { 404: null } })
})

test('on_status: a number for a text field becomes its JSON text, as in a response', async () => {
  const transport = parseStub('{"statuses": {"GET https://h/": 404}}')
  const result = await run(parse({ on_status: { 404: 0 } }, transport))
  assert.ok(result.ok)
  assert.deepEqual(result.value.values['count'], { ok: true, value: 0 })
})

test('the stub responds with a status and no body if the file has one', async () => {
  const failed = async (status: number): Promise<unknown> => {
    const result = await run(parse({}, parseStub(`{"statuses": {"GET https://h/": ${status}}}`)))
    return result.ok ? result.value : result.error
  }
  const request = 'GET https://h/'
  assert.deepEqual(await failed(404), { reason: 'status', request, status: 404 })
  assert.deepEqual(await failed(204), { reason: 'malformed_json', request })
  for (const wrong of ['200', '"404"', '1000']) {
    assert.throws(
      () => parseStub(`{"statuses": {"GET https://h/": ${wrong}}}`),
      /a whole number from 201 to 599$/,
    )
  }
  assert.throws(() => parseStub('{"statuses": {"https://h/": 404}}'), /is not of the form/)
})
