import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FieldType } from '../api/contract.ts'
import type { ConditionValue, Operator } from '../state/conditions.ts'
import { conditionSentence } from './condition-text.ts'

suite('conditions as text', () => {
  const say = (type: FieldType | null, is: Operator, value: ConditionValue) =>
    conditionSentence({ field: 'f', is, value }, type === null ? null : { name: 'f', title: 'F', type })

  test('in words that fit the type', () => {
    assert.equal(say('number', 'atLeast', 1_000_000), 'F ≥ 1,000,000')
    assert.equal(say('date', 'atLeast', '2024-03-10'), 'F from 2024-03-10')
    assert.equal(say('number', 'between', [1, 20]), 'F between 1 and 20')
    assert.equal(say('number', 'within', [1, 20]), 'F from 1 to under 20')
    assert.equal(say('number', 'within', [-2.4554904312619414, 1e300]), 'F from -2.45549 to under 1e+300')
    assert.equal(say('boolean', 'equals', false), 'F is false')
    assert.equal(say('string', 'empty', null), 'F is empty')
    assert.equal(say('string', 'equals', ''), 'F is an empty text')
    assert.equal(say(null, 'equals', 'x'), 'f = x')
  })

  test('a single item is shown, and long lists are shortened', () => {
    assert.equal(say('string', 'anyOf', ['Asia']), 'F is Asia')
    assert.equal(say('string', 'anyOf', ['Asia', null]), 'F is any of Asia, no value')
    assert.equal(say('array', 'lacks', [1]), 'F does not have 1')
    assert.equal(say('string', 'noneOf', ['a', 'b', 'c']), 'F is none of a, b, c')
    assert.equal(say('string', 'noneOf', ['a', 'b', 'c', 'd']), 'F is none of a, b and 2 more')
  })
})
