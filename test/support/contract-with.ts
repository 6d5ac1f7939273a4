import type { Contract, Field } from '../../src/contract/contract.ts'
import { parseContract } from '../../src/contract/odcs/parse-contract.ts'

/** Returns the text of a contract with `id` and these properties, each in YAML flow style: `{name: a, logicalType: string}`. */
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

/** Returns a contract with `id` and these properties. */
export function contractWith(...properties: readonly string[]): Contract {
  return parseContract(contractText(properties))
}

/** Returns the field `value` of a contract, with this type and further keys in YAML flow style. */
export function fieldWith(type: string, more = ''): Field {
  const contract = contractWith(`{name: value, logicalType: ${type}${more === '' ? '' : `, ${more}`}}`)
  return contract.fieldByName.get('value')!
}
