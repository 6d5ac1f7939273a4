import type { IncomingMessage } from 'node:http'

/** The path of a request without query, decoded where that is possible; for logs, messages and unknown paths. */
export function requestPath(request: IncomingMessage): string {
  const target = request.url ?? '/'
  const start = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const path = start.replace(/[?#].*$/s, '')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Whether a path belongs to the service's interface and not to the pages beside it. */
export function isApiPath(path: string): boolean {
  return /^\/(?:api|events)(?:\/|$)/.test(path)
}

/** How often a header (its name in lower case) is there, which Node's merged headers do not tell. */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index]
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count++
  }
  return count
}
