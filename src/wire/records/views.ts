import { Type, type Static } from 'typebox'
import type { JsonObject } from '../../contract/json/json.ts'
import type { SaveViewRequest, StoredView } from '../../sheet/named/views.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument, NOT_BLANK } from '../schema/openapi-keywords.ts'

const members = {
  conditions: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description:
      'Conditions that must all hold, in the form of the parameter `where` in URLs of the viewer: a member `field`, or the list `fields`, names fields.',
  }),
  sql: Type.Union([Type.String(), Type.Null()], { description: 'A filter in SQL; null for none.' }),
  sort: Type.Array(Type.String(), { description: 'Fields to sort by; a minus before the name: descending.' }),
  columns: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'Settings of columns: lists of fields (`order`, `hidden`, `pinned`), and values by field (`widths`, `formats`).',
  }),
}

/** Path of one view. */
export const ViewParams = Type.Object({ id: Type.String({ description: 'The id of the view.' }) })

/** Body of `POST /api/views` and `PUT /api/views/{id}`. */
export const ViewBody = closedObject({
  name: Type.String({
    description: 'The name, which no other view has.',
    ...inDocument({ minLength: 1, maxLength: 100, pattern: NOT_BLANK }),
  }),
  conditions: Type.Optional(members.conditions),
  sql: Type.Optional(members.sql),
  sort: Type.Optional(members.sort),
  columns: Type.Optional(members.columns),
  actor: Type.Optional(actorMember('The actor who saves it; the server default when absent.')),
})
export type ViewBody = Static<typeof ViewBody>

/** A view. */
export const ViewAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  ...members,
  saved_by: Type.String({ description: 'The actor who saved it last.' }),
  saved_at: Type.String(),
})
export type ViewAnswer = Static<typeof ViewAnswer>

/** Response of `GET /api/views`. */
export const ViewListAnswer = Type.Object({
  views: Type.Array(ViewAnswer, { description: 'All views, by name.' }),
})
export type ViewListAnswer = Static<typeof ViewListAnswer>

/** Response of `DELETE /api/views/{id}`. */
export const DeleteViewAnswer = Type.Object({ deleted: Type.String({ description: 'The id of the view.' }) })

export function toViewAnswer({ id, name, state, actor, at }: StoredView): ViewAnswer {
  const { conditions, sql, sort, columns } = state
  return {
    id,
    name,
    conditions: [...conditions],
    sql,
    sort: [...sort],
    columns,
    saved_by: actor,
    saved_at: at,
  }
}

/** Returns the view of a body: what is absent is empty. */
export function toView(body: ViewBody): Pick<SaveViewRequest, 'name' | 'state'> {
  const { name, conditions = [], sql = null, sort = [], columns = {} } = body
  return {
    name,
    state: { conditions: conditions as JsonObject[], sql, sort, columns: columns as JsonObject },
  }
}
