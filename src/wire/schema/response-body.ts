import { Type } from 'typebox'

/** Member of a failure: what the response said. */
export const responseBody = Type.Optional(
  Type.String({ description: 'The first 2 KB of the response, when it was an error.' }),
)
