import type { TransportRequest } from '../call/transport.ts'
import { envNames, readEnv, type PlannedHeader } from './header-template.ts'

/** The headers of a request as sent. */
export interface FilledHeaders extends Pick<TransportRequest, 'headers' | 'secretHeaders'> {
  /** Values that no result may contain. */
  readonly secrets: readonly string[]
}

const NO_HEADERS: FilledHeaders = { headers: {}, secretHeaders: new Set(), secrets: [] }

/**
 * Fills `{{ env.NAME }}` into the headers of a request (D23). `file` is the file that has the headers. Throws OperationError as
 * {@link readEnv} does.
 */
export function fillHeaders(
  headers: readonly PlannedHeader[],
  env: NodeJS.ProcessEnv,
  file: string,
): FilledHeaders {
  if (headers.length === 0) return NO_HEADERS
  const secrets = new Map(envNames(headers).map((name) => [name, readEnv(name, env, file)]))
  const secret = headers.filter((header) => envNames([header]).length > 0)
  return {
    headers: Object.fromEntries(headers.map(({ name, parts }) => [name, filled(parts, secrets)])),
    secretHeaders: new Set(secret.map(({ name }) => name.toLowerCase())),
    secrets: secretsIn(headers, secrets),
  }
}

/** Returns the headers of a request with the names of its secrets in their place. */
export function shownHeaders(headers: readonly PlannedHeader[]): Readonly<Record<string, string>> {
  if (headers.length === 0) return NO_HEADERS.headers
  return Object.fromEntries(headers.map(({ name, parts }) => [name, parts.map(shownPart).join('')]))
}

function shownPart(part: PlannedHeader['parts'][number]): string {
  return typeof part === 'string' ? part : placeholderOf(part.env)
}

/** Returns the text that represents the value of an environment variable. */
export function placeholderOf(name: string): string {
  return `{{ env.${name} }}`
}

/**
 * Returns the values that no result may contain: each secret, and each header from its first secret to its last, in case these are short.
 */
function secretsIn(headers: readonly PlannedHeader[], secrets: ReadonlyMap<string, string>): string[] {
  const joined = headers.map(({ parts }) => {
    const first = parts.findIndex((part) => typeof part !== 'string')
    const last = parts.findLastIndex((part) => typeof part !== 'string')
    return first === -1 ? '' : filled(parts.slice(first, last + 1), secrets)
  })
  return [...new Set([...secrets.values(), ...joined])]
}

function filled(parts: PlannedHeader['parts'], secrets: ReadonlyMap<string, string>): string {
  return parts.map((part) => (typeof part === 'string' ? part : (secrets.get(part.env) ?? ''))).join('')
}
