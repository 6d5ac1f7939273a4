import { Type, type Static } from 'typebox'
import { closedObject } from './closed-object.ts'
import { whereParameter } from './conditions.ts'

/** Query of `GET /api/sql`. */
export const DialectQuery = closedObject({ where: Type.Optional(whereParameter) })

/** The dialect of SQL that a sheet takes. */
export const SqlDialect = Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')], {
  description: 'The dialect of `filter` and of `POST /api/query`: that of the database that has the sheet.',
})
export type SqlDialect = Static<typeof SqlDialect>

/** Answer of `GET /api/sql`. */
export const DialectAnswer = Type.Object({
  dialect: SqlDialect,
  filter: Type.Union([Type.String(), Type.Null()], {
    description: 'The condition `where` as a `filter` of the dialect; null without one.',
  }),
})
export type DialectAnswer = Static<typeof DialectAnswer>
