import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { filterParameter, whereParameter } from '../schema/conditions.ts'
import { inDocument, STORABLE } from '../schema/openapi-keywords.ts'
import { fieldsParameter } from '../schema/page-parameters.ts'

/** Query of `GET /api/summary`. */
export const SummaryQuery = closedObject({
  fields: Type.Optional(fieldsParameter('Comma-separated field names; none when absent.')),
  filter: Type.Optional(filterParameter),
  where: Type.Optional(whereParameter),
  search: Type.Optional(
    Type.String({
      description:
        'A text: `top` has the values, or items, that have it in them, whatever its case; those that begin with it first.',
      ...inDocument({ pattern: STORABLE }),
    }),
  ),
})

const place = Type.Union([Type.Number(), Type.String()])

/** What the records have in one field. */
export const FieldSummaryAnswer = Type.Object({
  nulls: Type.Integer({ description: 'Records without a value.' }),
  histogram: Type.Optional(
    Type.Object({
      from: place,
      to: place,
      step: Type.Number({ description: 'Width of a range; of dates in days, of timestamps in seconds.' }),
      counts: Type.Array(Type.Integer()),
    }),
  ),
  distinct: Type.Optional(Type.Integer({ description: 'Different values; of arrays, different items.' })),
  top: Type.Optional(Type.Array(Type.Object({ value: Type.Unknown(), count: Type.Integer() }))),
})
export type FieldSummaryAnswer = Static<typeof FieldSummaryAnswer>

/** Answer of `GET /api/summary`, sent as the store made it. */
export const SummaryAnswer = Type.Object({
  count: Type.Integer({ description: 'Records that the filter lets through.' }),
  fields: Type.Record(Type.String(), FieldSummaryAnswer),
})
export type SummaryAnswer = Static<typeof SummaryAnswer>
