import { Type, type Static } from 'typebox'
import type { ErrorType } from '../../errors/codes.ts'

/** What every answer that is not 2xx carries (specification, "Error envelope"; D36). */
export const ErrorEnvelope = Type.Object({
  error: Type.Object({
    type: Type.Unsafe<ErrorType>(Type.String({ description: 'Name of the error type.' })),
    message: Type.String({ description: 'What is wrong, the value seen, and what to do.' }),
  }),
})
export type ErrorEnvelope = Static<typeof ErrorEnvelope>

/** The envelope of one error. A character that the message cuts in two is replaced: many JSON parsers refuse halves. */
export function errorEnvelope(type: ErrorType, message: string): ErrorEnvelope {
  return { error: { type, message: message.toWellFormed() } }
}
