const DAY_MS = 86_400_000

/** 1899-12-30, day 0 of spreadsheets after their nonexistent 29 February 1900. */
const EPOCH = Date.UTC(1899, 11, 30)

/** 1900-03-01: earlier days are counted by a wrong calendar. */
const FIRST_SERIAL = 61

/** The offset of workbooks that count from 1904-01-01. */
const DAYS_TO_1904 = 1462

/** 9999-12-31. */
const LAST_SERIAL = 2_958_465

/** Returns the number of a date (`YYYY-MM-DD`) in spreadsheets, or null if they do not have it. */
export function serialOfDate(date: string): number | null {
  const serial = (Date.parse(`${date}T00:00:00Z`) - EPOCH) / DAY_MS
  return serial >= FIRST_SERIAL && serial <= LAST_SERIAL ? serial : null
}

/** The kind of a cell that shows a date or time. */
export type DateShape = 'date' | 'time'

/**
 * Returns the text of a date's number: `YYYY-MM-DD`, with `THH:MM:SS` unless it is midnight, or `HH:MM:SS` for a cell
 * that shows only a time. Rounds to milliseconds. Null for a number that is not a date.
 */
export function textOfSerial(serial: number, shape: DateShape, from1904: boolean): string | null {
  if (serial < 0 || serial > LAST_SERIAL + 1) return null
  const days = Math.floor(serial)
  const ms = Math.round((serial - days) * DAY_MS)
  if (shape === 'time' && days === 0)
    return new Date(ms)
      .toISOString()
      .slice(11, -1)
      .replace(/\.000$/, '')
  const real = from1904 ? days + DAYS_TO_1904 : days
  // Before March 1900 the numbers are one too low, because of the nonexistent day.
  const shifted = !from1904 && real < FIRST_SERIAL ? real + 1 : real
  const iso = new Date(EPOCH + shifted * DAY_MS + ms).toISOString()
  return ms === 0 ? iso.slice(0, 10) : iso.slice(0, -1).replace(/\.000$/, '')
}

/** Ids of the built-in number formats that are dates or times. */
const BUILT_IN_DATES = new Set([
  14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58,
])
const BUILT_IN_TIMES = new Set([18, 19, 20, 21, 32, 33, 45, 46, 47])

/** Returns whether a number format shows a date or a time; null for neither. `code` is that of a custom format. */
export function dateShapeOf(id: number, code: string | undefined): DateShape | null {
  if (code === undefined) return BUILT_IN_DATES.has(id) ? 'date' : BUILT_IN_TIMES.has(id) ? 'time' : null
  // Ignores quoted text, escaped characters, and brackets other than elapsed time.
  const letters = code
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .toLowerCase()
  if (/general/.test(letters)) return null
  if (/[yd]/.test(letters)) return 'date'
  return /[hs]/.test(letters) ? 'time' : /m/.test(letters) ? 'date' : null
}
