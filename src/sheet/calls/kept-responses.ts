import { ValidationError } from '../../errors/service-error.ts'
import type { ResponsesSummary, TrimResult } from '../../store/stored-responses.ts'
import { later } from '../../store/rows/stored-rows.ts'
import type { Sheet } from '../sheet.ts'

/** Which kept responses to remove, and how many may be kept from now on. */
export interface ResponsesChange {
  /** Bytes that are kept at most from now on, 0 for none; null leaves the limit as it is. */
  readonly limit: number | null
  /** Milliseconds: responses received longer ago are removed. Null for none by age. */
  readonly olderThanMs: number | null
  /** The longest unused are removed until the others take at most so many bytes, 0 for all. Null for no such condition. */
  readonly trimTo: number | null
}

/** What a sheet keeps of responses. Throws ContractError while the contract is broken. */
export async function readKeptResponses(sheet: Sheet): Promise<ResponsesSummary> {
  const { store } = await sheet.current()
  return store.responses.summary()
}

/** Removes kept responses and sets the limit. Throws ValidationError for a bound that is none. */
export async function changeKeptResponses(
  sheet: Sheet,
  { limit, olderThanMs, trimTo }: ResponsesChange,
): Promise<TrimResult> {
  for (const bytes of [limit, trimTo]) {
    if (bytes === null || (Number.isSafeInteger(bytes) && bytes >= 0)) continue
    throw new ValidationError(
      `a size of kept responses must be a whole number of bytes, at least 0, got ${bytes}`,
    )
  }
  const { store } = await sheet.current()
  const before = olderThanMs === null ? null : later(await store.responses.now(), -olderThanMs)
  const trimmed = await store.responses.trim({ before, maxBytes: trimTo })
  if (limit === null) return trimmed
  const beyond = await store.responses.setLimit(limit)
  return { removed: trimmed.removed + beyond.removed, bytes: trimmed.bytes + beyond.bytes }
}
