import { Type, type Static } from 'typebox'

/** Names of the double-submit check (`docs/reference/http.md`). */
export const CSRF_COOKIE = 'svc_csrf'
export const CSRF_HEADER = 'x-csrf-token'

/** Response of `GET /api/csrf`. */
export const CsrfAnswer = Type.Object({
  csrf_token: Type.String({ description: '32 random bytes, base64url.' }),
})
export type CsrfAnswer = Static<typeof CsrfAnswer>
