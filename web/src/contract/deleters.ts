import type { ContractDocument } from '../api/contract.ts'

interface WithProperties {
  readonly customProperties?: readonly { readonly property: string; readonly value: unknown }[]
}

/** Returns the patterns of actors that may delete records; null if all may. */
export function deletersOf(document: ContractDocument & WithProperties): readonly string[] | null {
  // The contract has it in one of two places, never in both.
  const schema = document.schema[0] as WithProperties
  const properties = [...(document.customProperties ?? []), ...(schema.customProperties ?? [])]
  const value = properties.find(({ property }) => property === 'deletableBy')?.value
  if (!Array.isArray(value)) return null
  const patterns = value.filter((each) => typeof each === 'string')
  return patterns.includes('*') ? null : patterns
}
