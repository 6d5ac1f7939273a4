import type { FastifyReply } from 'fastify'

/** Longest link for a response whose body has the cursor as well: proxies refuse responses with large headers. */
const LONGEST_LINK = 2000

/** The query parameters of a request for a page. */
export type PageQuery = Readonly<Record<string, string | undefined>>

/**
 * Sets the link to the next page: `Link: <…>; rel="next"` (RFC 8288), relative to the request. If the body does not have the cursor
 * (`isOnlyPlace`), its length is not limited.
 */
export function linkNextPage(
  reply: FastifyReply,
  {
    path,
    query,
    nextCursor,
    isOnlyPlace,
  }: {
    readonly path: string
    readonly query: PageQuery
    readonly nextCursor: string | null
    readonly isOnlyPlace: boolean
  },
): void {
  if (nextCursor === null) return
  let next = ''
  for (const [name, value] of Object.entries(query)) {
    // The cursor determines where the page starts; a position beside it would be refused.
    if (value === undefined || name === 'position' || name === 'cursor') continue
    next += `${name}=${encodeURIComponent(value)}&`
  }
  const link = `<${path}?${next}cursor=${encodeURIComponent(nextCursor)}>; rel="next"`
  if (isOnlyPlace || link.length <= LONGEST_LINK) reply.header('link', link)
}
