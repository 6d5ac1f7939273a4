import type { PreviewAnswer } from '../../../../src/wire/definition/preview.ts'
import { countOf, formatCount, formatMoney } from '../../ui/format.ts'
import { sameValue } from '../../values/same-value.ts'

export type PreviewRow = PreviewAnswer['records'][number]

/** The values that a record has now, by field. */
export type Present = Readonly<Record<string, unknown>>

/** Whether all targets have a value that the contract allows. */
export function isValid({ outcome, failures }: PreviewRow): boolean {
  return outcome === 'computed' && Object.keys(failures).length === 0
}

/** Whether a valid result differs from the values that the record has now. */
export function isChanged({ values }: PreviewRow, present: Present | undefined): boolean {
  return Object.entries(values).some(([target, value]) => !sameValue(value, present?.[target] ?? null))
}

/**
 * Returns what a preview found, such as "5 of 5 valid", "2 changed, 3 same" and "about $0.0004 a call, $40.00 for 100,000 records". Values are
 * compared only for a derivation that exists.
 */
export function previewSummary(
  { records, calls, total_cost: cost, unpriced_calls: unpriced }: PreviewAnswer,
  {
    present,
    count,
  }: { readonly present: ReadonlyMap<string, Present> | null; readonly count: number | null },
): readonly string[] {
  const valid = records.filter(isValid)
  const parts = [`${formatCount(valid.length)} of ${formatCount(records.length)} valid`]
  if (present !== null && valid.length > 0) {
    const changed = valid.filter((row) => isChanged(row, present.get(row.record_id))).length
    parts.push(`${formatCount(changed)} changed, ${formatCount(valid.length - changed)} same`)
  }
  if (calls === 0) return [...parts, 'no calls']
  const priced = calls - unpriced
  if (unpriced > 0) return [...parts, `${countOf(calls, 'call')}, cost not set`]
  if (cost === 0) return [...parts, `${countOf(calls, 'call')}, free`]
  const each = cost / priced
  const all =
    count === null ? '' : `, at most about ${formatMoney(each * count)} for ${countOf(count, 'record')}`
  return [...parts, `${countOf(calls, 'call')}, about ${formatMoney(each)} a call${all}`]
}

/** Returns why a record has no values; null if it has some. */
export function reasonText(row: PreviewRow): string | null {
  switch (row.outcome) {
    case 'blocked':
      return `Waits for ${row.blocked_by?.field ?? 'an input'}, which ${blockText(row.blocked_by?.reason)}`
    case 'skipped':
      return 'Skipped: nothing is computed for this record'
    case 'left':
      return 'Not computed: the calls would exceed the bound of the cost'
    default:
      return null
  }
}

function blockText(reason: string | undefined): string {
  return reason === 'input_failed' ? 'failed' : reason === 'input_empty' ? 'has no value' : 'is not computed'
}
