import type { IncomingMessage } from 'node:http'

/** Most characters of a path in a log. */
const LOGGED_PATH = 500

/** Returns the path of a request without query, decoded where possible; for messages and unknown paths. */
export function requestPath(request: IncomingMessage): string {
  const path = rawPath(request)
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/**
 * Returns the path for logs, as it was sent and at a bounded length, so that nothing in it can move a terminal's cursor or reverse its
 * text.
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

/** Whether a path belongs to the service's interface rather than to the pages. */
export function isApiPath(path: string): boolean {
  return /^\/(?:api|events)(?:\/|$)/.test(path)
}

/** Returns the values of a header, one for each occurrence, whatever the case of its name; Node merges or drops some. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase()
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    // On the path of every request: the comparison of lengths is the cheap test.
    if (rawHeaders[index]?.length !== wanted.length || rawHeaders[index]?.toLowerCase() !== wanted) continue
    values.push(rawHeaders[index + 1] ?? '')
  }
  return values
}
