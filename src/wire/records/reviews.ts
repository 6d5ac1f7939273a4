import { Type, type Static } from 'typebox'
import type { ReviewList } from '../../sheet/cells/read-reviews.ts'
import type { MAX_REVIEWED, ReviewReport } from '../../sheet/writes/review-cells.ts'
import type { CellWriter } from '../../store/stored-writer.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { FieldName } from '../schema/names.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { cursorParameter, flagParameter, idsParameter, limitParameter } from '../schema/page-parameters.ts'
import { noteText } from './proposals.ts'

/** The most cells that a request reviews: that of `review-cells.ts`. */
const MOST: typeof MAX_REVIEWED = 100

const verdict = Type.Union([Type.Literal('approved'), Type.Literal('flagged')], {
  title: 'approved or flagged',
})
const recordId = { minLength: 1, title: 'a record id', ...inDocument({ exampleOf: 'recordId' }) } as const
const field = {
  minLength: 1,
  title: 'a field name',
  ...inDocument({ allOf: [FieldName], minLength: undefined, exampleOf: 'field' }),
} as const

/** Query of `GET /api/reviews`. */
export const ReviewsQuery = closedObject({
  record_id: Type.Optional(
    Type.String({ ...recordId, description: 'Only reviews of cells of this record.' }),
  ),
  field: Type.Optional(Type.String({ ...field, description: 'Only reviews of cells of this field.' })),
  verdict: Type.Optional(verdict),
  ended: Type.Optional(flagParameter('`true` for those that have ended as well.')),
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(cursorParameter('A `next_cursor` of this list, for the same other parameters.')),
})

/** Body of `POST /api/reviews`. */
export const ReviewBody = closedObject({
  cells: Type.Array(
    closedObject({
      record_id: Type.String(recordId),
      field: Type.String(field),
      value: Type.Optional(
        Type.Unknown({ description: 'The value that was seen: the request fails if the cell has another.' }),
      ),
    }),
    { minItems: 1, maxItems: MOST, title: 'a list of cells', description: 'The cells to review.' },
  ),
  verdict: Type.Union([Type.Literal('approved'), Type.Literal('flagged'), Type.Null()], {
    title: 'approved, flagged or null',
    description: '`null` ends the reviews of the cells.',
  }),
  note: Type.Optional(noteText('The reason, for others; at most 2,000 characters.')),
  actor: Type.Optional(actorMember('The actor who reviews; the server default when absent.')),
})

/** Response of `POST /api/reviews`. */
export const ReviewAnswer = Type.Object({
  reviewed: Type.Integer({ description: 'The number of reviewed cells.' }),
  seq: Type.Integer({ description: 'The `seq` of the last line of the log.' }),
})
export type ReviewAnswer = Static<typeof ReviewAnswer> & ReviewReport

/** A review of the value of a cell. */
export const CellReviewAnswer = Type.Object({
  seq: Type.Integer({ description: 'The number of its line in the log.' }),
  at: Type.String(),
  actor: Type.String(),
  record_id: Type.String(),
  field: Type.String(),
  verdict,
  note: Type.Union([Type.String(), Type.Null()]),
  active: Type.Boolean({
    description: 'Whether it is in force: the value has not changed since, and there is no later review.',
  }),
})
export type CellReviewAnswer = Static<typeof CellReviewAnswer>

/** Response of `GET /api/reviews`. */
export const ReviewListAnswer = Type.Object({
  reviews: Type.Array(CellReviewAnswer),
  counts: Type.Object(
    { approved: Type.Integer(), flagged: Type.Integer() },
    { description: 'The cells of the sheet with a review in force.' },
  ),
  writers: Type.Object(
    {
      actors: Type.Array(Type.Object({ actor: Type.String(), cells: Type.Integer() })),
      latest_run: Type.Union([
        Type.Object({ run_id: Type.String(), actor: Type.String(), cells: Type.Integer() }),
        Type.Null(),
      ]),
    },
    {
      description:
        'Who has written the present values of the sheet: the 1,000 actors with the most cells, and the latest run. Values of `records.jsonl` have no writer.',
    },
  ),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})
export type ReviewListAnswer = Static<typeof ReviewListAnswer>

/** Converts reviews to the wire format. */
export function toReviewListAnswer({ reviews, counts, writers, nextCursor }: ReviewList): ReviewListAnswer {
  const { actors, latestRun } = writers
  return {
    reviews: reviews.map(({ recordId: id, isActive, ...review }) => ({
      ...review,
      record_id: id,
      active: isActive,
    })),
    counts,
    writers: {
      actors: [...actors],
      latest_run:
        latestRun === null ? null : { run_id: latestRun.run, actor: latestRun.actor, cells: latestRun.cells },
    },
    next_cursor: nextCursor,
  }
}

/** Query of `GET /api/cells/writers`. */
export const CellWritersQuery = closedObject({
  ids: idsParameter('Comma-separated record ids, 1 to 1000.', { maxItems: 1000 }),
  by: Type.Optional(
    Type.String({
      description:
        'Only values that one of these actors has written: comma-separated patterns such as `agent:*`.',
    }),
  ),
  by_run: Type.Optional(
    Type.String({
      description: 'Only values that one of these runs has written: comma-separated ids. With `by`, either.',
    }),
  ),
})

/** Response of `GET /api/cells/writers`. */
export const CellWritersAnswer = Type.Object({
  cells: Type.Array(
    Type.Object({
      record_id: Type.String(),
      field: Type.String(),
      actor: Type.String({ description: 'Who has written the present value.' }),
      run_id: Type.Union([Type.String(), Type.Null()], { description: 'The run in which it was written.' }),
    }),
  ),
})
export type CellWritersAnswer = Static<typeof CellWritersAnswer>

/** Converts writers to the wire format. */
export function toCellWritersAnswer(cells: readonly CellWriter[]): CellWritersAnswer {
  return {
    cells: cells.map(({ recordId: id, run, ...cell }) => ({ ...cell, record_id: id, run_id: run })),
  }
}
