import type { JsonSchema } from '../../sheet/schema/read-record-schemas.ts'
import { ACTOR_TEXT } from '../../wire/schema/actor-member.ts'
import type { ResponseHeader, RequestHeader } from './operation.ts'

/** The description of a header, and an example. */
interface HeaderNotes {
  readonly description: string
  readonly example: string
  /** The schema of its text, where it has one. */
  readonly schema?: JsonSchema
}

const TAG = String.raw`(W/)?"[\x21\x23-\x7e]*"`

/** Request headers, as parameters of the OpenAPI document. `Accept` is not among them: the media types of the responses describe it. */
export const REQUEST_HEADERS: Readonly<Record<Exclude<RequestHeader, 'Accept'>, HeaderNotes>> = {
  'If-Match': {
    description: 'The `ETag` of the record or file, or `*`: nothing is written if it has changed since.',
    example: '"17-pX2mQ0aBcD"',
    schema: { pattern: String.raw`^(\*|${TAG}([ \t]*,[ \t]*${TAG})*)$` },
  },
  'If-None-Match': {
    description:
      'Of a read, the `ETag` of a response that the client has: the response is a `304` if it is still the same. Of a change, `*`: only a new file, or new records, are written.',
    example: '"17-pX2mQ0aBcD"',
  },
  'Last-Event-ID': { description: 'The `id` of the last frame that the client has seen.', example: '41' },
  Prefer: {
    description: '`respond-async` for a response as soon as the run has started (RFC 7240).',
    example: 'respond-async',
  },
  'X-Svc-Actor': {
    description: 'The actor who writes, in UTF-8; the server default when absent.',
    example: 'human:ann',
    schema: ACTOR_TEXT,
  },
}

/** Response headers. */
export const RESPONSE_HEADERS: Readonly<Record<ResponseHeader | 'Set-Cookie', HeaderNotes>> = {
  'Content-Disposition': {
    description: 'The name of the file.',
    example: 'attachment; filename="countries.csv"',
  },
  ETag: {
    description: 'Differs whenever the response differs (RFC 9110).',
    example: '"17-pX2mQ0aBcD"',
  },
  Link: {
    description: 'The next page, as `<…>; rel="next"` (RFC 8288); absent on the last page.',
    example: '</api/records?limit=50&cursor=AAAAAAAAADI>; rel="next"',
  },
  Location: { description: 'The path of the new run or item.', example: '/api/runs/7' },
  'Preference-Applied': { description: 'The preference that was applied.', example: 'respond-async' },
  'Retry-After': { description: 'Seconds to wait before a retry.', example: '5' },
  'Set-Cookie': {
    description: 'The CSRF token, which pages send with their writes.',
    example: 'svc_csrf=pQ3iVYz0R2yIhN5s7r8tUvWxYzAbCdEfGhIjKlMnOpQ; Path=/; SameSite=Strict',
  },
  Vary: { description: 'Request headers that the form of the response depends on.', example: 'Accept' },
}
