import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractOf, field } from '../../../test/support/sheet-database.ts'
import type { FieldType } from '../api/contract.ts'
import { operatorsFor } from '../filter/operators-for.ts'
import { readCondition } from '../../../src/sheet/queries/read-condition.ts'
import { conditionsToData } from './condition-data.ts'
import {
  ANY_COLUMN,
  isOfCell,
  OPERATORS,
  type Condition,
  type ConditionValue,
  type Operator,
} from './conditions.ts'

test('conditions are sent as data, all of them together', () => {
  assert.equal(conditionsToData([]), null)
  assert.deepEqual(conditionsToData([{ field: 'a', is: 'begins', value: 'x' }]), {
    field: 'a',
    operator: 'starts_with',
    value: 'x',
  })
  assert.deepEqual(
    conditionsToData([
      { field: 'at', is: 'during', value: ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'] },
      { field: 'a', is: 'filled', value: null },
      { field: 'tags', is: 'lacks', value: ['x', null] },
    ]),
    {
      and: [
        {
          and: [
            { field: 'at', operator: 'at_least', value: '2026-01-01T00:00:00Z' },
            { field: 'at', operator: 'less_than', value: '2026-01-02T00:00:00Z' },
          ],
        },
        { field: 'a', operator: 'not_empty' },
        { field: 'tags', operator: 'has_none', value: ['x', null] },
      ],
    },
  )
})

const VALUES: Readonly<Record<FieldType, readonly [string | number | boolean, string | number | boolean]>> = {
  string: ['a', 'b'],
  integer: [1, 2.5],
  number: [1, 2.5],
  boolean: [true, false],
  date: ['2026-01-01', '2026-01-02'],
  timestamp: ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00+01:00'],
  time: ['12:00:00', '13:00:00'],
  array: ['a', 1],
  object: ['a', 'b'],
}

const DERIVED = { derivation: 'it.yaml', kind: 'http', inputs: [] }

test('a condition on states names the field, or none for all computed columns', () => {
  assert.deepEqual(
    conditionsToData([
      { field: ANY_COLUMN, is: 'inState', value: ['failed', 'stale'] },
      { field: 'a', is: 'notInState', value: ['fresh'] },
    ]),
    { and: [{ state: ['failed', 'stale'] }, { not: { state: ['fresh'], fields: ['a'] } }] },
  )
})

/** Beside what is offered, what pictures of columns make conditions with. */
const OF_PICTURES: Partial<Record<FieldType, readonly Operator[]>> = {
  integer: ['within', 'anyOf', 'noneOf'],
  number: ['within', 'anyOf', 'noneOf'],
  date: ['within', 'between'],
  timestamp: ['during', 'within'],
  boolean: ['anyOf', 'noneOf'],
  time: ['anyOf', 'noneOf'],
}

for (const type of Object.keys(VALUES) as FieldType[]) {
  test(`every operator that is offered for ${type} fits it on the server`, () => {
    const contract = contractOf([field('id', 'string'), field('it', type)])
    const closed = operatorsFor({ name: 'it', type, values: ['a'], derived: null })
    const operators = new Set([
      ...operatorsFor({ name: 'it', type, values: null, derived: DERIVED }),
      ...closed,
      ...(OF_PICTURES[type] ?? []),
    ])
    for (const is of operators) {
      const condition: Condition = { field: 'it', is, value: valueFor(is, type) }
      assert.ok(readCondition(contract, JSON.stringify(conditionsToData([condition]))), is)
    }
  })
}

function valueFor(is: Operator, type: FieldType): ConditionValue {
  const [one, other] = VALUES[type]
  switch (OPERATORS[is]) {
    case 'nothing':
      return null
    case 'one':
      return one
    case 'range':
      return [one, other]
    case 'list':
      if (is === 'reviewed') return ['approved', 'flagged']
      if (is === 'changedBy' || is === 'writtenIn') return ['1', '2']
      if (is === 'writtenBy') return ['agent:*']
      return isOfCell(is) ? ['failed', 'stale'] : [one, null]
  }
}
