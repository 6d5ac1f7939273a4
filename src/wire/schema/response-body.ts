import { Type } from 'typebox'

/** Member of a failure: the start of the response body. */
export const responseBody = Type.Optional(
  Type.String({ description: 'The first 2 KB of the response body, for an error response.' }),
)
