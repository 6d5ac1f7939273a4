import type { IncomingMessage } from 'node:http'

/** Characters of a path in a log. */
const LOGGED_PATH = 500

/** The path of a request without query, decoded where that is possible; for messages and unknown paths. */
export function requestPath(request: IncomingMessage): string {
  const path = rawPath(request)
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/**
 * The path for logs: as it was sent, so that nothing in it can move a terminal's cursor or turn its text around, and
 * not at any length.
 */
export function loggedPath(request: IncomingMessage): string {
  const path = rawPath(request)
  return path.length > LOGGED_PATH ? `${path.slice(0, LOGGED_PATH)}…` : path
}

function rawPath(request: IncomingMessage): string {
  const target = request.url ?? '/'
  const start = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  return start.replace(/[?#].*$/s, '')
}

/** Whether a path belongs to the service's interface and not to the pages beside it. */
export function isApiPath(path: string): boolean {
  return /^\/(?:api|events)(?:\/|$)/.test(path)
}

/** The values of a header, in whatever case its name is sent, one for each time that it is there; Node merges or drops some. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase()
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    // Every request goes through this.
    if (rawHeaders[index]?.length !== wanted.length || rawHeaders[index]?.toLowerCase() !== wanted) continue
    values.push(rawHeaders[index + 1] ?? '')
  }
  return values
}
