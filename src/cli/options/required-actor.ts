import type { Sheet } from '../../sheet/sheet.ts'
import { UsageError } from './usage-error.ts'

/** Who writes. Nobody is guessed: what a program wrote must not look as if a person had. Throws UsageError. */
export function writerOf({ defaultActor }: Pick<Sheet, 'defaultActor'>): string {
  if (defaultActor !== null) return defaultActor
  throw new UsageError(
    'who writes? Say it with --actor, such as --actor human:ann, or once for all in COLOPHON_ACTOR',
  )
}
