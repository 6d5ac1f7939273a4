/** Characters of a line of the log that have its seq and its time. */
export const LINE_START = 80

/** The start of a line as {@link formatLine} writes it. */
const START = /^\{"seq":\d+,"at":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/

/**
 * Returns the time of the entry that comes next: `now`, or the time of the entry before it where a clock was put back, so that entries are in
 * the order of their times. `lastLine` is the start of the last line of the log, null where there is none.
 */
export function entryTime(now: string, lastLine: string | null): string {
  const last = START.exec(lastLine ?? '')?.[1]
  return last !== undefined && last > now ? last : now
}
