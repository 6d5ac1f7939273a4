import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { contractOf, field } from '../../../test/support/sheet-database.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { readCondition } from './read-condition.ts'

const CONTRACT = contractOf([
  field('id', 'string'),
  field('size', 'integer'),
  field('open', 'boolean'),
  field('day', 'date'),
  field('at', 'timestamp'),
  field('tags', 'array'),
  field('thing', 'object'),
])

const read = (where: unknown) =>
  readCondition(CONTRACT, typeof where === 'string' ? where : JSON.stringify(where))

suite('a condition from a request', () => {
  test('is a field, an operator and its operand, or a group of conditions', () => {
    assert.equal(readCondition(CONTRACT, null), null)
    assert.deepEqual(read({ field: 'size', operator: 'at_least', value: 2.5 }), {
      kind: 'field',
      field: { name: 'size', type: 'integer' },
      operator: 'atLeast',
      operands: [2.5],
    })
    assert.deepEqual(read({ field: 'tags', operator: 'has_any', value: ['a', 1, true, null] }), {
      kind: 'field',
      field: { name: 'tags', type: 'array' },
      operator: 'hasAny',
      operands: ['a', 1, true, null],
    })
    const isOpen = { field: 'open', operator: 'equals', value: true }
    const isEmpty = { field: 'thing', operator: 'empty' }
    const group = read({ and: [isOpen, { or: [isEmpty, { not: isOpen }] }] })
    assert.deepEqual(group, {
      kind: 'and',
      conditions: [
        read(isOpen),
        { kind: 'or', conditions: [read(isEmpty), { kind: 'not', condition: read(isOpen) }] },
      ],
    })
  })

  test('is on the writers of values, in any field or in some', () => {
    assert.deepEqual(read({ by: ['agent:*', 'human:ann'], fields: ['size'] }), {
      kind: 'writer',
      actors: ['agent:*', 'human:ann'],
      runs: [],
      fields: ['size'],
    })
    assert.deepEqual(read({ by_run: ['12'] }), { kind: 'writer', actors: [], runs: ['12'], fields: null })
  })

  test('is on the failures of cells, by the ids of their groups', () => {
    const groups = ['0a1b2c3d4e5f6']
    assert.deepEqual(read({ failure: groups }), { kind: 'failure', groups, fields: null })
    assert.deepEqual(read({ failure: groups, fields: ['size'] }), {
      kind: 'failure',
      groups,
      fields: ['size'],
    })
  })

  const faults: readonly (readonly [where: unknown, message: RegExp])[] = [
    ['{"field"', /^where is not JSON: /],
    ['[]', /^where must be an object, got an array of 0 items/],
    [null, /^where must be an object, got null/],
    [{ failure: ['404'] }, /^where\.failure: "404" is not the id of a group of failures, which is 13 hex digits$/],
    [{ and: [] }, /^where\.and must be an array of at least one condition, got an array of 0 items/],
    [{ or: { field: 'id' } }, /^where\.or must be an array/],
    [{ and: [{ not: 3 }] }, /^where\.and\[0\]\.not must be an object, got 3/],
    [{ and: [{ field: 'id', operator: 'empty' }], field: 'id' }, /^where has the member "field"; /],
    [{ field: 'id', is: 'equals', value: 'a' }, /^where has the member "is"; /],
    [{ operator: 'empty' }, /^where\.field must be the name of a field, got undefined/],
    [{ field: 'sise', operator: 'empty' }, /^unknown field "sise" \(did you mean "size"\?\); the contract has id, size/],
    [{ field: '__proto__', operator: 'empty' }, /^unknown field "__proto__"/],
    [{ field: 'id', operator: 'contain', value: 'a' }, /^where\.operator is unknown: "contain"; did you mean contains\?/],
    [{ field: 'id', operator: 'constructor', value: 'a' }, /^where\.operator is unknown: "constructor"; use one of equals/],
    [{ field: 'id', operator: 'atLeast', value: 'a' }, /^where\.operator is unknown: "atLeast"; did you mean at_least\?/],
    [{ field: 'id' }, /^where\.operator is missing; use one of equals, not_equals/],
    [{ field: 'size', operator: 'contains', value: '1' }, /^the operator contains does not apply to the field size of type integer; use one of equals/],
    [{ field: 'tags', operator: 'equals', value: 'a' }, /^the operator equals does not apply to the field tags of type array; use one of has_any/],
    [{ field: 'at', operator: 'starts_with', value: '2026' }, /^the operator starts_with does not apply to the field at/],
    [{ field: 'size', operator: 'equals', value: '1' }, /^where\.value of equals on the field size of type integer: "1" is not a number/],
    [{ field: 'size', operator: 'equals' }, /undefined is not a number/],
    [{ field: 'size', operator: 'equals', value: null }, /null is not a number/],
    [{ field: 'open', operator: 'equals', value: 1 }, /1 is not true or false/],
    [{ field: 'day', operator: 'less_than', value: '2026-02-30' }, /"2026-02-30" is not a date/],
    [{ field: 'at', operator: 'at_least', value: '2026-01-01T00:00:00' }, /is not a timestamp \(ISO 8601 with offset/],
    [{ field: 'id', operator: 'contains', value: ['a'] }, /an array of 1 item is not a string/],
    [{ field: 'id', operator: 'equals', value: 'a\0' }, /contains the character U\+0000/],
    [{ field: 'id', operator: 'equals', value: '\ud800' }, /contains a lone surrogate/],
    [{ field: 'size', operator: 'between', value: [1] }, /^where\.value of between must be an array of two values, got an array of 1 item/],
    [{ field: 'size', operator: 'between', value: [1, '2'] }, /"2" is not a number/],
    [{ field: 'id', operator: 'any_of', value: [] }, /must be an array of 1 to 1000 values, got an array of 0 items/],
    [{ field: 'id', operator: 'any_of', value: Array(1001).fill('a') }, /of 1 to 1000 values, got an array of 1001 items/],
    [{ field: 'id', operator: 'empty', value: 'a' }, /^where\.value of empty must be absent, got "a"/],
    [{ field: 'tags', operator: 'has_any', value: [['a']] }, /an array of 1 item is not a string, number or boolean/],
    [{ and: repeated(101, { field: 'id', operator: 'empty' }) }, /^where has more than 100 conditions/],
    [{ and: repeated(11, { field: 'id', operator: 'any_of', value: Array(1000).fill('a') }) }, /more than 10000 values/],
    ['{"not":'.repeat(22) + '{"field":"id","operator":"empty"}' + '}'.repeat(22), /nested more than 20 levels/],
    ['{"not":'.repeat(100_000) + '1' + '}'.repeat(100_000), /nested more than 20 levels/],
    [{ by: [] }, /^where\.by must be an array of 1 to 1000 names/],
    [{ by: ['agent:['] }, /^where\.by: the pattern "agent:\[": a bracket is not closed/],
    [{ by: ['agent:*'], by_run: ['1'] }, /^where has the member "by_run"; /],
    [{ by: ['agent:*'], fields: ['siez'] }, /siez/],
    [{ field: 'id', operator: 'contains', value: letters(101) }, /more than 100 different letters beyond ASCII/],
  ] // prettier-ignore
  for (const [where, message] of faults) {
    test(`is refused with a message: ${message.source}`, () => {
      assert.throws(
        () => read(where),
        (error: unknown) => {
          assert.ok(error instanceof ValidationError)
          assert.match(error.message, message)
          return true
        },
      )
    })
  }

  test('may search for as many letters as an engine can nest', () => {
    assert.ok(read({ field: 'id', operator: 'contains', value: letters(100) }))
  })
})

function repeated(count: number, condition: object): object[] {
  return Array.from({ length: count }, () => ({ ...condition }))
}

/** Different letters with a capital. */
function letters(count: number): string {
  return Array.from({ length: 1000 }, (_, index) => String.fromCodePoint(0x430 + index))
    .filter((letter) => letter.toUpperCase() !== letter && letter.toUpperCase().length === 1)
    .slice(0, count)
    .join('')
}
