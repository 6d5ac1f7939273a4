/**
 * Returns the resources that a `subscriptions/listen` message (protocol 2026-07-28) names; null for any other message. The SDK handles
 * these messages itself and does not report the resources.
 */
export function listenedUris(message: unknown): readonly string[] | null {
  const request = membersOf(message)
  if (request['method'] !== 'subscriptions/listen') return null
  const uris = membersOf(membersOf(request['params'])['notifications'])['resourceSubscriptions']
  return Array.isArray(uris) ? uris.filter((uri): uri is string => typeof uri === 'string') : []
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
