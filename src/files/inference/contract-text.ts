import { stringify } from 'yaml'
import type { JsonObject } from '../../contract/json/json.ts'

/** What a contract that is written says of itself. */
export interface ContractFacts {
  /** The contract's id. */
  readonly id: string
  /** The name of its schema entry. */
  readonly entry: string
  readonly description: string | null
  /** In the order of the fields. */
  readonly properties: readonly JsonObject[]
}

/** The text of a contract with these properties. */
export function contractText({ id, entry, description, properties }: ContractFacts): string {
  return yamlText({
    apiVersion: 'v3.1.0',
    kind: 'DataContract',
    id,
    version: '1.0.0',
    status: 'draft',
    ...(description === null ? {} : { description: { purpose: description } }),
    schema: [{ name: entry, properties }],
  })
}

/** YAML without aliases, and without lines that are broken for their length. */
export function yamlText(document: JsonObject): string {
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' })
}

/** A closed list of values, as the contract has it (D6). */
export function closedListRule(validValues: readonly string[]): JsonObject {
  return { metric: 'invalidValues', arguments: { validValues }, mustBe: 0 }
}
