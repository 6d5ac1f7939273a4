import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { FieldName } from '../schema/names.ts'
import { flagParameter, limitParameter } from '../schema/page-parameters.ts'

/** Query of `GET /api/provenance`. */
export const ProvenanceQuery = closedObject({
  record_id: Type.String({ minLength: 1, title: 'a record id', ...inDocument({ exampleOf: 'recordId' }) }),
  field: Type.String({
    minLength: 1,
    title: 'a field name',
    ...inDocument({ allOf: [FieldName], minLength: undefined, exampleOf: 'field' }),
  }),
  history: Type.Optional(
    flagParameter('`true` for the full chain, oldest first; else only the latest entry.'),
  ),
  limit: Type.Optional(
    Type.String({
      ...limitParameter,
      description: 'With `history=true`, entries on a page: 1000 unless given, lowered to 10000.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      title: 'a cursor',
      description: 'With `history=true`, where the page starts: from the `Link` of the page before.',
    }),
  ),
})

/** A provenance entry of one cell (D33). */
export const ProvenanceEntryAnswer = Type.Object({
  seq: Type.Integer(),
  at: Type.String(),
  actor: Type.String(),
  source: Type.String({
    description: '`http`, `write`, `delete`, `import`, `revert`, or the name of another kind.',
  }),
  record_id: Type.String(),
  field: Type.String(),
  value: Type.Unknown(),
  previous: Type.Unknown({ description: 'The value before.' }),
  proposal: Type.Optional(
    Type.String({ description: 'Of an accepted proposal, its id; `actor` is who accepted it.' }),
  ),
  proposed_by: Type.Optional(Type.String({ description: 'Of an accepted proposal, who proposed it.' })),
  file: Type.Optional(Type.String({ description: 'Of an import, the file.' })),
  reverts: Type.Optional(Type.Integer({ description: 'Of a revert, the entry that was undone.' })),
  input_hash: Type.Optional(Type.String()),
  derivation: Type.Optional(Type.String()),
  run_id: Type.Optional(Type.String({ description: 'The run that wrote it.' })),
  cached: Type.Optional(Type.Boolean()),
  received_at: Type.Optional(
    Type.String({ description: 'Of a value from a kept response, when that was received.' }),
  ),
  keeps: Type.Optional(
    Type.Integer({
      description:
        'Of a cell that was marked as fresh after an edit of its derivation, the entry whose value was kept.',
    }),
  ),
  method: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer()),
  duration_ms: Type.Optional(Type.Number()),
})
export type ProvenanceEntryAnswer = Static<typeof ProvenanceEntryAnswer>

/** Answer of `GET /api/provenance`: the latest entry or null, with `history=true` an array (D35), the header `Link` says where it goes on. */
export const ProvenanceAnswer = Type.Union([
  ProvenanceEntryAnswer,
  Type.Null(),
  Type.Array(ProvenanceEntryAnswer),
])
export type ProvenanceAnswer = Static<typeof ProvenanceAnswer>
