import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SecretGuard } from './secret-guard.ts'

const SECRET = 'k3y of/the+t3st="é'
const guard = new SecretGuard([SECRET])

test('D23: a secret is found in a text, a key and a number, and in pieces that follow each other', () => {
  for (const value of [
    SECRET,
    `Bearer ${SECRET}.`,
    SECRET.toUpperCase(),
    [[{ [SECRET]: true }]],
    { a: SECRET.slice(0, 5), b: { c: [SECRET.slice(5)] } },
    SECRET.split(''),
    SECRET.split('').join('\n'),
  ]) {
    assert.ok(guard.isIn(value), JSON.stringify(value))
  }
  assert.ok(new SecretGuard(['12345678901']).isIn([{ code: 12_345_678_901 }]))
  assert.ok(new SecretGuard(['  spaced-out ']).isIn('spaced-out'))
})

test('D23: a secret is found in base64 amid other bytes, hex, percent-encoding and escapes, also twice over', () => {
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

test('what holds no secret holds none, whatever it is', () => {
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
    assert.ok(!guard.isIn(value), JSON.stringify(value))
  }
  // What is so short may be there by chance.
  assert.ok(!new SecretGuard(['1234567', '']).isIn('1234567'))
  assert.ok(!new SecretGuard(['%41%41%41']).isIn('AAA'))
  // Keys and numbers do not join with what stands beside them.
  assert.ok(!new SecretGuard(['1234567890']).isIn([12_345, 67_890]))
})

for (const [what, text] of [
  ['percent signs', '%'.repeat(2 ** 20)],
  ['percent-encoding', '%2525'.repeat(2 ** 18)],
  ['ampersands', '&#x26;'.repeat(2 ** 17)],
  ['backslashes', '\\'.repeat(2 ** 20)],
  ['white space', ' \n'.repeat(2 ** 19)],
  ['beginnings of the secret', SECRET.slice(0, -1).repeat(2 ** 16)],
] as const) {
  test(`a megabyte of ${what} is looked through in no time to speak of`, () => {
    const started = performance.now()
    assert.ok(!guard.isIn(text))
    // Seen: 20 to 100 ms. Anything quadratic would take minutes.
    assert.ok(performance.now() - started < 3000)
  })
}
