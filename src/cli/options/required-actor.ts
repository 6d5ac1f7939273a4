import type { Sheet } from '../../sheet/sheet.ts'
import { UsageError } from './usage-error.ts'

/**
 * Returns the actor of a write. There is no default, so that writes of a program are never attributed to a person.
 * Throws UsageError.
 */
export function writerOf({ defaultActor }: Pick<Sheet, 'defaultActor'>): string {
  if (defaultActor !== null) return defaultActor
  throw new UsageError('no actor is given; use --actor, such as --actor human:ann, or set COLOPHON_ACTOR')
}
