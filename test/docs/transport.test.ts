import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_HOST_POLICY, type HostPolicies } from '../../src/derivation/definition/host-policies.ts'
import { HOST_SETTINGS } from '../../src/derivation/definition/host-settings.ts'
import { toNetworkFault, NetworkFault } from '../../src/derivation/transport/call/network-fault.ts'
import { parseTransportFile } from '../../src/derivation/definition/parse-transport-file.ts'
import { code, codeBlocks, codes, readPage, section, tableOf } from '../support/markdown.ts'

const page = readPage('docs/reference/transport.md')

function parse(text: string): HostPolicies {
  return parseTransportFile(Buffer.from(text))
}

const { rows } = tableOf(section(page, 'Keys'), 'Key')

test('the transport reference lists exactly the keys of transport.yaml and their values', () => {
  assert.deepEqual(
    rows.map(([key, , allowed]) => [code(key), allowed]),
    HOST_SETTINGS.map(({ key, allowed }) => [key, allowed]),
  )
  assert.throws(() => parse('no_such_key: 1'), /unknown key "no_such_key"; the file has hosts$/)
  assert.match(section(page, 'Keys'), /^The only key of the file is `hosts`/m)
})

test('the defaults are those of the transport reference', () => {
  for (const [key, byDefault = ''] of rows) {
    if (byDefault === 'not set') {
      assert.equal(code(key), 'cost_per_call')
      assert.equal(DEFAULT_HOST_POLICY.costPerCall, null)
      continue
    }
    if (byDefault === 'no limit') {
      assert.equal(code(key), 'rate_limit')
      assert.equal(DEFAULT_HOST_POLICY.rateLimit, null)
      continue
    }
    const policies = parse(`hosts: {h: {${code(key)}: ${code(byDefault)}}}`)
    assert.deepEqual(policies.forUrl('https://h/'), DEFAULT_HOST_POLICY, key)
  }
})

test('the example of the transport reference is parsed as described', () => {
  const policies = parse(codeBlocks(section(page, 'The file'))[0]?.text ?? '')
  assert.deepEqual(policies.forUrl('https://api.example/v1'), {
    concurrency: 4,
    rateLimit: { calls: 600, perMs: 60_000 },
    retries: 5,
    timeoutMs: 120_000,
    costPerCall: 0.002,
  })
  assert.deepEqual(policies.forUrl('http://localhost:8080/'), {
    ...DEFAULT_HOST_POLICY,
    concurrency: 32,
    retries: 2,
  })
})

test('the network errors that are tried again are those of the transport reference', () => {
  const row = tableOf(section(page, 'Retries'), 'Outcome of an attempt').rows.find(([what]) =>
    what?.includes('network'),
  )
  const documented = new Set(codes(row?.[0] ?? ''))
  const system = 'ECONNREFUSED ECONNRESET EPIPE EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN ETIMEDOUT EACCES'
  const client =
    'UND_ERR_SOCKET UND_ERR_HEADERS_OVERFLOW UND_ERR_CONNECT_TIMEOUT UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  const transient = new Set<string>()
  for (const name of `${system} ${client} CERT_HAS_EXPIRED`.split(' ')) {
    const fault = toNetworkFault(Object.assign(new Error('from outside'), { code: name }))
    assert.ok(fault instanceof NetworkFault)
    if (fault.transient) transient.add(fault.message)
  }
  assert.deepEqual(transient, documented)
})
