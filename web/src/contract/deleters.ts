import type { ContractDocument } from '../api/contract.ts'

interface WithProperties {
  readonly customProperties?: readonly { readonly property: string; readonly value: unknown }[]
}

/** Who may delete records, as patterns; null when anybody may. */
export function deletersOf(document: ContractDocument & WithProperties): readonly string[] | null {
  // It stands in one of the two places, never in both.
  const schema = document.schema[0] as WithProperties
  const properties = [...(document.customProperties ?? []), ...(schema.customProperties ?? [])]
  const value = properties.find(({ property }) => property === 'deletableBy')?.value
  if (!Array.isArray(value)) return null
  const patterns = value.filter((each) => typeof each === 'string')
  return patterns.includes('*') ? null : patterns
}
