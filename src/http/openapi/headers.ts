import type { JsonSchema } from '../../sheet/schema/read-record-schemas.ts'
import { ACTOR_TEXT } from '../../wire/schema/actor-member.ts'
import type { AnswerHeader, RequestHeader } from './operation.ts'

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
    description:
      'The `ETag` of the record, or `*`: nothing is written unless the record is still as that says.',
    example: '"17-pX2mQ0aBcD"',
    schema: { pattern: String.raw`^(\*|${TAG}([ \t]*,[ \t]*${TAG})*)$` },
  },
  'If-None-Match': {
    description:
      'The `ETag` of an answer that the client has: nothing is sent again unless it is another by now.',
    example: '"17-pX2mQ0aBcD"',
  },
  'Last-Event-ID': { description: 'The `id` of the last frame that the client has seen.', example: '41' },
  Prefer: {
    description: '`respond-async` for an answer as soon as the run has begun (RFC 7240).',
    example: 'respond-async',
  },
  'X-Svc-Actor': {
    description: 'Who writes, in UTF-8; the server default when absent.',
    example: 'human:ann',
    schema: ACTOR_TEXT,
  },
}

/** Response headers. */
export const ANSWER_HEADERS: Readonly<Record<AnswerHeader | 'Set-Cookie', HeaderNotes>> = {
  'Content-Disposition': {
    description: 'A name for the file.',
    example: 'attachment; filename="countries.csv"',
  },
  ETag: {
    description: 'Another text whenever the answer is another (RFC 9110).',
    example: '"17-pX2mQ0aBcD"',
  },
  Link: {
    description: 'The next page, as `<…>; rel="next"` (RFC 8288); not there when nothing follows.',
    example: '</api/records?limit=50&cursor=AAAAAAAAADI>; rel="next"',
  },
  Location: { description: 'The path of what was begun or made.', example: '/api/runs/7' },
  'Preference-Applied': { description: 'The preference that was followed.', example: 'respond-async' },
  'Retry-After': { description: 'Seconds after which to try again.', example: '5' },
  'Set-Cookie': {
    description: 'The CSRF token, which pages send back with their writes.',
    example: 'svc_csrf=pQ3iVYz0R2yIhN5s7r8tUvWxYzAbCdEfGhIjKlMnOpQ; Path=/; SameSite=Strict',
  },
  Vary: { description: 'Request headers that the form of the answer depends on.', example: 'Accept' },
}
