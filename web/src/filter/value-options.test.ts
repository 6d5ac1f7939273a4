import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { testField } from '../api/test-field.ts'
import { isComplete, joinOptions, valueOptions, type KnownValues } from './value-options.ts'

const KNOWN: KnownValues = {
  nulls: 2,
  top: [
    { value: 'Africa', count: 9 },
    { value: 'Asia', count: 5 },
  ],
  distinct: 2,
}

suite('values to pick from', () => {
  const list = (...given: Parameters<typeof valueOptions>) =>
    valueOptions(...given).map(({ value, count }) => [value, count])

  test('are the frequent values and no value, with the chosen ones', () => {
    assert.deepEqual(list(testField(), KNOWN, ['Asia', 'Atlantis'], ''), [
      ['Atlantis', null],
      ['Africa', 9],
      ['Asia', 5],
      [null, 2],
    ])
    assert.deepEqual(list(testField(), { ...KNOWN, nulls: 0 }, [null], 'no v'), [[null, 0]])
    assert.deepEqual(list(testField({ type: 'array' }), KNOWN, [], 'a').length, 2)
  })

  test('are those of a closed list, each with its count among all records', () => {
    const field = testField({ values: ['Asia', 'Europe'] })
    assert.deepEqual(list(field, { ...KNOWN, nulls: 0 }, [], ''), [
      ['Asia', 5],
      ['Europe', 0],
    ])
    assert.deepEqual(list(field, { ...KNOWN, nulls: 0, distinct: 40 }, [], 'eu'), [['Europe', null]])
    assert.equal(isComplete(KNOWN), true)
    assert.equal(isComplete({ ...KNOWN, distinct: null }), false)
  })

  test('begin with those that start with the text, without repeats', () => {
    assert.deepEqual(list(testField(), KNOWN, ['Eurasia'], 'as'), [
      ['Asia', 5],
      ['Eurasia', null],
    ])
    const joined = joinOptions(KNOWN.top, [
      { value: 'Asia', count: 5 },
      { value: 'Oceania', count: 1 },
    ])
    assert.deepEqual(
      joined.map(({ value }) => value),
      ['Africa', 'Asia', 'Oceania'],
    )
  })
})
