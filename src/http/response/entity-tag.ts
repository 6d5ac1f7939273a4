import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ValidationError } from '../../errors/service-error.ts'

/** The versions that a write is for: any with `*`, null when the request has no condition. */
export type VersionCondition = readonly string[] | '*' | null

/**
 * Says which version of a record an answer is of: a strong `ETag` (RFC 9110 8.8.3), made of the version and the stamp
 * of what else the answer depends on.
 */
export function tagVersion(reply: FastifyReply, version: string, stamp: string): void {
  reply.header('etag', `"${version}-${stamp}"`)
}

/** Bytes up to which an answer gets a tag that is made of them: hashing more keeps others waiting. */
export const TAGGED_UP_TO: number = 8 << 20

/** Characters of a content tag: 128 bits. */
const CONTENT_TAG_LENGTH = 22

const CONTENT_TAGS = new WeakMap<Uint8Array, string>()

/** A text that is another for other bytes. Of bytes that are kept and sent again it is worked out once. */
export function contentTag(content: string | Uint8Array): string {
  if (typeof content === 'string') return digest(content)
  let tag = CONTENT_TAGS.get(content)
  if (tag === undefined) {
    tag = digest(content)
    CONTENT_TAGS.set(content, tag)
  }
  return tag
}

function digest(content: string | Uint8Array): string {
  return hash('sha256', content, 'base64url').slice(0, CONTENT_TAG_LENGTH)
}

/** The tag of the same content in an encoding: a strong tag is that of certain bytes. */
export function tagOfEncoding(etag: string, encoding: string): string {
  return etag.startsWith('W/') ? etag : `${etag.slice(0, -1)}+${encoding}"`
}

/** An entity tag (RFC 9110 8.8.3), or what may stand between two of them. */
const TAG_OR_SEPARATOR = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"|[ \t,]+/g

/** The tags of a list, as they were written; null when it is malformed. */
function readTags(header: string): readonly string[] | null {
  const tokens = header.match(TAG_OR_SEPARATOR) ?? []
  const tags: string[] = []
  let separated = true
  for (const token of tokens) {
    if (!token.endsWith('"')) {
      separated ||= token.includes(',')
      continue
    }
    if (!separated) return null
    tags.push(token)
    separated = false
  }
  return tags.length === 0 || tokens.join('').length !== header.length ? null : tags
}

/**
 * Reads `If-Match` (RFC 9110 13.1.1) of a write to a record; sent several times, it is one list. What is no tag of a
 * record that is shown as `stamp` says stays as it was written, and no version is like that: the comparison is a strong
 * one. Throws ValidationError.
 */
export function readIfMatch(request: FastifyRequest, stamp: string | null): VersionCondition {
  const header = request.headers['if-match']
  if (header === undefined || header === '*') return header ?? null
  const tags = readTags(header)
  if (tags === null) throw malformed(header)
  return tags.map((tag) => {
    const [, version, seen] = /^"(\d+)-([\w-]+)(?:\+\w+)?"$/.exec(tag) ?? []
    return version === undefined || seen !== stamp ? tag : version
  })
}

/**
 * Whether a client has an answer already, in whatever encoding: the tag of `If-None-Match` (RFC 9110 13.1.2) that is the
 * answer's, or null. A malformed header is as good as none.
 */
export function seenTag(ifNoneMatch: string, etag: string): string | null {
  if (ifNoneMatch === '*') return etag
  const wanted = weakly(etag)
  return readTags(ifNoneMatch)?.find((tag) => weakly(tag) === wanted) ?? null
}

/** A tag for a weak comparison, which also makes no difference between encodings. */
function weakly(tag: string): string {
  return tag.replace(/^W\//, '').replace(/\+\w+"$/, '"')
}

function malformed(header: string): ValidationError {
  const seen = JSON.stringify(header.length > 80 ? `${header.slice(0, 79)}…` : header)
  return new ValidationError(
    `the header If-Match is ${seen}; send the ETag of the record, quotes and all, several with commas between them, or *`,
    'invalid_if_match',
  )
}
