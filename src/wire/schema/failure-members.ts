import { Type } from 'typebox'
import type { FailureReason } from '../../errors/failure.ts'

/** Member of a failure: the start of the response body. */
export const responseBody = Type.Optional(
  Type.String({ description: 'The first 2 KB of the response body, for an error response.' }),
)

/** Member of a failure: its reason. */
export const failureReason = Type.Unsafe<FailureReason | null>(
  Type.Union([Type.String(), Type.Null()], {
    description:
      'Stable name of the reason, listed in the reference of derivations; null for a failure of an earlier version.',
  }),
)

/** Member of a failure: its text without the request. */
export const failureDetail = Type.Union([Type.String(), Type.Null()], {
  description:
    'The error without the request: cells that failed in the same way have the same; null for a failure of an earlier version.',
})
