import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractText } from '../../test/support/contract-with.ts'
import { ContractError, fileError } from '../errors/service-error.ts'
import { checkDeclared, describeContract } from './contract-view.ts'
import type { Derived } from './contract-view.ts'
import type { JsonObject } from './json/json.ts'
import { parseContract } from './odcs/parse-contract.ts'

const HOW: Derived = { derivation: 'rate.yaml', kind: 'http', inputs: ['currency', 'day'] }

function check(property: string, derived: ReadonlyMap<string, Derived>): void {
  checkDeclared(parseContract(contractText([property])), derived)
}

test('D8: exactly the derived properties have a description of their computation', () => {
  const contract = parseContract(
    contractText(['{name: rate, logicalType: number}', '{name: day, logicalType: date}']),
  )
  const view = describeContract(contract, new Map([['rate', HOW]]))
  const [entry] = view['schema'] as unknown as [{ name: string; properties: JsonObject[] }]
  assert.equal(entry.name, 'things')
  assert.deepEqual(
    entry.properties.map((property) => property['derived']),
    [undefined, { derivation: 'rate.yaml', kind: 'http', inputs: ['currency', 'day'] }, undefined],
  )
  assert.deepEqual(describeContract(contract, new Map()), contract.document)
})

test('D7: x-derived and x-inputs may be absent or agree with the derivations', () => {
  const derived = new Map([['rate', HOW]])
  check('{name: rate, logicalType: number}', derived)
  check('{name: rate, logicalType: number, x-derived: true, x-inputs: [day, currency]}', derived)
  check('{name: rate, logicalType: number, x-derived: false}', new Map())
})

test('D7: where x-derived or x-inputs disagree with the derivations, file and line are named', () => {
  const derived = new Map([['rate', HOW]])
  const cases: readonly (readonly [string, ReadonlyMap<string, Derived>, string])[] = [
    ['x-derived: true', new Map(), '"rate" has x-derived: true, but no derivation targets it'],
    ['x-derived: false', derived, '"rate" has x-derived: false, but rate.yaml targets it'],
    ['x-inputs: [day]', new Map(), '"rate" has x-inputs, but no derivation targets it'],
    ['x-inputs: [day]', derived, 'x-inputs of "rate" lists day, but rate.yaml uses currency, day'],
  ]
  for (const [key, how, message] of cases) {
    assert.throws(
      () => check(`{name: rate, logicalType: number, ${key}}`, how),
      new ContractError(...fileError({ file: 'contract.yaml', line: 9, message }, 'invalid_definition')),
    )
  }
})
