import './moment.css'
import { useNow } from './use-now.ts'
import { exactTime, relativeTime } from './time-text.ts'

/** A relative time with the exact time as tooltip. */
export function Moment({ at }: { readonly at: string }) {
  // An entry may be newer than the last tick of the clock.
  const now = Math.max(useNow('coarse'), Math.min(Date.parse(at) || 0, Date.now()))
  return (
    <time className="moment" dateTime={at} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  )
}
