import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Contract } from '../../contract/contract.ts'
import { contractText, contractWith } from '../../../test/support/contract-with.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import { ColumnMatcher, type MatchOptions } from './match-columns.ts'

const PLAIN: MatchOptions = { key: null, withoutId: false, preferOwn: false, idAdvice: null }

function match(contract: Contract, columns: readonly string[], options: Partial<MatchOptions> = {}): object {
  return Object.fromEntries(new ColumnMatcher(contract, { ...PLAIN, ...options }).match(columns, 'data.csv'))
}

/** The contract that `init` makes of `zip_code,id,original_id,name.common`. */
const RENAMED = parseContract(
  contractText([
    '{name: original_id, logicalType: string, businessName: id}',
    '{name: original_id_2, logicalType: string, businessName: original_id}',
    '{name: name_common, logicalType: string, businessName: name.common}',
  ]).replace('{name: id,', '{name: id, businessName: zip_code,'),
)

test('a column matches a field by its name or by an original name', () => {
  assert.deepEqual(match(RENAMED, ['name.common', 'zip_code', 'other']), {
    zip_code: 'id',
    'name.common': 'name_common',
  })
  assert.deepEqual(match(RENAMED, ['name_common']), { name_common: 'name_common' })
})

test('an ambiguous column matches the field that no other column must have', () => {
  assert.deepEqual(match(RENAMED, ['zip_code', 'id', 'original_id']), {
    zip_code: 'id',
    id: 'original_id',
    original_id: 'original_id_2',
  })
  assert.deepEqual(match(RENAMED, ['original_id_2', 'original_id', 'id', 'name_common']), {
    id: 'id',
    original_id: 'original_id',
    original_id_2: 'original_id_2',
    name_common: 'name_common',
  })
})

test('two columns of one field are refused with both names', () => {
  const contract = contractWith('{name: a, logicalType: string, businessName: A!, physicalName: A?}')
  assert.throws(() => match(contract, ['id', 'a', 'A!']), {
    type: 'ValidationError',
    message:
      'data.csv: two columns are the field "a": "a" and "A!" (an original name of it); take one of them out, or rename it',
  })
  assert.throws(() => match(contract, ['A?', 'A!']), { message: /"A\?" \(.*\) and "A!" \(/ })
  assert.throws(() => match(contract, ['id', 'a'], { key: 'a' }), {
    message: /two columns are the field "id": "id" and "a" \(the key\)/,
  })
})

test('a column that remains ambiguous is refused, or matches by its name if requested', () => {
  assert.throws(() => match(RENAMED, ['id', 'name_common'], { idAdvice: 'say --key id' }), {
    type: 'ValidationError',
    message:
      'data.csv: the column "id" can be the field "id" or "original_id"; say --key id, or rename it in the file',
  })
  assert.deepEqual(match(RENAMED, ['id', 'name.common'], { preferOwn: true }), {
    id: 'id',
    'name.common': 'name_common',
  })
  assert.deepEqual(match(RENAMED, ['id', 'name.common'], { key: 'id' }), {
    id: 'id',
    'name.common': 'name_common',
  })
  const shared = contractWith(
    '{name: a, logicalType: string, businessName: X}',
    '{name: b, logicalType: string, businessName: X}',
  )
  for (const preferOwn of [true, false]) {
    assert.throws(() => match(shared, ['id', 'X'], { preferOwn }), {
      message: 'data.csv: the column "X" can be the field "a" or "b"; rename it in the file',
    })
  }
})

test('if ids are generated, a column called id is another field or refused', () => {
  assert.deepEqual(match(RENAMED, ['id', 'name.common'], { withoutId: true }), {
    id: 'original_id',
    'name.common': 'name_common',
  })
  assert.throws(() => match(contractWith(), ['id'], { withoutId: true }), {
    message:
      'data.csv has a column "id", so that its records need no numbers; leave out --no-key, or the column',
  })
})
