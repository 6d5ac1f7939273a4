import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { FieldName } from '../schema/names.ts'
import { flagParameter, limitParameter } from '../schema/page-parameters.ts'
import { asOfParameter } from './records.ts'

/** Query of `GET /api/provenance`. */
export const ProvenanceQuery = closedObject({
  record_id: Type.String({ minLength: 1, title: 'a record id', ...inDocument({ exampleOf: 'recordId' }) }),
  field: Type.Optional(
    Type.String({
      minLength: 1,
      title: 'a field name',
      description: 'Required without `history=true`; with it, all fields of the record when absent.',
      ...inDocument({ allOf: [FieldName], minLength: undefined, exampleOf: 'field' }),
    }),
  ),
  as_of: Type.Optional(asOfParameter),
  history: Type.Optional(flagParameter('`true` for all entries, oldest first; otherwise only the latest.')),
  limit: Type.Optional(
    Type.String({
      ...limitParameter,
      description: 'With `history=true`, entries on a page (default: 1000, maximum: 10000).',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      title: 'a cursor',
      description: 'With `history=true`, the start of the page: from the header `Link` of the previous page.',
    }),
  ),
})

/** A provenance entry of one cell (D33). */
export const ProvenanceEntryAnswer = Type.Object({
  seq: Type.Integer(),
  at: Type.String(),
  actor: Type.String(),
  source: Type.String({
    description: '`http`, `write`, `delete`, `import`, `revert`, `erase`, or the name of another kind.',
  }),
  record_id: Type.String(),
  field: Type.String(),
  value: Type.Unknown(),
  previous: Type.Unknown({ description: 'The value before.' }),
  proposal: Type.Optional(
    Type.String({ description: 'For an accepted proposal, its id; `actor` is the actor who accepted it.' }),
  ),
  proposed_by: Type.Optional(
    Type.String({ description: 'For an accepted proposal, the actor who proposed it.' }),
  ),
  file: Type.Optional(Type.String({ description: 'For an import, the file.' })),
  reverts: Type.Optional(Type.Integer({ description: 'For a revert, the entry that was undone.' })),
  input_hash: Type.Optional(Type.String()),
  derivation: Type.Optional(Type.String()),
  run_id: Type.Optional(Type.String({ description: 'The run that wrote it.' })),
  cached: Type.Optional(Type.Boolean()),
  received_at: Type.Optional(
    Type.String({ description: 'For a value from a kept response, the time when that was received.' }),
  ),
  keeps: Type.Optional(
    Type.Integer({
      description:
        'For a cell that was marked as fresh after an edit of its derivation, the entry whose value was kept.',
    }),
  ),
  erased: Type.Optional(
    Type.String({
      description:
        'For an entry from which values were erased, the hash that its line had in the Merkle tree.',
    }),
  ),
  erased_fields: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The fields whose values were erased from the line of the entry: null is in their place.',
    }),
  ),
  method: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer()),
  duration_ms: Type.Optional(Type.Number()),
})
export type ProvenanceEntryAnswer = Static<typeof ProvenanceEntryAnswer>

/**
 * Response of `GET /api/provenance`: the latest entry or null; with `history=true` an array (D35), whose next page is in the
 * header `Link`.
 */
export const ProvenanceAnswer = Type.Union([
  ProvenanceEntryAnswer,
  Type.Null(),
  Type.Array(ProvenanceEntryAnswer),
])
export type ProvenanceAnswer = Static<typeof ProvenanceAnswer>
