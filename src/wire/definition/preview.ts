import { Type, type Static } from 'typebox'
import type { MAX_PREVIEWED, Preview } from '../../sheet/preview/preview-derivation.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'

/** The most records of a preview: that of `preview-derivation.ts`. */
const MOST: typeof MAX_PREVIEWED = 50

/** Body of `POST /api/derivations/preview`. */
export const PreviewBody = closedObject({
  file: Type.String({
    title: 'a file name',
    description: 'The name of the derivation file. It need not exist if there is a `text`.',
  }),
  text: Type.Optional(Type.String({ description: 'A new text of the file; the present one when absent.' })),
  contract: Type.Optional(
    Type.String({
      description:
        'A new text of the contract, such as one with a further field; the present one when absent.',
    }),
  ),
  record_ids: Type.Optional(
    Type.Array(Type.String(), { title: 'a list of record ids', description: `At most ${MOST}.` }),
  ),
  sample: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST,
      title: `an integer from 1 to ${MOST}`,
      description: 'Records of a sample (default: 5); without effect beside `record_ids`.',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({ title: 'an integer', description: 'Chooses the records of the sample (default: 0).' }),
  ),
  max_cost: Type.Optional(
    Type.Number({
      minimum: 0,
      title: 'a number of dollars',
      description: 'The most dollars that the calls may cost.',
    }),
  ),
  actor: Type.Optional(actorMember('The actor who previews; the server default when absent.')),
})

const FailureAnswer = Type.Object({
  error: Type.String(),
  error_type: Type.String(),
  reason: Type.Union([Type.String(), Type.Null()]),
  response_body: Type.Optional(Type.String()),
})

/** The result of one record. */
export const RecordPreviewAnswer = Type.Object({
  record_id: Type.String(),
  outcome: Type.String({
    description: '`computed`, `failed`, `blocked` by an input, `skipped`, or `left` because of `max_cost`.',
  }),
  inputs: Type.Record(Type.String(), Type.Unknown()),
  request: Type.Union([Type.String(), Type.Null()], {
    description: 'The computation, for http its method and URL; null if nothing is computed.',
  }),
  values: Type.Record(Type.String(), Type.Unknown(), { description: 'The values by target.' }),
  failures: Type.Record(Type.String(), FailureAnswer, {
    description: 'The failures of targets without a value.',
  }),
  blocked_by: Type.Union([Type.Object({ reason: Type.String(), field: Type.String() }), Type.Null()], {
    description: 'The input because of which nothing is computed.',
  }),
  evidence: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
    description: 'What the provenance of the values would say of the computation.',
  }),
  response: Type.Union([Type.Object({ status: Type.Integer(), body: Type.String() }), Type.Null()], {
    description: 'The response behind the values, its first 16,384 characters; null if none is kept.',
  }),
  cut: Type.Array(Type.String(), { description: 'The inputs, values and responses that are cut off.' }),
  calls: Type.Integer(),
  cost: Type.Number({ description: 'Dollars.' }),
  ms: Type.Integer({ description: 'Milliseconds, with the wait for other calls.' }),
})

/** Response of `POST /api/derivations/preview`. */
export const PreviewAnswer = Type.Object({
  file: Type.String(),
  targets: Type.Array(Type.String()),
  records: Type.Array(RecordPreviewAnswer),
  calls: Type.Integer({ description: 'Calls that were made.' }),
  total_cost: Type.Number({ description: 'Dollars.' }),
  unpriced_calls: Type.Integer({ description: 'Of the calls, those without a known price.' }),
  parallel: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The calls that a run makes at the same time at most; null if it calls no host.',
  }),
})
export type PreviewAnswer = Static<typeof PreviewAnswer>

/** Converts a preview to the wire format. */
export function toPreviewAnswer({ records, totalCost, unpricedCalls, ...preview }: Preview): PreviewAnswer {
  return {
    file: preview.file,
    targets: [...preview.targets],
    records: records.map(({ recordId, failures, block, cut, unpricedCalls: _, ...record }) => ({
      ...record,
      record_id: recordId,
      failures: Object.fromEntries(
        Object.entries(failures).map(([target, { error, errorType, reason, responseBody }]) => [
          target,
          {
            error,
            error_type: errorType,
            reason,
            ...(responseBody !== undefined && { response_body: responseBody }),
          },
        ]),
      ),
      blocked_by: block === null ? null : { reason: block.reason, field: block.field },
      cut: [...cut],
    })),
    calls: preview.calls,
    total_cost: totalCost,
    unpriced_calls: unpricedCalls,
    parallel: preview.parallel,
  }
}
