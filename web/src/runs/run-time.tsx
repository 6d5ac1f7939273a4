import { exactTime, relativeTime } from '../provenance/time-text.ts'
import { useNow } from './use-now.ts'

/** When something was, in words; exactly in the tooltip. */
export function RunTime({ at }: { readonly at: string }) {
  const now = useNow('coarse')
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  )
}
