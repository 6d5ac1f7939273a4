import type { Contract, Field } from '../../src/contract/contract.ts'
import { parseContract } from '../../src/contract/odcs/parse-contract.ts'

/** The text of a contract with `id` and these properties, each in YAML flow style: `{name: a, logicalType: string}`. */
export function contractText(properties: readonly string[], version = 'v3.1.0'): string {
  return [
    `apiVersion: ${version}`,
    'kind: DataContract',
    'id: sample',
    'version: 1.0.0',
    'schema:',
    '  - name: things',
    '    properties:',
    '      - {name: id, logicalType: string, required: true, primaryKey: true}',
    ...properties.map((property) => `      - ${property}`),
    '',
  ].join('\n')
}

/** A contract with `id` and these properties. */
export function contractWith(...properties: readonly string[]): Contract {
  return parseContract(contractText(properties))
}

/** The field `value` of a contract, of this type and with these further keys in YAML flow style. */
export function fieldWith(type: string, more = ''): Field {
  const contract = contractWith(`{name: value, logicalType: ${type}${more === '' ? '' : `, ${more}`}}`)
  return contract.fieldByName.get('value')!
}
