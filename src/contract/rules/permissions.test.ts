import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractText, contractWith, fieldWith } from '../../../test/support/contract-with.ts'
import { matchesGlob } from '../values/glob.ts'
import { parseContract } from '../odcs/parse-contract.ts'
import { checkActor, mayDelete, mayWrite } from './permissions.ts'

test('D7: without editableBy anyone may write an ordinary field and no one a derived one', () => {
  const field = fieldWith('string')
  assert.equal(mayWrite(field, 'agent:a', false), true)
  assert.equal(mayWrite(field, 'agent:a', true), false)
})

test('D7: editableBy decides for ordinary and derived fields alike', () => {
  const field = fieldWith('string', "x-editable-by: ['user:*', 'agent:a?']")
  for (const derived of [false, true]) {
    assert.equal(mayWrite(field, 'user:ada', derived), true)
    assert.equal(mayWrite(field, 'agent:a1', derived), true)
    assert.equal(mayWrite(field, 'agent:b1', derived), false)
    assert.equal(mayWrite(field, 'USER:ada', derived), false)
    assert.equal(mayWrite(field, 'superuser:ada', derived), false)
  }
  assert.equal(mayWrite(fieldWith('string', 'x-editable-by: []'), 'user:ada', false), false)
})

test('D7: anyone may delete unless deletableBy restricts it', () => {
  assert.equal(mayDelete(contractWith(), 'agent:a'), true)
  const text = `customProperties: [{property: deletableBy, value: ['user:*']}]\n${contractText([])}`
  assert.equal(mayDelete(parseContract(text), 'agent:a'), false)
  assert.equal(mayDelete(parseContract(text), 'user:a'), true)
})

test('D7: patterns know *, ? and brackets, over the whole text and case-sensitively', () => {
  const matches = (pattern: string, yes: readonly string[], no: readonly string[]): void => {
    for (const text of yes) assert.equal(matchesGlob(pattern, text), true, `${pattern} should match ${text}`)
    for (const text of no)
      assert.equal(matchesGlob(pattern, text), false, `${pattern} should not match ${text}`)
  }
  matches('user:ada', ['user:ada'], ['user:adam', 'xuser:ada', 'User:ada', ''])
  matches('*', ['', 'a', 'a/b:c.d', '🎉', '\n'], [])
  matches('agent:*', ['agent:', 'agent:a/b:c'], ['agent'])
  matches('*:a*b', ['x:ab', 'x:a:ab', ':aab'], ['x:ba', 'a'])
  matches('a?c', ['abc', 'a🎉c', 'a/c'], ['ac', 'abbc'])
  matches('[ab]x', ['ax', 'bx'], ['cx', 'abx', 'x'])
  matches('[a-cx]', ['a', 'b', 'c', 'x'], ['d', '-', 'B'])
  matches('[!a-c]', ['d', '!', '🎉'], ['a', 'b', ''])
  matches('[]a]', [']', 'a'], ['b', '[]a]'])
  matches('[!]]', ['a'], [']'])
  matches('[a-]', ['a', '-'], ['b'])
  matches('[*?]', ['*', '?'], ['a', ''])
  matches('[[]x', ['[x'], ['x'])
  matches('a.c', ['a.c'], ['abc'])
  matches('{a,b}', ['{a,b}'], ['a'])
  matches('**', ['', 'abc'], [])
})

test('D7: patterns match in linear time', () => {
  assert.equal(matchesGlob(`${'*a'.repeat(100)}*b`, 'a'.repeat(200)), false)
  assert.equal(matchesGlob('*'.repeat(5000), 'a'.repeat(200)), true)
})

test('D39: an actor is 1 to 200 characters without control characters', () => {
  for (const actor of ['a', 'agent:a', 'x'.repeat(200), '🎉'.repeat(200), ' '])
    assert.equal(checkActor(actor), null)
  assert.match(checkActor('') ?? '', /at least 1/)
  for (const actor of ['x'.repeat(201), '🎉'.repeat(201), 'x'.repeat(1e6)]) {
    assert.match(checkActor(actor) ?? '', /at most 200/)
  }
  for (const actor of ['a\nb', '\0', 'a\u007f', 'a\u0085']) assert.match(checkActor(actor) ?? '', /control/)
  assert.match(checkActor('a\ud800') ?? '', /surrogate/)
})
