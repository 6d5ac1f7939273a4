import type { FastifyReply, FastifyRequest } from 'fastify'
import { ValidationError } from '../errors/service-error.ts'

/** The versions that a write is for: any with `*`, null when the request has no condition. */
export type VersionCondition = readonly string[] | '*' | null

/** Says which version of a record an answer is of: a strong `ETag` (RFC 9110 8.8.3). */
export function tagVersion(reply: FastifyReply, version: string): void {
  reply.header('etag', `"${version}"`)
}

/** An entity tag (RFC 9110 8.8.3), or what may stand between two of them. */
const TAG_OR_SEPARATOR = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"|[ \t,]+/g

/**
 * Reads `If-Match` (RFC 9110 13.1.1); sent several times, it is one list. A weak tag stays as it was written, with its
 * `W/`, which no version is like: the comparison is a strong one. Throws ValidationError.
 */
export function readIfMatch(request: FastifyRequest): VersionCondition {
  const header = request.headers['if-match']
  if (header === undefined || header === '*') return header ?? null
  const tokens = header.match(TAG_OR_SEPARATOR) ?? []
  const versions: string[] = []
  let separated = true
  for (const token of tokens) {
    if (!token.endsWith('"')) {
      separated ||= token.includes(',')
      continue
    }
    if (!separated) throw malformed(header)
    versions.push(token.startsWith('"') ? token.slice(1, -1) : token)
    separated = false
  }
  if (versions.length === 0 || tokens.join('').length !== header.length) throw malformed(header)
  return versions
}

function malformed(header: string): ValidationError {
  const seen = JSON.stringify(header.length > 80 ? `${header.slice(0, 79)}…` : header)
  return new ValidationError(
    `the header If-Match is ${seen}; send the ETag of the record, quotes and all, several with commas between them, or *`,
  )
}
