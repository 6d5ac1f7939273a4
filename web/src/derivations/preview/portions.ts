import type { PreviewAnswer } from '../../../../src/wire/definition/preview.ts'

/** Records that the service computes at the same time. */
const AT_ONCE = 4

/** Returns the records of each request of a preview: the first record alone, so that its value is soon there; all at once if none takes long. */
export function portionsOf(ids: readonly string[], isQuick: boolean): readonly (readonly string[])[] {
  if (isQuick) return [ids]
  const portions = [ids.slice(0, 1)]
  for (let start = 1; start < ids.length; start += AT_ONCE) portions.push(ids.slice(start, start + AT_ONCE))
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
