import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { filterParameter, whereParameter } from '../schema/conditions.ts'
import { FieldName } from '../schema/names.ts'
import { inDocument, STORABLE } from '../schema/openapi-keywords.ts'
import { fieldsParameter } from '../schema/page-parameters.ts'

function fieldParameter(description: string) {
  return Type.String({ description, ...inDocument({ allOf: [FieldName], exampleOf: 'field' }) })
}

export const GroupPeriod = Type.Union([Type.Literal('day'), Type.Literal('month'), Type.Literal('year')], {
  description: 'The length of time by which dates and timestamps are grouped, these in UTC (default: month).',
})

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
  group: Type.Optional(
    fieldParameter('The field by whose values the records are counted in `groups`; no array or object.'),
  ),
  split: Type.Optional(
    fieldParameter(
      'A second field, which divides the groups, and the histograms of `fields`; no array or object.',
    ),
  ),
  totals: Type.Optional(
    fieldsParameter(
      'Comma-separated numbers and integers that are added up in each group; none when absent.',
    ),
  ),
  period: Type.Optional(GroupPeriod),
})

const groupValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

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
      splits: Type.Optional(
        Type.Array(Type.Object({ value: groupValue, counts: Type.Array(Type.Integer()) }), {
          description:
            'With `split`: the numbers in each range of its 10 most frequent values, in descending order; without texts of more than 200 characters.',
        }),
      ),
    }),
  ),
  distinct: Type.Optional(
    Type.Integer({ description: 'Number of distinct values; for arrays, of distinct items.' }),
  ),
  top: Type.Optional(Type.Array(Type.Object({ value: Type.Unknown(), count: Type.Integer() }))),
})
export type FieldSummaryAnswer = Static<typeof FieldSummaryAnswer>

/** Records with the same value. */
export const RecordGroupAnswer = Type.Object({
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
    description: 'Null for no value; of dates and timestamps the period, such as `2026-03`.',
  }),
  split: Type.Optional(groupValue),
  count: Type.Integer(),
  totals: Type.Record(Type.String(), Type.Number(), {
    description: 'The sums of the fields in `totals`; 0 without values.',
  }),
})
export type RecordGroupAnswer = Static<typeof RecordGroupAnswer>

/** Response of `GET /api/summary`: the text that the store returns. */
export const SummaryAnswer = Type.Object({
  count: Type.Integer({ description: 'Number of records that match the filter.' }),
  fields: Type.Record(Type.String(), FieldSummaryAnswer),
  groups: Type.Optional(
    Type.Array(RecordGroupAnswer, {
      description:
        'With `group`: the largest groups, 1000 at most, in descending order of size; without those of texts of more than 200 characters.',
    }),
  ),
})
export type SummaryAnswer = Static<typeof SummaryAnswer>
