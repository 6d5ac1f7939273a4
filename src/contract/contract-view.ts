import type { Contract, Field } from './contract.ts'
import type { JsonObject } from './json/json.ts'
import { parseYamlFile } from './yaml/yaml-file.ts'

/** The derivation of a field in the responses about the contract. */
export interface Derived {
  /** The name of the derivation file. */
  readonly derivation: string
  readonly kind: string
  readonly inputs: readonly string[]
}

/**
 * Returns the contract as `GET /api/contract` does (D8): the document with its defaults, and `derived` on each
 * property that a derivation targets.
 */
export function describeContract(contract: Contract, derived: ReadonlyMap<string, Derived>): JsonObject {
  const [entry] = contract.document['schema'] as readonly [JsonObject]
  const properties = (entry['properties'] as readonly JsonObject[]).map((property, index) => {
    const field = contract.fields[index]!
    const how = derived.get(field.name)
    if (!how) return property
    return { ...property, derived: { derivation: how.derivation, kind: how.kind, inputs: how.inputs } }
  })
  return { ...contract.document, schema: [{ ...entry, properties }] }
}

/**
 * Checks that `x-derived` and `x-inputs` match the derivations (D7), inputs in any order. Throws ContractError with
 * the line in the contract, whose name is `file`.
 */
export function checkDeclared(
  contract: Contract,
  derived: ReadonlyMap<string, Derived>,
  file = 'contract.yaml',
): void {
  for (const [index, field] of contract.fields.entries()) {
    const fault = declarationError(field, derived.get(field.name))
    if (!fault) continue
    parseYamlFile(contract.text, file).fail(['schema', 0, 'properties', index, fault.key], fault.message)
  }
}

function declarationError(field: Field, how: Derived | undefined): { key: string; message: string } | null {
  const { name, declaredDerived, declaredInputs } = field
  if (declaredDerived === true && !how) {
    return { key: 'x-derived', message: `"${name}" has x-derived: true, but no derivation targets it` }
  }
  if (declaredDerived === false && how) {
    return { key: 'x-derived', message: `"${name}" has x-derived: false, but ${how.derivation} targets it` }
  }
  if (declaredInputs === null) return null
  if (!how) return { key: 'x-inputs', message: `"${name}" has x-inputs, but no derivation targets it` }
  const inputs = new Set(how.inputs)
  const declared = new Set(declaredInputs)
  if (inputs.symmetricDifference(declared).size === 0) return null
  const [told, found] = [[...declared].join(', '), [...inputs].join(', ')]
  return {
    key: 'x-inputs',
    message: `x-inputs of "${name}" lists ${told}, but ${how.derivation} uses ${found}`,
  }
}
