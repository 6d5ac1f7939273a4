import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { parseYamlFile } from '../../src/contract/yaml/yaml-file.ts'
import type { Derivation, InputValues } from '../../src/derivation/definition/derivation-kind.ts'
import { DEFAULT_HOST_POLICY } from '../../src/derivation/definition/host-policies.ts'
import { inputHash } from '../../src/derivation/hash/input-hash.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { CallGuard } from '../../src/derivation/transport/guard/call-guard.ts'
import { BODY_LIMIT, TOO_LARGE, toNetworkFault } from '../../src/derivation/transport/call/network-fault.ts'
import { MAX_REDIRECTS } from '../../src/derivation/transport/network/redirect.ts'
import { REFUSED_NETWORKS } from '../../src/derivation/transport/guard/refused-addresses.ts'
import { StubTransport } from '../../src/derivation/transport/network/stub-transport.ts'
import { HTTP_METHODS } from '../../src/derivation/transport/call/transport.ts'
import { UndiciTransport } from '../../src/derivation/transport/network/undici-transport.ts'
import { COMMON_KEYS } from '../../src/derivation/definition/common-keys.ts'
import { parseDerivation } from '../../src/derivation/parse-derivation.ts'
import { renderFailure, type Failure } from '../../src/errors/failure.ts'
import { ContractError } from '../../src/errors/service-error.ts'
import type { CellState } from '../../src/store/sheet-store.ts'
import { contractWith } from '../support/contract-with.ts'
import { startLocalApi } from '../support/local-api.ts'
import { code, codeBlocks, codes, readPage, section, tableOf } from '../support/markdown.ts'

const page = readPage('docs/reference/derivations.md')

const contract = contractWith(
  '{name: currency, logicalType: string}',
  '{name: amount, logicalType: number}',
  '{name: rate, logicalType: number}',
  '{name: rate_date, logicalType: date}',
  '{name: city, logicalType: string}',
  '{name: client, logicalType: string}',
  '{name: quote, logicalType: number}',
)

function parse(text: string): Derivation {
  const kinds = createKinds({ transport: new StubTransport({ responses: new Map() }), env: {} })
  return parseDerivation({ file: 'x.yaml', bytes: Buffer.from(text) }, contract, kinds)
}

/** The examples of derivation files. */
function examples(): readonly string[] {
  return codeBlocks(section(page, 'The file')).map(({ lang, text }) => {
    assert.equal(lang, 'yaml')
    return text
  })
}

test('the examples of the derivation reference are accepted', () => {
  const [one, several] = examples().map(parse)
  assert.deepEqual(one?.inputs, ['currency'])
  assert.deepEqual(several?.targets, ['rate', 'rate_date'])
  assert.deepEqual(
    several?.inputs,
    ['currency', 'amount', 'id'],
    'D20: fields in placeholders count as inputs',
  )
})

test('the derivation reference lists exactly the keys of a derivation file', () => {
  const { rows } = tableOf(section(page, 'Keys'), 'Key')
  const documented = rows.map(([key]) => code(key))
  const unknown = `${examples()[0]}no_such_key: 1\n`
  assert.throws(
    () => parse(unknown),
    (error: Error) => {
      const known = /kind http has ([a-z_, ]+)/.exec(error.message)?.[1]?.split(', ') ?? []
      assert.deepEqual(documented.toSorted(), [...COMMON_KEYS, ...known].toSorted())
      return true
    },
  )
})

test('keys of a derivation file are required as in the derivation reference', () => {
  const full = parseYamlFile(examples()[1] ?? '', 'x').value as JsonObject
  const withAll: JsonObject = { ...full, output: 'text' }
  parse(JSON.stringify(withAll))
  for (const [key, required] of tableOf(section(page, 'Keys'), 'Key').rows.map((row) => [
    code(row[0]),
    row[1],
  ])) {
    const without = JSON.stringify({ ...withAll, [key ?? '']: null })
    if (required === 'no') parse(without)
    else if (required === 'yes' || key === 'response_schema')
      assert.throws(() => parse(without), ContractError, key)
    else assert.equal(`${key}: ${required}`, 'response_path: one of')
  }
})

test('the methods of the derivation reference are those of the http kind', () => {
  const row = tableOf(section(page, 'Keys'), 'Key').rows.find(([key]) => key === '`method`')
  assert.deepEqual(codes(row?.[2] ?? ''), [...HTTP_METHODS])
})

test('the headers that every call has are those of the derivation reference', async (t) => {
  const api = await startLocalApi(t)
  api.answer('*', { json: 1 })
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const request = {
    method: 'POST',
    url: `${api.url}/`,
    headers: {},
    body: '{}',
    secretHeaders: new Set<string>(),
  } as const
  await transport.send(request, { signal: new AbortController().signal, policy: DEFAULT_HOST_POLICY })
  const { host, connection, 'content-length': length, ...sent } = api.requests[0]?.headers ?? {}
  assert.ok(host && connection && length)
  const { rows } = tableOf(section(page, 'Headers'), 'Header')
  assert.deepEqual(Object.fromEntries(rows.map(([name, value]) => [code(name), code(value)])), sent)
})

test('the headers that the derivation reference gives to the service are refused in a file', () => {
  const sentence = /are set by the service alone: (.*?)\./s.exec(section(page, 'Headers'))
  const names = codes(sentence?.[1] ?? '')
  assert.equal(names.length, 12)
  for (const name of names) {
    const text = `${examples()[0]}headers: { ${name}: x }\n`
    assert.throws(() => parse(text), /is set by the service/, name)
  }
})

/** One failure of each reason, as the derivation reference shows it. */
const FAILURES: Readonly<Record<Failure['reason'], Failure>> = {
  status: failure({ reason: 'status', status: 503 }),
  timeout: failure({ reason: 'timeout', seconds: 30 }),
  network: failure({ reason: 'network', detail: 'connection refused' }),
  malformed_json: failure({ reason: 'malformed_json' }),
  missing_path: failure({ reason: 'missing_path', path: 'rates.usd' }),
  unusable_input: unusable(),
  refused: failure({ reason: 'refused', detail: '--allow-net does not list rates.example:443' }),
  computation: { reason: 'computation', request: 'shout ada', detail: 'nothing to shout' },
  refusal: answered({ reason: 'refusal', detail: 'the model refused to answer (finish reason "stop")' }),
  truncated: answered({
    reason: 'truncated',
    detail: 'the answer was cut off (finish reason "length"); raise max_output_tokens',
  }),
  empty_answer: answered({ reason: 'empty_answer', detail: 'the answer is empty' }),
  text_around_json: answered({
    reason: 'text_around_json',
    detail: 'the answer has text around its JSON object',
  }),
  unusable_answer: answered({
    reason: 'unusable_answer',
    detail: 'the answer is JSON, but not a JSON object with rate',
  }),
  no_step_accepted: steps({
    reason: 'no_step_accepted',
    detail: '1 http: no value ($0.01); 2 ai: accept is false ($0.002)',
    isLasting: true,
  }),
  step_not_made: steps({
    reason: 'step_not_made',
    detail: 'step 1 (http): --offline lets derivations call nobody',
  }),
  cost_per_record: steps({
    reason: 'cost_per_record',
    detail: '1 http: no value ($0.01); step 2 (ai) may cost $0.03, and $0.01 of max_cost_per_record is left',
  }),
  no_stub_response: failure({ reason: 'no_stub_response' }),
  not_recorded: failure({
    reason: 'not_recorded',
    detail:
      'not in the recording; the nearest request is that of record "A-7" in run 1: the URL differs at character 23: "EUR", recorded "USD"',
  }),
  contract: failure({ reason: 'contract', detail: 'field "rate": "high" is not a number' }),
  no_record: { reason: 'no_record', recordId: 'A-8' },
}

type WithoutRequest<F> = F extends Failure ? Omit<F, 'request'> : never

function failure(rest: WithoutRequest<Failure>): Failure {
  return { request: 'GET https://rates.example/EUR', ...rest } as Failure
}

function steps(rest: WithoutRequest<Failure>): Failure {
  return { request: 'first of http, ai', ...rest } as Failure
}

function answered(rest: WithoutRequest<Failure>): Failure {
  return { request: 'POST http://models.example/v1/chat/completions', ...rest } as Failure
}

function unusable(): Failure {
  const text =
    'targets: [rate]\ninputs: []\nkind: http\nurl: https://rates.example/{{ currency }}\nresponse_path: a\n'
  const planned = plan(parse(text), { currency: '..' })
  assert.ok(planned.outcome === 'failed')
  return planned.failure
}

function plan(derivation: Derivation, inputs: InputValues): ReturnType<Derivation['kind']['plan']> {
  return derivation.kind.plan(derivation.spec, inputs)
}

test('D26: the derivation reference shows exactly the failures, with their text and type', () => {
  const { rows } = tableOf(section(page, 'Failures'), 'Reason')
  const documented = rows.map(([reason, text, type]) => [
    code(reason),
    { error: code(text), errorType: code(type), reason: code(reason) },
  ])
  const rendered = Object.entries(FAILURES).map(([reason, sample]) => {
    const { detail: _detail, ...shown } = renderFailure(sample)
    return [reason, shown]
  })
  assert.deepEqual(Object.fromEntries(documented), Object.fromEntries(rendered))
})

test('the reasons for refusing a call are those of the derivation reference', () => {
  const documented = tableOf(section(page, 'Failures'), 'Why').rows.map(([text]) => code(text))
  const refusals = [
    new CallGuard(new Set(['api.example'])).refusal('<host>:1')?.replace(/1$/, '<port>'),
    new CallGuard(new Set()).refusal('api.example:443'),
    new CallGuard(null).refusal('169.254.169.254:80')?.replace('169.254.169.254', '<address>'),
  ]
  assert.deepEqual(documented, refusals)
})

test('the networks that are never called are those of the derivation reference', () => {
  const [list = ''] = /\*\*link-local and cloud metadata addresses\*\*[^]*?IPv6 address/.exec(page) ?? []
  const documented = codes(list).map((text) => {
    const length = text.includes(':') ? 128 : 32
    return text.includes('/') ? text : `${text}/${length}`
  })
  assert.deepEqual(documented.toSorted(), REFUSED_NETWORKS.toSorted())
})

test('network errors of the system and the client have the texts of the derivation reference', () => {
  const documented = tableOf(section(page, 'Failures'), 'Text').rows.map(([text]) => code(text))
  const system = 'ECONNREFUSED ECONNRESET EPIPE EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN ETIMEDOUT EACCES'
  const client = 'UND_ERR_SOCKET UND_ERR_HEADERS_OVERFLOW UND_ERR_CLOSED UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  for (const name of [...`${system} ${client} ERR_TLS_CERT_ALTNAME_INVALID`.split(' '), '']) {
    const text = toNetworkFault(Object.assign(new Error('from outside'), { code: name })).message
    const shown = name === '' ? text : text.replace(`(${name})`, '(<code>)')
    assert.ok(documented.includes(shown), `${name}: ${text}`)
  }
})

/** The sources of the http kind and the transport: its other faults are made in many places, and nothing lists them. */
function httpSources(): string {
  const files = ['kinds/http', 'transport'].flatMap((room) => {
    const folder = join(import.meta.dirname, '../../src/derivation', room)
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  })
  return files
    .filter((name) => name.endsWith('.ts') && !name.includes('.test.'))
    .map((name) => readFileSync(name, 'utf8'))
    .join('\n')
}

test('the derivation reference has exactly the texts of network errors', () => {
  const documented = tableOf(section(page, 'Failures'), 'Text').rows.map(([text]) => code(text))
  const sources = httpSources()
  const thrown = [...sources.matchAll(/new NetworkFault\('([^']+)'\)/g)].map(([, text = '']) => text)
  // Said to the client when a call is broken off that has its outcome already, or whose moment has gone by.
  const shown = thrown.filter((text) => text !== 'broken off' && text !== 'held back')
  assert.ok(shown.length >= 6)
  for (const text of [...shown, TOO_LARGE]) assert.ok(documented.includes(text), text)
  for (const text of documented.filter((known) => known !== TOO_LARGE)) {
    const written = text.replace('<code>', '${code}').replace('<path>', '${path.text}')
    assert.ok(sources.includes(`'${written}'`) || sources.includes(`\`${written}\``), text)
  }
})

test('limits are those of the derivation reference', () => {
  const limits = new Map(
    tableOf(section(page, 'The call'), 'Limit').rows.map(([what, value]) => [what, value]),
  )
  assert.equal(limits.get('redirects'), String(MAX_REDIRECTS))
  assert.match(limits.get('size of the body') ?? '', new RegExp(`^${BODY_LIMIT / 1024 / 1024} MiB`))
})

test('D32: the states of a cell are those of the derivation reference', () => {
  const states: Readonly<Record<CellState, true>> = {
    overridden: true,
    failed: true,
    missing: true,
    stale: true,
    fresh: true,
  }
  const documented = tableOf(section(page, 'States of a cell'), 'State').rows.map(([state]) => code(state))
  assert.deepEqual(documented, Object.keys(states))
})

/** The worked example: its file, record, canonical JSON, and the two hashes that it names. */
function workedExample(): {
  file: string
  record: JsonObject
  canonical: string
  fileHash: string
  hash: string
} {
  const text = section(page, 'A worked example')
  const [file, record, canonical] = codeBlocks(text)
  assert.deepEqual([file?.lang, record?.lang, canonical?.lang], ['yaml', 'json', 'text'])
  return {
    file: file?.text ?? '',
    record: JSON.parse(record?.text ?? '') as JsonObject,
    canonical: (canonical?.text ?? '').trimEnd(),
    fileHash: /`([0-9a-f]{64})`/.exec(text)?.[1] ?? '',
    hash: /`(sha256:[0-9a-f]{64})`/.exec(text)?.[1] ?? '',
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

test('D24: the worked example of the input hash can be recomputed from its description', () => {
  const { file, record, canonical, fileHash, hash } = workedExample()
  assert.equal(sha256(file), fileHash)
  assert.equal(`sha256:${sha256(canonical)}`, hash)
  // All its keys are ASCII and its numbers plain, so sorting keys is all there is to the canonical form.
  const parts = JSON.parse(canonical) as JsonObject
  assert.equal(canonical, JSON.stringify(sortedKeys(parts)))
  assert.equal(parts['derivation'], fileHash)
  assert.deepEqual(parts['inputs'], {
    amount: record['amount'],
    city: record['city'],
    client: record['client'],
  })
  assert.equal(parts['url'], `https://quotes.example/${encodeURIComponent(String(record['city']))}`)
  assert.deepEqual(parts['body'], {
    amount: record['amount'],
    text: `${record['amount'] as number} for null`,
  })
})

function sortedKeys(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sortedKeys(item)]))
}

test('D24: the service computes the hash of the worked example', () => {
  const { file, record, fileHash, hash } = workedExample()
  const derivation = parse(file)
  assert.equal(derivation.sha256, fileHash)
  const inputs = Object.fromEntries(derivation.inputs.map((name) => [name, record[name] ?? null]))
  const planned = plan(derivation, inputs)
  assert.ok(planned.outcome === 'run')
  assert.equal(inputHash({ derivationSha256: derivation.sha256, inputs, hashed: planned.plan.hashed }), hash)
})
