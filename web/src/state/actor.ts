import { useQuery } from '@tanstack/react-query'
import { defaultActorQuery } from '../api/queries.ts'
import { Stored, useStored } from './stored.ts'

/** Who writes when neither the person nor the server has said who. */
const NOBODY_SAID = 'human:me'

const stored = new Stored<string | null>('actor', (value) =>
  typeof value === 'string' && value !== '' ? value : null,
)

/**
 * Who works with the page: named as the actor of everything it writes. Until somebody says, it is the server's default
 * actor.
 */
export function useActor(): readonly [actor: string, set: (actor: string) => void] {
  const [chosen, set] = useStored(stored)
  const { data: byDefault } = useQuery({ ...defaultActorQuery, enabled: chosen === null })
  return [chosen ?? byDefault ?? NOBODY_SAID, set]
}
