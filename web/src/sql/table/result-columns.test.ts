import assert from 'node:assert/strict'
import test from 'node:test'
import { columnsOf, type ResultRow } from './result-columns.ts'
import { CONTRACT } from '../test-contract.ts'

const typesOf = (rows: readonly ResultRow[]) =>
  columnsOf(Object.keys(rows[0] ?? {}), rows, CONTRACT).map(({ type }) => type)

test('columns that are fields have the type of the contract', () => {
  const [price, lent] = columnsOf(['price', 'lent'], [{ price: 3, lent: true }], CONTRACT)
  assert.equal(price?.type, 'number')
  assert.equal(price?.field?.title, 'Price')
  assert.equal(lent?.type, 'boolean')
})

test('a column that only has the name of a field has the type of its values', () => {
  const [column] = columnsOf(['title'], [{ title: 12 }], CONTRACT)
  assert.deepEqual(column, { name: 'title', field: null, type: 'integer' })
})

test('other columns have the type of their values; null is ignored', () => {
  assert.deepEqual(typesOf([{ n: null }, { n: 2 }]), ['integer'])
  assert.deepEqual(typesOf([{ n: 1 }, { n: 2.5 }]), ['number'])
  assert.deepEqual(typesOf([{ n: 1 }, { n: '9007199254740993' }]), [null])
  assert.deepEqual(typesOf([{ n: null }]), [null])
  assert.deepEqual(typesOf([{ d: '2026-01-02' }]), ['date'])
  assert.deepEqual(typesOf([{ d: '2026-01-02T10:00:00Z' }]), ['timestamp'])
  assert.deepEqual(typesOf([{ d: '2026-01-02' }, { d: 'soon' }]), ['string'])
  assert.deepEqual(typesOf([{ a: [1] }]), ['array'])
  assert.deepEqual(typesOf([{ a: { b: 1 } }]), ['object'])
  assert.deepEqual(typesOf([{ a: { b: 1 } }, { a: [1] }]), [null])
})

test('without rows the columns are shown, and those that are fields have their type', () => {
  assert.deepEqual(
    columnsOf(['price', 'c'], [], CONTRACT).map(({ name, type }) => [name, type]),
    [
      ['price', 'number'],
      ['c', null],
    ],
  )
})

test('columns are in the order of the statement, also those with numeric names', () => {
  const columns = columnsOf(['2', '1'], [{ '2': 'x', '1': 'y' }], CONTRACT)
  assert.deepEqual(
    columns.map(({ name }) => name),
    ['2', '1'],
  )
})
