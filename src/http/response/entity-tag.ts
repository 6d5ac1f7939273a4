import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ValidationError, type ServiceError } from '../../errors/service-error.ts'
import { shorten } from '../../errors/violations.ts'

/** The versions to which a write is limited: any with `*`, null if the request has no condition. */
export type VersionCondition = readonly string[] | '*' | null

/**
 * Sets a strong `ETag` (RFC 9110 8.8.3) of a record's response, made of the record's version and the stamp of all else that the response
 * depends on.
 */
export function tagVersion(reply: FastifyReply, version: string, stamp: string): void {
  reply.header('etag', `"${version}-${stamp}"`)
}

/** Sets the `ETag` of a definition file: its version, the hex SHA-256 of its bytes. */
export function tagFile(reply: FastifyReply, version: string): void {
  reply.header('etag', `"${version}"`)
}

/** Sets the `ETag` of the contract: the version of its file, by which it can be changed, and a hash of the response. */
export function tagContract(reply: FastifyReply, version: string, contract: object): void {
  reply.header('etag', `"${version}-${digest(JSON.stringify(contract))}"`)
}

/** Bytes up to which the tag of a response is a hash of them: hashing more delays other requests. */
export const TAGGED_UP_TO: number = 8 << 20

/** Characters of a content tag: 128 bits. */
const CONTENT_TAG_LENGTH = 22

const CONTENT_TAGS = new WeakMap<Uint8Array, string>()

/** Returns a text that differs for different bytes. For bytes that are cached and sent again it is computed once. */
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

/** Returns the tag of the same content in an encoding: a strong tag identifies exact bytes. */
export function tagOfEncoding(etag: string, encoding: string): string {
  return etag.startsWith('W/') ? etag : `${etag.slice(0, -1)}+${encoding}"`
}

/** Matches an entity tag (RFC 9110 8.8.3), or separators between two of them. */
const TAG_OR_SEPARATOR = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"|[ \t,]+/g

/** Returns the tags of a list, as written; null if it is malformed. */
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
 * Reads `If-Match` (RFC 9110 13.1.1) of a write to a record; several headers count as one list. A tag that no record with this `stamp` can
 * have is kept as written, and equals no version, since the comparison is strong. Without the stamp, returns the error because of which it
 * cannot be read: whether the tag is that of the record is not known then. Throws ValidationError.
 */
export function readIfMatch(
  request: FastifyRequest,
  stamp: string | ServiceError,
): VersionCondition | ServiceError {
  const header = request.headers['if-match']
  if (header === undefined || header === '*') return header ?? null
  const tags = readTags(header)
  if (tags === null) throw malformed(header)
  if (stamp instanceof Error) return stamp
  return tags.map((tag) => {
    const [, version, seen] = /^"(\d+)-([\w-]+)(?:\+\w+)?"$/.exec(tag) ?? []
    return version === undefined || seen !== stamp ? tag : version
  })
}

/** Reads `If-Match` of a change of a definition file as {@link readIfMatch} does: the versions of the file. Throws ValidationError. */
export function readFileIfMatch(request: FastifyRequest): VersionCondition {
  const header = request.headers['if-match']
  if (header === undefined || header === '*') return header ?? null
  const tags = readTags(header)
  if (tags === null) throw malformed(header)
  return tags.map((tag) => /^"([0-9a-f]{64})(?:-[\w-]+)?(?:\+\w+)?"$/.exec(tag)?.[1] ?? tag)
}

/** Whether `If-None-Match` of a change is `*`: only a new file, or new records, are written. Throws ValidationError for anything else. */
export function readIfAbsent(request: FastifyRequest): boolean {
  const header = request.headers['if-none-match']
  if (header === undefined) return false
  if (header === '*') return true
  throw new ValidationError(
    `the header If-None-Match is ${JSON.stringify(shorten(header))}; of a change it can only be *, for what does not exist yet`,
    'invalid_if_match',
  )
}

/**
 * Returns the tag of `If-None-Match` (RFC 9110 13.1.2) that equals the response's, in whatever encoding, or null. A malformed header counts
 * as absent.
 */
export function seenTag(ifNoneMatch: string, etag: string): string | null {
  if (ifNoneMatch === '*') return etag
  const wanted = weakly(etag)
  return readTags(ifNoneMatch)?.find((tag) => weakly(tag) === wanted) ?? null
}

/** Returns a tag for a weak comparison, without the suffix of its encoding. */
function weakly(tag: string): string {
  return tag.replace(/^W\//, '').replace(/\+\w+"$/, '"')
}

function malformed(header: string): ValidationError {
  return new ValidationError(
    `the header If-Match is ${JSON.stringify(shorten(header))}; send the ETag of what is changed, quotes and all, several with commas between them, or *`,
    'invalid_if_match',
  )
}
