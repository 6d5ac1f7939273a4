import { Type, type Static } from 'typebox'
import type { ErrorType } from '../../errors/codes.ts'

/** Body of every error response (D36). */
export const ErrorEnvelope = Type.Object({
  error: Type.Object({
    type: Type.Unsafe<ErrorType>(Type.String({ description: 'Name of the error type.' })),
    message: Type.String({ description: 'What is wrong, the value seen, and what to do.' }),
  }),
})
export type ErrorEnvelope = Static<typeof ErrorEnvelope>

/** Creates the envelope of an error. Lone surrogates are replaced, since many JSON parsers refuse them. */
export function errorEnvelope(type: ErrorType, message: string): ErrorEnvelope {
  return { error: { type, message: message.toWellFormed() } }
}
