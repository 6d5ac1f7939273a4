import { ValidationError } from '../../../errors/service-error.ts'
import { makeCheckpoint, proveConsistency, proveEntry, readCheckpoint } from '../../../sheet/proof/prove.ts'
import { NoQuery } from '../../../wire/definition/contract.ts'
import {
  CheckpointAnswer,
  CheckpointBody,
  ConsistencyAnswer,
  ConsistencyQuery,
  ProofAnswer,
  ProofQuery,
  toCheckpointAnswer,
  toConsistencyAnswer,
  toProofAnswer,
} from '../../../wire/records/log.ts'
import { wholeNumber } from '../../../wire/schema/page-parameters.ts'
import type { Operation } from '../../openapi/operation.ts'
import type { Api, RouteContext } from '../route-context.ts'

const GET: Operation = {
  id: 'getCheckpoint',
  tag: 'Provenance',
  summary: 'Get the last checkpoint of the log',
  description: 'A state of the log that others can keep: no line that it covers can be changed unnoticed.',
  errors: [404],
}

const MAKE: Operation = {
  id: 'makeCheckpoint',
  tag: 'Provenance',
  summary: 'Make a checkpoint of the log',
  description:
    'Of all lines of the log, signed where the server has a key. Without lines since the last checkpoint, that one.',
  errors: [404],
}

const PROOF: Operation = {
  id: 'getProof',
  tag: 'Provenance',
  summary: 'Prove an entry of the log',
  description:
    'That the line of an entry, or of the latest entry of a cell, is in the log of the last checkpoint: an inclusion proof of RFC 6962.',
  errors: [404],
}

const CONSISTENCY: Operation = {
  id: 'getConsistency',
  tag: 'Provenance',
  summary: 'Prove that the log was only appended to',
  description:
    'That an earlier state of the log is the beginning of a later one: a consistency proof of RFC 6962.',
  errors: [404],
}

/** `/api/log`: checkpoints of the log, and proofs. */
export function logRoutes(app: Api, { sheet, read, write }: RouteContext): void {
  app.get(
    '/api/log/checkpoint',
    {
      ...read,
      schema: { querystring: NoQuery, response: { 200: CheckpointAnswer } },
      config: { operation: GET },
    },
    async () => toCheckpointAnswer(await readCheckpoint(sheet)),
  )

  const makeSchema = { querystring: NoQuery, body: CheckpointBody, response: { 200: CheckpointAnswer } }
  app.post('/api/log/checkpoint', { ...write, schema: makeSchema, config: { operation: MAKE } }, async () =>
    toCheckpointAnswer(await makeCheckpoint(sheet)),
  )

  const proofSchema = { querystring: ProofQuery, response: { 200: ProofAnswer } }
  app.get(
    '/api/log/proof',
    { ...read, schema: proofSchema, config: { operation: PROOF } },
    async ({ query }) => {
      const { seq: text, record_id: recordId, field } = query
      const seq = wholeNumber(text)
      if (seq !== null && recordId === undefined && field === undefined) {
        return toProofAnswer(await proveEntry(sheet, { seq }))
      }
      if (seq === null && recordId !== undefined && field !== undefined) {
        return toProofAnswer(await proveEntry(sheet, { recordId, field }))
      }
      throw new ValidationError(
        'give either seq, for an entry of the log, or record_id and field, for the latest entry of a cell',
        'conflicting_parameters',
      )
    },
  )

  const consistencySchema = { querystring: ConsistencyQuery, response: { 200: ConsistencyAnswer } }
  app.get(
    '/api/log/consistency',
    { ...read, schema: consistencySchema, config: { operation: CONSISTENCY } },
    async ({ query }) => {
      const [from, to] = [wholeNumber(query.from) ?? 0, wholeNumber(query.to)]
      return toConsistencyAnswer(await proveConsistency(sheet, { from, to }))
    },
  )
}
