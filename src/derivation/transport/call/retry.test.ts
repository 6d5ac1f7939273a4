import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterMs, withIdempotencyKey } from './retry.ts'
import type { TransportRequest } from './transport.ts'

const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'

for (const [header, expected] of [
  ['0', 0],
  ['120', 120_000],
  ['1.5', 1500],
  ['Sun, 06 Nov 1994 08:49:39 GMT', 2000],
  ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
  ['Sun Nov  6 09:49:37 1994', 3_600_000],
  ['Sun, 06 Nov 1994 08:49:30 GMT', 0],
  ['Sun, 99 Nov 1994 08:49:30 GMT', null],
  ['86400', 86_400_000],
  ['86401', null],
  ['1764000000', null],
  ['Sun, 06 Nov 2094 08:49:37 GMT', null],
  ['5, 7', 7000],
  ['7,5', 7000],
  ['soon, 5', 5000],
  ['5, 1764000000', 5000],
  ['5, Sun, 06 Nov 1994 08:49:39 GMT', 5000],
  ['Sun, 06 Nov 1994 08:49:46 GMT, 5', 9000],
  ['Sunday, 06-Nov-94 08:49:39 GMT, Sun, 06 Nov 1994 08:49:41 GMT', 4000],
  ['soon', null],
  ['-5', null],
  ['', null],
  [undefined, null],
] as const) {
  test(`Retry-After: ${header} is ${expected} ms away by the clock of the host`, () => {
    assert.equal(retryAfterMs(header, DATE), expected)
  })
}

test('without a Date header, Retry-After is relative to the clock of this machine', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(DATE) })
  for (const date of [undefined, 'today']) {
    assert.equal(retryAfterMs('Sun, 06 Nov 1994 08:49:40 GMT', date), 3000)
  }
})

function request(method: TransportRequest['method'], headers: Record<string, string> = {}): TransportRequest {
  return { method, url: 'https://h/', headers, body: null, secretHeaders: new Set() }
}

test('POST and PATCH get an idempotency key, a quoted text that differs for each call', () => {
  const keys = (['POST', 'PATCH', 'POST'] as const).map((method) => {
    const { headers } = withIdempotencyKey(request(method, { A: 'b' }))
    assert.equal(headers['A'], 'b')
    return headers['Idempotency-Key'] ?? ''
  })
  for (const key of keys) assert.match(key, /^"[0-9a-f-]{36}"$/)
  assert.equal(new Set(keys).size, 3)
})

test('other methods, and calls that have one, get no idempotency key', () => {
  for (const same of [
    request('GET'),
    request('PUT'),
    request('DELETE'),
    request('POST', { 'idempotency-KEY': '7' }),
  ]) {
    assert.equal(withIdempotencyKey(same), same)
  }
})
