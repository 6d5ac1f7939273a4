import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'

/** Entries of the field `rate` of the record `chf` for tests. */
export const NOW = Date.parse('2026-03-10T12:00:00.000Z')

export function entryOf(
  change: Partial<ProvenanceEntryAnswer> & { readonly seq: number },
): ProvenanceEntryAnswer {
  return {
    at: '2026-03-10T11:57:00.000Z',
    actor: 'human:ann',
    source: 'write',
    record_id: 'chf',
    field: 'rate',
    value: 1,
    previous: null,
    ...change,
  }
}

export function computedEntry(
  change: Partial<ProvenanceEntryAnswer> & { readonly seq: number },
): ProvenanceEntryAnswer {
  return entryOf({
    actor: 'agent:pricing',
    source: 'http',
    derivation: 'rate.yaml',
    input_hash: 'sha256:ab',
    run_id: '4',
    cached: false,
    method: 'GET',
    url: 'https://rates.example/chf',
    status: 200,
    duration_ms: 120,
    ...change,
  })
}
