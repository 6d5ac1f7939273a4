import { Type, type Static } from 'typebox'
import type { SaveChartRequest, StoredChart } from '../../sheet/named/charts.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument, NOT_BLANK } from '../schema/openapi-keywords.ts'
import { GroupPeriod } from './summary.ts'

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const split = nullable('A second field, whose values divide the groups; null for none.')
const total = nullable(
  'The number or integer that is added up in each group; null for the number of records.',
)

/** Path of one chart. */
export const ChartParams = Type.Object({ id: Type.String({ description: 'The id of the chart.' }) })

/** Body of `POST /api/charts` and `PUT /api/charts/{id}`. */
export const ChartBody = closedObject({
  name: Type.String({
    description: 'The name, which no other chart has.',
    ...inDocument({ minLength: 1, maxLength: 100, pattern: NOT_BLANK }),
  }),
  group: Type.String({ description: 'The field by whose values records are grouped; no array or object.' }),
  split: Type.Optional(split),
  total: Type.Optional(total),
  period: Type.Optional(GroupPeriod),
  actor: Type.Optional(actorMember('The actor who saves it; the server default when absent.')),
})
export type ChartBody = Static<typeof ChartBody>

/** A chart. */
export const ChartAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  group: nullable('The field by whose values records are grouped; null once it is removed.'),
  split,
  total,
  period: GroupPeriod,
  saved_by: Type.String({ description: 'The actor who saved it last.' }),
  saved_at: Type.String(),
})
export type ChartAnswer = Static<typeof ChartAnswer>

/** Response of `GET /api/charts`. */
export const ChartListAnswer = Type.Object({
  charts: Type.Array(ChartAnswer, { description: 'All charts, by name.' }),
})
export type ChartListAnswer = Static<typeof ChartListAnswer>

/** Response of `DELETE /api/charts/{id}`. */
export const DeleteChartAnswer = Type.Object({
  deleted: Type.String({ description: 'The id of the chart.' }),
})

export function toChartAnswer({ id, name, state, actor, at }: StoredChart): ChartAnswer {
  return { id, name, ...state, saved_by: actor, saved_at: at }
}

/** Returns the chart of a body: what is absent is null, or the default. */
export function toChart(body: ChartBody): Pick<SaveChartRequest, 'name' | 'state'> {
  const { name, group, split: second = null, total: sum = null, period = 'month' } = body
  return { name, state: { group, split: second, total: sum, period } }
}
