import { Type, type Static } from 'typebox'
import type { EntryProof } from '../../proof/entry-proof.ts'
import type { ConsistencyProof, LogCheckpoint } from '../../sheet/proof/prove.ts'
import { closedObject } from '../schema/closed-object.ts'
import { FieldName } from '../schema/names.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { WHOLE_NUMBER } from '../schema/page-parameters.ts'

const wholeNumber = { pattern: WHOLE_NUMBER, title: 'a whole number', ...inDocument({ minimum: 1 }) } as const

/** Body of `POST /api/log/checkpoint`. */
export const CheckpointBody = closedObject({})

/** Query of `GET /api/log/proof`. */
export const ProofQuery = closedObject({
  seq: Type.Optional(Type.String({ ...wholeNumber, description: 'The entry; or `record_id` and `field`.' })),
  record_id: Type.Optional(
    Type.String({ minLength: 1, title: 'a record id', ...inDocument({ exampleOf: 'recordId' }) }),
  ),
  field: Type.Optional(
    Type.String({
      minLength: 1,
      title: 'a field name',
      description: 'With `record_id`, the cell whose latest entry is proved.',
      ...inDocument({ allOf: [FieldName], minLength: undefined, exampleOf: 'field' }),
    }),
  ),
})

/** Query of `GET /api/log/consistency`. */
export const ConsistencyQuery = closedObject({
  from: Type.String({ ...wholeNumber, description: 'The number of lines of the earlier state.' }),
  to: Type.Optional(
    Type.String({ ...wholeNumber, description: 'That of the later one; the last checkpoint when absent.' }),
  ),
})

/** Response of `GET` and `POST /api/log/checkpoint`. */
export const CheckpointAnswer = Type.Object({
  origin: Type.String({ description: 'The name of the log, which no other log has.' }),
  size: Type.Integer({ description: 'The number of lines that it covers.' }),
  seq: Type.Integer({ description: 'The `seq` of the last of them.' }),
  root: Type.String({ description: 'The root hash of the Merkle tree of the lines (RFC 6962), in base64.' }),
  at: Type.String(),
  signers: Type.Array(Type.String(), { description: 'The names of the keys that have signed it.' }),
  note: Type.String({
    description: 'The text of the checkpoint (C2SP tlog-checkpoint), to be kept elsewhere.',
  }),
})
export type CheckpointAnswer = Static<typeof CheckpointAnswer>

/** Response of `GET /api/log/proof`, and the file of `colophon proof`. */
export const ProofAnswer = Type.Object({
  cell: Type.Union([
    Type.Object({ record_id: Type.String(), field: Type.String(), value: Type.Unknown() }),
    Type.Null(),
  ]),
  seq: Type.Integer(),
  line: Type.String({ description: 'The line of the log.' }),
  index: Type.Integer({ description: 'The number of lines before it.' }),
  hashes: Type.Array(Type.String(), { description: 'The inclusion proof (RFC 6962), in base64.' }),
  checkpoint: Type.String({ description: 'The text of the checkpoint for which it holds.' }),
})
export type ProofAnswer = Static<typeof ProofAnswer>

/** Response of `GET /api/log/consistency`. */
export const ConsistencyAnswer = Type.Object({
  from: Type.Integer(),
  to: Type.Integer(),
  hashes: Type.Array(Type.String(), { description: 'The consistency proof (RFC 6962), in base64.' }),
})
export type ConsistencyAnswer = Static<typeof ConsistencyAnswer>

/** Converts a checkpoint to the wire format. */
export function toCheckpointAnswer({ signers, ...checkpoint }: LogCheckpoint): CheckpointAnswer {
  return { ...checkpoint, signers: [...signers] }
}

/** Converts a proof of an entry to the wire format. */
export function toProofAnswer({ cell, hashes, ...proof }: EntryProof): ProofAnswer {
  return { cell, ...proof, hashes: [...hashes] }
}

/** Converts a proof of consistency to the wire format. */
export function toConsistencyAnswer({ hashes, ...proof }: ConsistencyProof): ConsistencyAnswer {
  return { ...proof, hashes: [...hashes] }
}
