import { readReviews } from '../../../sheet/cells/read-reviews.ts'
import { reviewCells, type ReviewCellsRequest } from '../../../sheet/writes/review-cells.ts'
import { NoQuery } from '../../../wire/definition/contract.ts'
import {
  ReviewAnswer,
  ReviewBody,
  ReviewListAnswer,
  ReviewsQuery,
  toReviewListAnswer,
} from '../../../wire/records/reviews.ts'
import { wholeNumber } from '../../../wire/schema/page-parameters.ts'
import type { Operation } from '../../openapi/operation.ts'
import type { Api, RouteContext } from '../route-context.ts'

const LIST: Operation = {
  id: 'listReviews',
  tag: 'Provenance',
  summary: 'List the reviews of cells',
  description: 'Newest first: those in force, or with `ended=true` all.',
  errors: [404],
}

const REVIEW: Operation = {
  id: 'reviewCells',
  tag: 'Provenance',
  summary: 'Approve or flag the values of cells',
  description:
    'All or none. Each review is a line of the log. It ends when the cell gets another value, or another review.',
  errors: [404, 409],
}

type Seen = ReviewCellsRequest['cells'][number]['seen']

/** `/api/reviews`: the reviews of cells. */
export function reviewsRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  const listSchema = { querystring: ReviewsQuery, response: { 200: ReviewListAnswer } }
  app.get('/api/reviews', { ...read, schema: listSchema, config: { operation: LIST } }, async ({ query }) =>
    toReviewListAnswer(
      await readReviews(sheet, {
        recordId: query.record_id ?? null,
        field: query.field ?? null,
        verdict: query.verdict ?? null,
        ended: query.ended === 'true',
        limit: wholeNumber(query.limit),
        cursor: query.cursor ?? null,
      }),
    ),
  )

  const schema = { querystring: NoQuery, body: ReviewBody, response: { 200: ReviewAnswer } }
  app.post('/api/reviews', { ...write, schema, config: { operation: REVIEW } }, (request) => {
    const { cells, verdict, note = null, actor } = request.body
    return reviewCells(sheet, {
      cells: cells.map(({ record_id: recordId, field, value }) => ({
        recordId,
        field,
        // The body arrived as JSON.
        seen: value as Seen,
      })),
      verdict,
      note,
      actor: actors.ofBody(request, actor),
    })
  })
}
