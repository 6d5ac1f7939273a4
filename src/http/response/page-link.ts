import type { FastifyReply } from 'fastify'

/** Longest link beside a body that has the cursor as well: proxies refuse answers whose headers are large. */
const LONGEST_LINK = 2000

/** What a page of a list was asked for with. */
export type PageQuery = Readonly<Record<string, string | undefined>>

/**
 * Says where the page after a page is: `Link: <…>; rel="next"` (RFC 8288), a reference that is relative to the request.
 * Where the body does not say it too (`isOnlyPlace`), however long it is.
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
    // A cursor says where the page starts, and a position with it would be refused.
    if (value === undefined || name === 'position' || name === 'cursor') continue
    next += `${name}=${encodeURIComponent(value)}&`
  }
  const link = `<${path}?${next}cursor=${encodeURIComponent(nextCursor)}>; rel="next"`
  if (isOnlyPlace || link.length <= LONGEST_LINK) reply.header('link', link)
}
