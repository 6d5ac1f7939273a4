import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../errors/service-error.ts'
import { DEFAULT_HOST_POLICY } from './host-policies.ts'
import type { HostPolicies, HostPolicy } from './host-policies.ts'
import { parseTransportFile } from './parse-transport-file.ts'

function parse(text: string): HostPolicies {
  return parseTransportFile(Buffer.from(text))
}

/** Returns the policy of `https://h/` if `*` has just this setting. */
function policyOf(setting: string): HostPolicy {
  return parse(`hosts:\n  '*': {${setting}}\n`).forUrl('https://h/')
}

for (const text of [
  '',
  '# nothing yet\n',
  'hosts:\n',
  'hosts: {}\n',
  '{}',
  "hosts: {'*': }\n",
  'hosts: {h: {retries: }}',
]) {
  test(`an empty file keeps the defaults: ${JSON.stringify(text)}`, () => {
    const policies = parse(text)
    assert.deepEqual(policies.forUrl('https://h/'), DEFAULT_HOST_POLICY)
    assert.equal(policies.maxConcurrency, DEFAULT_HOST_POLICY.concurrency)
  })
}

for (const [setting, expected] of [
  ['concurrency: 1', { concurrency: 1 }],
  ['concurrency: 256', { concurrency: 256 }],
  ['rate_limit: 10/s', { rateLimit: { calls: 10, perMs: 1000 } }],
  ['rate_limit: 600/min', { rateLimit: { calls: 600, perMs: 60_000 } }],
  ['rate_limit: 1000/h', { rateLimit: { calls: 1000, perMs: 3_600_000 } }],
  ['retries: 0', { retries: 0 }],
  ['retries: 10', { retries: 10 }],
  ['timeout: 0.25', { timeoutMs: 250 }],
  ['timeout: 600', { timeoutMs: 600_000 }],
  ['timeout: 500ms', { timeoutMs: 500 }],
  ['timeout: 30s', { timeoutMs: 30_000 }],
  ['timeout: 1.5min', { timeoutMs: 90_000 }],
  ['cost_per_call: 0', { costPerCall: 0 }],
  ['cost_per_call: 0.0004', { costPerCall: 0.0004 }],
] as const) {
  test(`${setting} is accepted`, () => {
    assert.deepEqual(policyOf(setting), { ...DEFAULT_HOST_POLICY, ...expected })
  })
}

for (const [setting, message] of [
  ['concurrency: 0', /concurrency is 0; write a whole number from 1 to 256$/],
  ['concurrency: 257', /concurrency is 257/],
  ['concurrency: 1.5', /concurrency is 1\.5/],
  ["concurrency: '8'", /concurrency is "8"/],
  ['rate_limit: 10', /rate_limit is 10; write calls per s, min or h, such as 10\/s/],
  ['rate_limit: 10/m', /rate_limit is "10\/m"/],
  ['rate_limit: 10/day', /rate_limit is "10\/day"/],
  ['rate_limit: 0/s', /rate_limit is "0\/s"/],
  ['rate_limit: 0.5/s', /rate_limit is "0\.5\/s"/],
  ['rate_limit: 1000001/s', /rate_limit is "1000001\/s"/],
  ['rate_limit: [10/s]', /rate_limit is an array of 1 item/],
  ['retries: 11', /retries is 11; write a whole number from 0 to 10$/],
  ['retries: -1', /retries is -1/],
  ['retries: true', /retries is true/],
  ['timeout: 0', /timeout is 0; write seconds, or a time such as 500ms, 30s or 2min; from 1ms to 10min$/],
  ['timeout: 601', /timeout is 601/],
  ['timeout: 11min', /timeout is "11min"/],
  ['timeout: 30 s', /timeout is "30 s"/],
  ["timeout: '30'", /timeout is "30"/],
  ['timeout: 1h', /timeout is "1h"/],
  ['timeout: [30s]', /timeout is an array/],
  ['cost_per_call: -0.01', /cost_per_call is -0\.01; write dollars, a number from 0 to 1000000$/],
  ['cost_per_call: 1000001', /cost_per_call is 1000001; write dollars, a number from 0 to 1000000$/],
  ['cost_per_call: $1', /cost_per_call is "\$1"/],
  ['cost_per_call: .inf', /Infinity/],
  ['retires: 3', /unknown key "retires"; a host has concurrency, rate_limit, .*; did you mean "retries"\?$/],
  ['ratelimit: 3/s', /unknown key "ratelimit"; .*; did you mean "rate_limit"\?$/],
] as const) {
  test(`${setting} is a ContractError with its line`, () => {
    const act = (): unknown => parse(`hosts:\n  h:\n    ${setting}\n`)
    assert.throws(act, ContractError)
    assert.throws(act, (error: Error) => {
      assert.match(error.message, /^transport\.yaml:3: /)
      assert.match(error.message, message)
      return true
    })
  })
}

for (const [text, message] of [
  ['[]', /^transport\.yaml:1: the file is an array of 0 items; write a map with the key hosts$/],
  ['host: {}', /^transport\.yaml:1: unknown key "host"; the file has hosts; did you mean "hosts"\?$/],
  ['hosts: [h]', /^transport\.yaml:1: hosts is an array of 1 item; write a map of host, host:port or \*/],
  ['hosts:\n  h: 3\n', /^transport\.yaml:2: hosts\.h is 3; write a map such as/],
  ['hosts:\n  h: {}\n  h: {}\n', /^transport\.yaml:3: the key h is there twice/],
  ['hosts:\n  h: {}\n  H: {}\n', /^transport\.yaml:3: the host h is there twice, here as "H"; keep one$/],
  ['hosts:\n  h:80: {}\n  h:080: {}\n', /^transport\.yaml:3: the host h:80 is there twice/],
  ['hosts:\n  *: {retries: 1}\n', /^transport\.yaml:2: the key \* needs quotes; write '\*':$/],
  ['hosts:\n  a: {}\n  *:\n    retries: 1\n', /^transport\.yaml:3: the key \* needs quotes/],
  [
    'hosts:\n  [::1]:8080: {}\n',
    /^transport\.yaml:2: the key \[::1\]:8080 needs quotes; write '\[::1\]:8080':$/,
  ],
  ['hosts: {', /^transport\.yaml:\d: /],
] as const) {
  test(`${JSON.stringify(text)} is a ContractError`, () => {
    assert.throws(() => parse(text), ContractError)
    assert.throws(() => parse(text), { message })
  })
}

test('a file that is not UTF-8 is a ContractError', () => {
  assert.throws(() => parseTransportFile(Buffer.from([0xff, 0xfe])), /^Error: transport\.yaml:1: .*UTF-8/)
})

for (const [key, message] of [
  ['https://h', /has a scheme, so it matches nothing; write only the host/],
  ['h/v1', /has a path/],
  ['h?x', /has a path/],
  ['me@h', /has a user name/],
  ['*.h', /is a pattern, so it matches nothing; \* alone stands for every host/],
  ['*:80', /is a pattern/],
  ['', /is no host/],
  ['a b', /is no host/],
  ['::1', /is no host; an IPv6 address goes in brackets/],
  ['2001:db8::1', /port "db8::1"; a port is 1 to 65535/],
  ['[::1', /is no host/],
  ['h:', /port ""/],
  ['h:0', /port "0"/],
  ['h:65536', /port "65536"/],
  ['h:https', /port "https"/],
] as const) {
  test(`the key ${JSON.stringify(key)} can never match and is refused`, () => {
    const act = (): unknown => parse(`hosts:\n  ${JSON.stringify(key)}: {}\n`)
    assert.throws(act, /^Error: transport\.yaml:2: /)
    assert.throws(act, message)
  })
}

const LAYERS = `
hosts:
  '*': { concurrency: 2, retries: 1, timeout: 5 }
  api.example: { retries: 2, cost_per_call: 0.5 }
  API.example:443: { retries: 3 }
  api.example:8080: { concurrency: 20 }
  '[::1]:81': { retries: 7 }
  münchen.example: { retries: 9 }
`

test('host:port overrides host, which overrides *; missing settings are inherited', () => {
  const policies = parse(LAYERS)
  const general = { ...DEFAULT_HOST_POLICY, concurrency: 2, retries: 1, timeoutMs: 5000 }
  const api = { ...general, retries: 2, costPerCall: 0.5 }
  for (const [url, expected] of [
    ['https://other.example/', general],
    ['https://x.api.example/', general],
    ['http://api.example/', api],
    ['http://api.example:80/', api],
    ['http://api.example:81/x', api],
    ['https://api.example/', { ...api, retries: 3 }],
    ['https://API.EXAMPLE:443/', { ...api, retries: 3 }],
    ['http://api.example:443/', { ...api, retries: 3 }],
    ['http://api.example:8080/', { ...api, concurrency: 20 }],
    ['http://[::1]:81/', { ...general, retries: 7 }],
    ['http://[0:0::1]:81/', { ...general, retries: 7 }],
    ['http://[::1]/', general],
    ['http://xn--mnchen-3ya.example/', { ...general, retries: 9 }],
  ] as const) {
    assert.deepEqual(policies.forUrl(url), expected, url)
    assert.equal(policies.forUrl(url), policies.forUrl(url), 'the same policy is the same object')
  }
})

test('the highest concurrency of any host includes the general one', () => {
  assert.equal(parse(LAYERS).maxConcurrency, 20)
  assert.equal(parse('hosts: {h: {concurrency: 2}}').maxConcurrency, DEFAULT_HOST_POLICY.concurrency)
  assert.equal(parse("hosts: {'*': {concurrency: 3}, h: {retries: 1}}").maxConcurrency, 3)
  assert.equal(
    parse("hosts: {'*': {concurrency: 3}, 'h:1': {concurrency: 4}, h: {concurrency: 9}}").maxConcurrency,
    9,
  )
})
