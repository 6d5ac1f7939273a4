import { Type, type Static } from 'typebox'
import type { ErrorCode, ErrorType } from '../../errors/codes.ts'

/** An error as problem details (RFC 9457), for a client that prefers these to the envelope. */
export const Problem = Type.Object({
  type: Type.String({
    description: 'Address of the description of the error type, relative to the request.',
    examples: ['/docs#ValidationError'],
  }),
  title: Type.String({ description: 'Name of the error type.', examples: ['ValidationError'] }),
  code: Type.Unsafe<ErrorCode>(
    Type.String({
      description: 'Stable code of the error, listed in the reference of errors.',
      examples: ['unknown_field'],
    }),
  ),
  status: Type.Integer({ description: 'The HTTP status.', examples: [400] }),
  detail: Type.String({ description: 'What is wrong, the value seen, and what to do.' }),
})
export type Problem = Static<typeof Problem>

/** Creates the problem details of an error. */
export function problem(error: {
  readonly type: ErrorType
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
}): Problem {
  const { type, code, status, message } = error
  return { type: `/docs#${type}`, title: type, code, status, detail: message.toWellFormed() }
}
