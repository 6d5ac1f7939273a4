import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstDifference } from './first-difference.ts'
import type { SentRequest } from './recorded-call.ts'

const BASE: SentRequest = {
  method: 'POST',
  url: 'https://a.example/v1/x?q=1',
  headers: { 'X-Of': 'ann', Authorization: 'Bearer {{ env.KEY }}' },
  body: '{"model":"m","messages":[{"text":"one"},{"text":"two"}],"n":1}',
}

const cases: readonly (readonly [name: string, sent: Partial<SentRequest>, expected: string])[] = [
  ['the method', { method: 'PUT' }, 'the method is PUT, recorded POST'],
  [
    'a character of the URL',
    { url: 'https://a.example/v2/x?q=1' },
    'the URL differs at character 20: "2/x?q=1", recorded "1/x?q=1"',
  ],
  [
    'the end of the URL',
    { url: 'https://a.example/v1/x?q=' },
    'the URL differs at character 26: "", recorded "1"',
  ],
  [
    'a header, whatever its case',
    { headers: { authorization: 'Bearer {{ env.KEY }}', 'x-of': 'bob' } },
    'the header "x-of" differs at character 1: "bob", recorded "ann"',
  ],
  ['a new header', { headers: { ...BASE.headers, Accept: 'a' } }, 'the header "accept" is new'],
  ['a missing header', { headers: { 'X-Of': 'ann' } }, 'the header "authorization" is missing'],
  ['no body', { body: null }, 'it has no body, and the recorded one has'],
  [
    'a text in the body',
    { body: '{"model":"m","messages":[{"text":"one"},{"text":"tWo"}],"n":1}' },
    'the body at messages[1].text differs at character 2: "Wo", recorded "wo"',
  ],
  [
    'a number in the body',
    { body: '{"model":"m","messages":[{"text":"one"},{"text":"two"}],"n":2}' },
    'the body at n is 2, recorded 1',
  ],
  [
    'fewer items in the body',
    { body: '{"model":"m","messages":[{"text":"one"}],"n":1}' },
    'the number of items of the body at messages is 1, recorded 2',
  ],
  [
    'a member of the body',
    { body: '{"model":"m","messages":[{"text":"one"},{"text":"two"}]}' },
    'the body has no n, which the recorded one has',
  ],
  [
    'the order of members, which counts too',
    { body: '{"n":1,"model":"m","messages":[{"text":"one"},{"text":"two"}]}' },
    'the body differs at character 3: "n\\":1,\\"model\\":\\"m\\",\\"messages\\":[{\\"text\\":\\"on…", recorded "model\\":\\"m\\",\\"messages\\":[{\\"text\\":\\"one\\"},{\\"…"',
  ],
]

for (const [name, sent, expected] of cases) {
  test(`the first difference of requests: ${name}`, () => {
    assert.equal(firstDifference({ ...BASE, ...sent }, BASE), expected)
  })
}
