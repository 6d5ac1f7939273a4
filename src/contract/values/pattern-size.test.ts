import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RE2JS } from 're2js'
import { compilePattern } from './pattern.ts'
import { patternSize } from './pattern-size.ts'

test('the size of a pattern is close to that of its compiled form, and not less', () => {
  const patterns = [
    'a',
    '^[A-Z]{2}-[0-9]+$',
    'a{1000}',
    '(a{10}){10}',
    '(?:a{0,30}){33}',
    '[a-z]{1,100}',
    '(abc){5,}',
    '(a|bc|d)*x?',
    String.raw`\p{L}{50}\u{1F600}\x41{3}\d+`,
    String.raw`[\]{9}]{7}`,
    'x(?<name>ab){4}',
    '',
    'a{,5}',
    'a{x}',
  ]
  for (const pattern of patterns) {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern)).programSize()
    const size = patternSize(pattern)
    // Two for the start and the end, four for the bytes of what is no literal.
    assert.ok(size + 4 >= compiled, `${pattern}: ${size}, and ${compiled} compiled`)
    assert.ok(size <= compiled * 3 + 10, `${pattern}: ${size}, and ${compiled} compiled`)
  }
})

test('an invalid pattern has a size too', () => {
  for (const text of ['(', ')', '((', '))', '[', '[a', '{5}', 'a{5', '\\', '\\p{', '*', '|']) {
    assert.ok(Number.isFinite(patternSize(text)), text)
  }
})

test('a pattern whose compiled form is too large is refused before it is compiled', () => {
  for (const pattern of [
    'a{1000}'.repeat(6),
    `(${'a'.repeat(500)}){1000}`,
    '((a{100}){100}){100}',
    '(a{1000}){1000}',
    '(?:a?){1000}(?:a?){1000}a{1000}',
    'a|'.repeat(4000),
    '['.padEnd(6000, 'a'),
    'a{999999}',
  ]) {
    assert.throws(() => compilePattern(pattern), RangeError, pattern.slice(0, 40))
  }
})
