/** Characters of a line of the log that contain its seq and its time. */
export const LINE_START = 80

/** The start of a line as {@link formatLine} writes it. */
const START = /^\{"seq":\d+,"at":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/

/**
 * Returns the time of the next entry: `now`, or the time of the entry before it where the clock was set back, so that
 * entries are in the order of their times. `lastLine` is the start of the last line of the log, null where there is none.
 */
export function entryTime(now: string, lastLine: string | null): string {
  const last = START.exec(lastLine ?? '')?.[1]
  return last !== undefined && last > now ? last : now
}
