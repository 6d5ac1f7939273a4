import { stringify } from 'yaml'
import type { JsonObject } from '../../contract/json/json.ts'

/** The contents of a contract to write. */
export interface ContractFacts {
  /** The contract's id. */
  readonly id: string
  /** The name of its schema entry. */
  readonly entry: string
  readonly description: string | null
  /** The properties in the order of the fields. */
  readonly properties: readonly JsonObject[]
}

/** Returns the text of a contract with these properties. */
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

/** Returns YAML without aliases and without line folding. */
export function yamlText(document: JsonObject): string {
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' })
}

/** Returns a closed list of values as a quality rule (D6). */
export function closedListRule(validValues: readonly string[]): JsonObject {
  return { metric: 'invalidValues', arguments: { validValues }, mustBe: 0 }
}
