import { parseMoment } from '../../contract/values/date-time.ts'
import { OperationError, ValidationError } from '../../errors/service-error.ts'
import { shorten } from '../../errors/violations.ts'
import type { HistoryRange, SheetStore } from '../../store/sheet-store.ts'

/** Seconds from the first day of year 0, the epoch of parsed moments, to 1970. */
const UNIX_EPOCH = 62_167_219_200

/**
 * Returns the seq that `as_of` means. Digits are that seq, with 0 for the sheet before its first entry; a time is the
 * last entry that is not later. Throws ValidationError for a text that is neither and for the future, OperationError
 * for a time before the log of the store begins.
 */
export async function resolveAsOf(store: SheetStore, asOf: string): Promise<number> {
  if (/^\d+$/.test(asOf)) return known(asOf, Number(asOf), await store.history())
  const time = momentOf(asOf)
  const now = await store.now()
  if (time > Date.parse(now)) {
    throw new ValidationError(`as_of ${shorten(asOf)} is in the future; it is ${now} now`, 'invalid_as_of')
  }
  const seq = await store.seqAt(new Date(time).toISOString())
  return known(asOf, seq, await store.history())
}

/** Throws OperationError where one of these parameters is given, which apply to present records only. */
export function refuseInPast(query: Readonly<Record<string, unknown>>): void {
  const [besides] = Object.keys(query).filter((name) => query[name] !== null)
  if (besides === undefined) return
  throw new OperationError(
    `${besides} and as_of cannot be combined: earlier states are filtered with where, a condition as data`,
  )
}

function known(asOf: string, seq: number, { first, firstAt, last }: HistoryRange): number {
  if (seq > last) {
    throw new ValidationError(
      `as_of ${shorten(asOf)} has not happened yet; the last entry is ${last}`,
      'invalid_as_of',
    )
  }
  if (seq < first) {
    const since =
      firstAt === null
        ? `seq ${first}, which has not been written yet`
        : `the first entry of its store, seq ${first}, ${firstAt}`
    throw new OperationError(
      `as_of ${shorten(asOf)} is too early: earlier states are known since ${since}; ` +
        'entries before that are from a store that no longer exists',
      'history_not_kept',
    )
  }
  return seq
}

/** Parses a time into milliseconds since 1970, the precision of log entries. */
function momentOf(text: string): number {
  const moment = parseMoment('timestamp', text)
  if (moment === null) {
    // An unescaped "+" in a URL arrives as a space.
    const hint = / \d\d:\d\d$/.test(text) ? '; a "+" is written %2B in a URL' : ''
    throw new ValidationError(
      'as_of must be a seq (digits, such as 42) or a time (ISO 8601 with offset, such as 2024-03-10T14:22:35Z), ' +
        `got ${JSON.stringify(shorten(text))}${hint}`,
      'invalid_as_of',
    )
  }
  return (moment.seconds - UNIX_EPOCH) * 1000 + Number(moment.fraction.slice(0, 3).padEnd(3, '0'))
}
