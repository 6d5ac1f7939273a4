import { useQuery } from '@tanstack/react-query'
import { serverActorQuery } from '../api/queries.ts'
import { Stored, useStored } from './stored.ts'

/** Who writes when neither the person nor the server has said who. */
const NOBODY_SAID = 'human:me'

const stored = new Stored<string | null>('actor', (value) =>
  typeof value === 'string' && value !== '' ? value : null,
)

/**
 * Who works with the page: named as the actor of everything it writes. Until somebody says, it is the server's default
 * actor. There is nothing to set where a reverse proxy says who it is.
 */
export function useActor(): readonly [actor: string, set: ((actor: string) => void) | null] {
  const [chosen, set] = useStored(stored)
  const { data: server } = useQuery(serverActorQuery)
  if (server?.isFixed === true) return [server.actor ?? NOBODY_SAID, null]
  return [chosen ?? server?.actor ?? NOBODY_SAID, set]
}
