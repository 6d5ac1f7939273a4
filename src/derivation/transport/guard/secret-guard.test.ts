import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertQuick } from '../../../../test/support/thread-time.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { SecretSearch } from './secret-search.ts'
import { SecretGuard } from './secret-guard.ts'
import { squeeze } from './unescape.ts'

const SECRET = 'k3y of/the+t3st="é'
const guard = new SecretGuard([SECRET])

function repeats(value: JsonValue, secrets: readonly string[] = [SECRET]): boolean {
  return new SecretSearch(new SecretGuard(secrets)).verdict(value) === 'repeats'
}

test('D23: a secret is found in a text, a key and a number, and in consecutive pieces', () => {
  for (const value of [
    SECRET,
    `Bearer ${SECRET}.`,
    SECRET.toUpperCase(),
    [[{ [SECRET]: true }]],
    { a: SECRET.slice(0, 5), b: { c: [SECRET.slice(5)] } },
    SECRET.split(''),
    SECRET.split('').join('\n'),
  ]) {
    assert.ok(repeats(value), JSON.stringify(value))
  }
  assert.ok(repeats([{ code: 12_345_678_901 }], ['12345678901']))
  assert.ok(repeats('spaced-out', ['  spaced-out ']))
})

test('D23: a secret is found in base64 within other bytes, hex, percent-encoding and escapes, also nested ones', () => {
  const percent = encodeURIComponent(SECRET)
  const quoted = JSON.stringify(SECRET)
  for (const text of [
    Buffer.from(`a${SECRET}`).toString('base64'),
    Buffer.from(`ab${SECRET}c`).toString('base64url'),
    encodeURIComponent(Buffer.from(SECRET).toString('base64')),
    Buffer.from(SECRET).toString('hex').replace(/../g, '$&:'),
    Buffer.from(SECRET).toString('latin1'),
    percent,
    encodeURIComponent(percent),
    percent.replaceAll('%20', '+'),
    quoted,
    JSON.stringify({ headers: quoted }),
    'k3y of&#47;the&#x2b;t3st=&quot;&#233;',
    'k3y of\\u002fthe\\x2bt3st=\\u{22}\\u00E9',
  ]) {
    assert.ok(guard.isIn(text), text)
  }
})

test('D23: a secret is found with invisible characters in between, however they are written', () => {
  for (const unseen of [
    '\u00ad',
    '\u034f',
    '\u180e',
    '\u200b',
    '\u200d',
    '\u202e',
    '\u2028',
    '\u2060',
    '\u3000',
    '\ufe0f',
    '\ufeff',
    '\u{e0020}',
    '\u{e0101}',
    '&shy;',
    '&#8203;',
    '&ZeroWidthSpace;',
    '%E2%80%8B',
    '%c2%ad',
    '\\u200b',
    Buffer.from('\u200b').toString('latin1'),
  ]) {
    for (const form of [SECRET, Buffer.from(SECRET).toString('base64')]) {
      assert.ok(guard.isIn([...form].join(unseen)), JSON.stringify(unseen))
    }
  }
})

test('a text without a secret is not reported', () => {
  for (const value of [
    null,
    true,
    12_345_678,
    '',
    'k3y of/the+t3st',
    [],
    {},
    '%',
    '&#',
    '\\',
    '\\u12',
    '&amp',
    '%zz',
  ]) {
    assert.ok(!repeats(value), JSON.stringify(value))
  }
  // Such short texts may occur by chance.
  assert.ok(!repeats('1234567', ['1234567', '']))
  assert.ok(!repeats('AAA', ['%41%41%41']))
  // Keys and numbers are not joined with their neighbours.
  assert.ok(!repeats([12_345, 67_890], ['1234567890']))
})

for (const [what, part] of [
  ['percent signs', '%'],
  ['percent-encoding', '%2525'],
  ['ampersands', '&#x26;'],
  ['backslashes', '\\'],
  ['white space', ' \n'],
  ['soft hyphens', '\u00ad'],
  ['characters that look like the first byte of one', '\u00e2'],
  ['beginnings of the secret', SECRET.slice(0, -1)],
] as const) {
  test(`a text of ${what} is searched in linear, not quadratic, time`, () => {
    const text = part.repeat(2 ** 20 / part.length)
    assertQuick(() => {
      assert.ok(!guard.isIn(text))
    }, 'the search')
  })
}

test('D23: the same characters are invisible in a text of ASCII as beside others', () => {
  for (let unit = 0; unit < 0x80; unit += 1) {
    const text = `a${String.fromCharCode(unit)}b`
    assert.equal(squeeze(`${text}\u00ff`), `${squeeze(text)}\u00ff`, `U+00${unit.toString(16)}`)
  }
  assert.equal(squeeze(' a:\tb\r\n'), 'ab')
})
