import type { ProvenanceEntryAnswer } from './provenance.ts'

type Entry = ProvenanceEntryAnswer

/** The members of entries that the schema lists: those of every kind, and the evidence of `http`. */
const LISTED: Readonly<Record<keyof Entry, 'common' | 'http'>> = {
  seq: 'common',
  at: 'common',
  actor: 'common',
  source: 'common',
  record_id: 'common',
  field: 'common',
  value: 'common',
  previous: 'common',
  proposal: 'common',
  proposed_by: 'common',
  file: 'common',
  reverts: 'common',
  input_hash: 'common',
  derivation: 'common',
  run_id: 'common',
  cached: 'common',
  received_at: 'common',
  erased: 'common',
  erased_fields: 'common',
  keeps: 'common',
  method: 'http',
  url: 'http',
  status: 'http',
  duration_ms: 'http',
}

/** The evidence that `http` adds to an entry. */
export type HttpEvidence = Pick<Entry, 'method' | 'url' | 'status' | 'duration_ms'>

/** Returns the evidence of `http` in an entry; an empty object for any other source, whose members of these names mean something else. */
export function httpEvidence(entry: Entry): HttpEvidence {
  return entry.source === 'http' ? entry : {}
}

/** The kinds whose values take a call. */
const CALLING: ReadonlySet<string> = new Set(['http', 'ai'])

/** Whether the value of an entry takes a call unless it comes from the cache. */
export function isCall({ source }: Entry): boolean {
  return CALLING.has(source)
}

/** Returns the evidence of a kind other than `http`, in the order of the entry. */
export function otherEvidence(entry: Entry): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(entry).filter(([name]) => {
    const listed = Object.hasOwn(LISTED, name) ? LISTED[name as keyof Entry] : null
    return listed === null || (listed === 'http' && entry.source !== 'http')
  })
}
