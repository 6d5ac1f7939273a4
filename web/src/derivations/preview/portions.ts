import type { PreviewAnswer } from '../../../../src/wire/definition/preview.ts'
import { ROWS } from './preview-rows.ts'

/** Records that the service computes at the same time. */
const AT_ONCE = 4

/** The records of one request: those with these ids, or a sample. */
type Portion = { readonly record_ids: string[] } | { readonly sample: number; readonly seed: number }

interface PortionOptions {
  /** Chooses the records of a sample. */
  readonly seed: number
  /** Whether all records are computed in one request, since none takes long. */
  readonly isQuick: boolean
}

/** Returns the requests of a preview: the first record alone, so that its value is soon there; with null one request for a sample. */
export function portionsOf(
  ids: readonly string[] | null,
  { seed, isQuick }: PortionOptions,
): readonly Portion[] {
  if (ids === null) return [{ sample: ROWS, seed }]
  if (isQuick) return [{ record_ids: [...ids] }]
  const portions: Portion[] = [{ record_ids: ids.slice(0, 1) }]
  for (let start = 1; start < ids.length; start += AT_ONCE)
    portions.push({ record_ids: ids.slice(start, start + AT_ONCE) })
  return portions
}

/** Joins the results of further records to those of earlier ones. */
export function joined(one: PreviewAnswer, further: PreviewAnswer): PreviewAnswer {
  return {
    ...further,
    records: [...one.records, ...further.records],
    calls: one.calls + further.calls,
    total_cost: one.total_cost + further.total_cost,
    unpriced_calls: one.unpriced_calls + further.unpriced_calls,
  }
}
