import { httpEvidence, otherEvidence } from '../../../../src/wire/records/evidence.ts'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'

/** A fact about the computation of a value by a kind other than `http`. */
export interface EvidenceFact {
  readonly name: string
  readonly value: unknown
}

/** Returns the evidence of a kind other than `http`, each member with its name in words. */
export function entryEvidence(entry: ProvenanceEntryAnswer): readonly EvidenceFact[] {
  return otherEvidence(entry).map(([name, value]) => ({ name: inWords(name), value }))
}

/** Returns whether a computed value came from the cache, as the kind of its derivation computes; null for any other entry. */
export function cachedText(entry: ProvenanceEntryAnswer): string | null {
  const { cached } = entry
  if (cached === undefined) return null
  const [yes, no] =
    httpEvidence(entry).url === undefined ? ['Yes', 'No'] : ['Yes, without a call', 'No, with a call']
  return cached ? yes : no
}

function inWords(name: string): string {
  const words = name.replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
