import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractText, contractWith } from '../../../test/support/contract-with.ts'
import { idSourceOf } from './id-source.ts'
import { originalNames, sharedNames, unknownColumnMessage, unknownFieldMessage } from './original-names.ts'
import { parseContract, parseStoredContract } from './parse-contract.ts'

test('the original names of a field are its originalName, businessName and physicalName, without repeats', () => {
  const contract = contractWith(
    '{name: a, logicalType: string, businessName: A!, physicalName: a_1}',
    '{name: b, logicalType: string, businessName: b, customProperties: [{property: originalName, value: [B1, B2, B1]}]}',
    '{name: c, logicalType: string, businessName: "", customProperties: [{property: originalName, value: C c}]}',
  )
  assert.deepEqual(Object.fromEntries(originalNames(contract)), {
    id: [],
    a: ['A!', 'a_1'],
    b: ['B1', 'B2'],
    c: ['C c'],
  })
  assert.deepEqual(sharedNames(contract), [])
})

test('an original name of several fields is an error at the position of the second', () => {
  const contract = contractWith(
    '{name: a, logicalType: string, businessName: Amount}',
    '{name: b, logicalType: string}',
    '{name: c, logicalType: string, physicalName: Amount}',
  )
  assert.deepEqual(sharedNames(contract), [
    { name: 'Amount', fields: ['a', 'c'], path: ['schema', 0, 'properties', 3] },
  ])
})

test('an unknown name is refused with the nearest field, also by its original name', () => {
  const contract = contractWith(
    '{name: member_no, logicalType: string, businessName: Member No}',
    '{name: fee, logicalType: string}',
  )
  assert.equal(unknownFieldMessage(contract, 'fees'), 'the contract has no such field; was fee meant?')
  assert.equal(
    unknownFieldMessage(contract, 'member no'),
    'the contract has no such field; was member_no ("Member No") meant?',
  )
  assert.equal(unknownFieldMessage(contract, 'colour'), 'the contract has no such field')
  assert.equal(
    unknownColumnMessage(contract, 'colour'),
    'the contract has no such field; it has id, member_no ("Member No"), fee',
  )
  assert.equal(unknownColumnMessage(contract, 'fees'), 'the contract has no such field; was fee meant?')
})

test('invalid custom properties about files are refused with their line, but not in a store', () => {
  const withId = (value: string): string =>
    contractText(['{name: a, logicalType: string}']).replace(
      'primaryKey: true}',
      `primaryKey: true, customProperties: [{property: idFrom, value: ${value}}]}`,
    )
  const faults: readonly [text: string, message: RegExp][] = [
    [
      contractText([
        '{name: a, logicalType: string, customProperties: [{property: originalName, value: 7}]}',
      ]),
      /^contract\.yaml:9: .* must be a string, but is 7; put it in quotes$/,
    ],
    [
      withId('rownumber'),
      /:8: idFrom is "rownumber"; it must be "rowNumber" or a list of fields whose values make the id$/,
    ],
    [withId('[]'), /:8: idFrom is an array of 0 items; it must be/],
    [withId('[a, b]'), /:8: idFrom: there is no field "b"$/],
    [withId('[id]'), /:8: idFrom: an id cannot be made from itself$/],
  ]
  for (const [text, message] of faults) {
    assert.throws(() => parseContract(text), { type: 'ContractError', message })
    parseStoredContract(text)
  }
  assert.deepEqual(idSourceOf(parseContract(withId('[a]'))), { kind: 'fields', fields: ['a'] })
  assert.deepEqual(idSourceOf(parseContract(withId('rowNumber'))), { kind: 'rowNumber' })
  assert.equal(idSourceOf(contractWith()), null)
})
