import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'

/** The members of entries that are not evidence, or evidence of `http`, which has its own facts. */
const KNOWN: Readonly<Record<keyof ProvenanceEntryAnswer, true>> = {
  seq: true,
  at: true,
  actor: true,
  source: true,
  record_id: true,
  field: true,
  value: true,
  previous: true,
  proposal: true,
  proposed_by: true,
  file: true,
  reverts: true,
  input_hash: true,
  derivation: true,
  run_id: true,
  cached: true,
  received_at: true,
  keeps: true,
  method: true,
  url: true,
  status: true,
  duration_ms: true,
}

/** A fact about the computation of a value by a kind other than `http`. */
export interface EvidenceFact {
  readonly name: string
  readonly value: unknown
}

/** Returns the evidence of a kind other than `http`, each member with its name in words. */
export function entryEvidence(entry: ProvenanceEntryAnswer): readonly EvidenceFact[] {
  return Object.entries(entry)
    .filter(([name]) => !Object.hasOwn(KNOWN, name))
    .map(([name, value]: [string, unknown]) => ({ name: inWords(name), value }))
}

/** Returns whether a computed value came from the cache, as the kind of its derivation computes; null for any other entry. */
export function cachedText({ cached, url }: ProvenanceEntryAnswer): string | null {
  if (cached === undefined) return null
  const [yes, no] = url === undefined ? ['Yes', 'No'] : ['Yes, without a call', 'No, with a call']
  return cached ? yes : no
}

function inWords(name: string): string {
  const words = name.replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
