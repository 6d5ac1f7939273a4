import { Type, type Static } from 'typebox'
import type { ErrorCode, ErrorType } from '../../errors/codes.ts'
import type { ErrorDetails } from '../../errors/service-error.ts'

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
  file: Type.Optional(Type.String({ description: 'The file of the sheet that the error is in.' })),
  line: Type.Optional(Type.Integer({ description: 'The line in `file`, from 1.' })),
  violations: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Index of the record in the request, from 0.' }),
        field: Type.String({ description: 'A long name that the contract does not have is shortened.' }),
        message: Type.String(),
      }),
      { description: 'Of records that were refused: the violations that `detail` lists.' },
    ),
  ),
  violation_count: Type.Optional(Type.Integer({ description: 'The number of all violations.' })),
})
export type Problem = Static<typeof Problem>

/** Creates the problem details of an error. */
export function problem(
  error: {
    readonly type: ErrorType
    readonly code: ErrorCode
    readonly status: number
    readonly message: string
  } & Pick<ErrorDetails, 'violations' | 'inFile'>,
): Problem {
  const { type, code, status, message, violations = null, inFile = null } = error
  return {
    type: `/docs#${type}`,
    title: type,
    code,
    status,
    detail: message.toWellFormed(),
    ...(inFile !== null && { file: inFile.file }),
    ...(typeof inFile?.line === 'number' && { line: inFile.line }),
    ...(violations !== null && {
      violations: violations.listed.map(({ index, field, message: text }) => ({
        index,
        field: field.toWellFormed(),
        message: text.toWellFormed(),
      })),
      violation_count: violations.count,
    }),
  }
}
