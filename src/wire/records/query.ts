import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { DIALECT } from '../schema/dialect.ts'
import { inDocument, NOT_BLANK } from '../schema/openapi-keywords.ts'

const sqlParam = Type.Union([Type.Null(), Type.Boolean(), Type.Number(), Type.String()], {
  title: 'null, a boolean, a number or a string',
})

/** Body of `POST /api/query`. */
export const QueryBody = closedObject({
  sql: Type.String({
    description: `One read-only SELECT (${DIALECT}) over \`records\`.`,
    ...inDocument({ pattern: NOT_BLANK, exampleOf: 'statement' }),
  }),
  params: Type.Optional(
    Type.Array(sqlParam, {
      description: 'Values for the placeholders `?` of the statement, in order.',
    }),
  ),
  columns: Type.Optional(Type.Boolean({ description: 'Whether the response contains `columns`.' })),
})
export type QueryBody = Static<typeof QueryBody>

/** A result row, keyed by column name. */
export const QueryRow = Type.Record(Type.String(), Type.Unknown())

/** Response of `POST /api/query`. */
export const QueryAnswer = Type.Object({
  rows: Type.Array(QueryRow),
  count: Type.Integer({ description: 'The number of rows.' }),
  truncated: Type.Optional(
    Type.Literal(true, { description: 'Present when the result has more rows than the server returns.' }),
  ),
  columns: Type.Optional(
    Type.Array(Type.String(), { description: 'The names of the columns in order, when requested.' }),
  ),
})
export type QueryAnswer = Static<typeof QueryAnswer>
