import { ValidationError } from '../../errors/service-error.ts'
import type { ResponsesSummary, TrimResult } from '../../store/stored-responses.ts'
import { later } from '../../store/rows/stored-rows.ts'
import type { Sheet } from '../sheet.ts'

/** The kept responses to remove, and the limit from now on. */
export interface ResponsesChange {
  /** The maximum to keep from now on, in bytes; 0 keeps none, null leaves the limit as it is. */
  readonly limit: number | null
  /** Removes responses received longer ago than this, in milliseconds; null removes none by age. */
  readonly olderThanMs: number | null
  /** Removes the least recently used until the rest fits into so many bytes, 0 for all; null removes none by size. */
  readonly trimTo: number | null
}

/** Returns the size and the limit of the kept responses. Throws ContractError while the contract is broken. */
export async function readKeptResponses(sheet: Sheet): Promise<ResponsesSummary> {
  const { store } = await sheet.current()
  return store.responses.summary()
}

/** Removes kept responses and sets the limit. Throws ValidationError for a size that is not a whole number of bytes. */
export async function changeKeptResponses(
  sheet: Sheet,
  { limit, olderThanMs, trimTo }: ResponsesChange,
): Promise<TrimResult> {
  for (const bytes of [limit, trimTo]) {
    if (bytes === null || (Number.isSafeInteger(bytes) && bytes >= 0)) continue
    throw new ValidationError(
      `a size of kept responses must be a whole number of bytes, at least 0, got ${bytes}`,
      'out_of_range',
    )
  }
  const { store } = await sheet.current()
  const before = olderThanMs === null ? null : later(await store.responses.now(), -olderThanMs)
  const trimmed = await store.responses.trim({ before, maxBytes: trimTo })
  if (limit === null) return trimmed
  const beyond = await store.responses.setLimit(limit)
  return { removed: trimmed.removed + beyond.removed, bytes: trimmed.bytes + beyond.bytes }
}
