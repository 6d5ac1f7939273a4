import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HttpPlan } from '../http-kind.ts'
import { shownHeaders } from '../../../transport/headers/fill-headers.ts'
import { keyOfSent, requestKey } from './request-key.ts'

const PLAN: HttpPlan = {
  request: 'POST https://a.example/x',
  hashed: { url: 'https://a.example/x', body: { a: 1 } },
  evidence: {},
  method: 'POST',
  headers: [
    { name: 'X-Lang', parts: ['de', '-', 'CH'] },
    { name: 'Authorization', parts: ['Bearer ', { env: 'KEY' }] },
  ],
}
const BODY = '{"a":1}'

test('equal requests have one key, whatever their templates and the order of their headers', () => {
  const other = {
    ...PLAN,
    request: 'anything',
    evidence: { url: 'anything' },
    headers: [
      { name: 'authorization', parts: ['Bearer ', { env: 'KEY' }] },
      { name: 'x-lang', parts: ['de-', 'CH'] },
    ],
  }
  assert.match(requestKey(PLAN, BODY), /^sha256:[0-9a-f]{64}$/)
  assert.equal(requestKey(other, BODY), requestKey(PLAN, BODY))
})

test('method, URL, headers, the names of secrets and the body distinguish requests', () => {
  const others: readonly (readonly [HttpPlan, string | null])[] = [
    [PLAN, BODY],
    [{ ...PLAN, method: 'PUT' }, BODY],
    [{ ...PLAN, hashed: { ...PLAN.hashed, url: 'https://a.example/x?' } }, BODY],
    [{ ...PLAN, headers: [] }, BODY],
    [{ ...PLAN, headers: [{ name: 'Authorization', parts: ['Bearer ', { env: 'OTHER' }] }] }, BODY],
    [{ ...PLAN, headers: [{ name: 'Authorization', parts: ['Bearer KEY'] }] }, BODY],
    [PLAN, 'null'],
    [PLAN, null],
  ]
  assert.equal(new Set(others.map(([plan, body]) => requestKey(plan, body))).size, others.length)
})

test('a request has the same key as a recording has it', () => {
  const { method, hashed, headers } = PLAN
  const sent = { method, url: hashed.url, headers: shownHeaders(headers), body: BODY }
  assert.equal(keyOfSent(sent), requestKey(PLAN, BODY))
  assert.equal(keyOfSent({ ...sent, headers: {} }), requestKey({ ...PLAN, headers: [] }, BODY))
})
