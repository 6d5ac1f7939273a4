import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstWrittenNumber, parseExactly } from './exact-json.ts'
import { WrittenNumber } from './written-number.ts'

test('JSON with numbers that a double cannot represent is kept as written', () => {
  const texts = [
    '1234567890123456781',
    '-1234567890123456781',
    '[1234567890123456781,1234567890123456782]',
    '{"a":{"b":[0.1234567890123456789,1e400,1e-400]},"c":"1234567890123456781","d":1.5}',
    '{"__proto__":1234567890123456781}',
  ]
  for (const text of texts) {
    const value = parseExactly(text)
    assert.equal(JSON.stringify(value), text)
    assert.ok(firstWrittenNumber(value) instanceof WrittenNumber, text)
  }
  assert.equal(Object.keys(parseExactly('{"__proto__":1234567890123456781}') as object)[0], '__proto__')
})

test('numbers that a double can represent are numbers, in any notation', () => {
  const text =
    '{"a":[9007199254740992,0.1000000000000000055511151231257827,1e-06],"b":"x, 1234567890123456781"}'
  assert.deepEqual(parseExactly(text), {
    a: [9007199254740992, 0.1, 1e-6],
    b: 'x, 1234567890123456781',
  })
  assert.deepEqual(parseExactly('[9007199254740992, 9007199254740991, 1e16]', { writtenIntegers: true }), [
    new WrittenNumber('9007199254740992'),
    9007199254740991,
    1e16,
  ])
})

test('text that nests too deeply is left to the caller, with or without lossy numbers', () => {
  const deep = `${'['.repeat(20_000)}1234567890123456781${']'.repeat(20_000)}`
  assert.ok(Array.isArray(parseExactly(deep)))
  assert.throws(() => parseExactly('[1234567890123456781,'), SyntaxError)
})
