import { Type, type Static } from 'typebox'
import type { ErrorType } from '../../errors/service-error.ts'

/** An error as problem details (RFC 9457), for who would rather have those than the envelope. */
export const Problem = Type.Object({
  type: Type.String({
    description: 'Where the type of error is described, as a reference relative to the request.',
    examples: ['/docs#ValidationError'],
  }),
  title: Type.String({ description: 'Name of the error type.', examples: ['ValidationError'] }),
  status: Type.Integer({ description: 'The HTTP status.', examples: [400] }),
  detail: Type.String({ description: 'What is wrong, the value seen, and what to do.' }),
})
export type Problem = Static<typeof Problem>

/** The problem details of one error. */
export function problem(type: ErrorType, status: number, message: string): Problem {
  return { type: `/docs#${type}`, title: type, status, detail: message.toWellFormed() }
}
