import { useQuery } from '@tanstack/react-query'
import { serverActorQuery } from '../api/queries.ts'
import { Stored, useStored } from './stored.ts'

/** The actor if neither the user nor the server sets one. */
const DEFAULT_ACTOR = 'human:me'

const stored = new Stored<string | null>('actor', (value) =>
  typeof value === 'string' && value !== '' ? value : null,
)

/**
 * Returns the actor of all writes of the page, by default the server's, and its setter; null if a reverse proxy sets
 * the actor.
 */
export function useActor(): readonly [actor: string, set: ((actor: string) => void) | null] {
  const [chosen, set] = useStored(stored)
  const { data: server } = useQuery(serverActorQuery)
  if (server?.isFixed === true) return [server.actor ?? DEFAULT_ACTOR, null]
  return [chosen ?? server?.actor ?? DEFAULT_ACTOR, set]
}
