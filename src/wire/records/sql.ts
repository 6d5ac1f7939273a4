import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { whereParameter } from '../schema/conditions.ts'
import { SqlDialect } from '../schema/dialect.ts'

/** Query of `GET /api/sql`. */
export const DialectQuery = closedObject({ where: Type.Optional(whereParameter) })

/** Response of `GET /api/sql`. */
export const DialectAnswer = Type.Object({
  dialect: SqlDialect,
  filter: Type.Union([Type.String(), Type.Null()], {
    description: 'The condition `where` as a `filter` in this dialect; null without a condition.',
  }),
})
export type DialectAnswer = Static<typeof DialectAnswer>
