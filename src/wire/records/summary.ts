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
        'Limits `top` to the values, or items, that contain this text in any case; those that begin with it come first.',
      ...inDocument({ pattern: STORABLE }),
    }),
  ),
})

const place = Type.Union([Type.Number(), Type.String()])

/** The values of one field, summarized. */
export const FieldSummaryAnswer = Type.Object({
  nulls: Type.Integer({ description: 'Records without a value.' }),
  histogram: Type.Optional(
    Type.Object({
      from: place,
      to: place,
      step: Type.Number({ description: 'Width of a range: in days for dates, in seconds for timestamps.' }),
      counts: Type.Array(Type.Integer()),
    }),
  ),
  distinct: Type.Optional(
    Type.Integer({ description: 'Number of distinct values; for arrays, of distinct items.' }),
  ),
  top: Type.Optional(Type.Array(Type.Object({ value: Type.Unknown(), count: Type.Integer() }))),
})
export type FieldSummaryAnswer = Static<typeof FieldSummaryAnswer>

/** Response of `GET /api/summary`: the text that the store returns. */
export const SummaryAnswer = Type.Object({
  count: Type.Integer({ description: 'Number of records that match the filter.' }),
  fields: Type.Record(Type.String(), FieldSummaryAnswer),
})
export type SummaryAnswer = Static<typeof SummaryAnswer>
