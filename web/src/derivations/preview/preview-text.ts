import type { PreviewAnswer } from '../../../../src/wire/definition/preview.ts'
import { countOf, formatCount, formatMoney, formatTimeLeft } from '../../ui/format.ts'
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

interface SummaryOptions {
  readonly present: ReadonlyMap<string, Present> | null
  /** The number of records of the sheet; null while it is not known. */
  readonly count: number | null
}

/**
 * Returns what a preview found, such as "5 of 5 valid", "2 changed, 3 same", "5 calls, about $0.004 a call", "at most about $400.00 for 100,000
 * records" and "about 3 h at 8 in parallel". Values are compared only for a derivation that exists.
 */
export function previewSummary(answer: PreviewAnswer, { present, count }: SummaryOptions): readonly string[] {
  const { records, calls, total_cost: cost, unpriced_calls: unpriced } = answer
  const valid = records.filter(isValid)
  const parts = [`${formatCount(valid.length)} of ${formatCount(records.length)} valid`]
  if (present !== null && valid.length > 0) {
    const changed = valid.filter((row) => isChanged(row, present.get(row.record_id))).length
    parts.push(`${formatCount(changed)} changed, ${formatCount(valid.length - changed)} same`)
  }
  if (calls === 0) return [...parts, 'no calls']
  const made = countOf(calls, 'call')
  if (unpriced > 0) parts.push(`${made}, cost not set`)
  else if (cost === 0) parts.push(`${made}, free`)
  else {
    parts.push(`${made}, about ${formatMoney(cost / calls)} a call`)
    const called = records.filter((row) => row.calls > 0).length
    if (count !== null && called > 0)
      parts.push(`at most about ${formatMoney((cost / called) * count)} for ${countOf(count, 'record')}`)
  }
  const time = count === null ? null : timeText(answer, count)
  return time === null ? parts : [...parts, time]
}

/** Returns the time that a run of all records takes if each call takes as long as those of the preview; null without calls to hosts. */
function timeText({ records, parallel }: PreviewAnswer, count: number): string | null {
  const called = records.filter((row) => row.calls > 0)
  if (parallel === null || called.length === 0 || count === 0) return null
  const each = called.reduce((sum, { ms }) => sum + ms, 0) / called.length
  const left = formatTimeLeft((each * count) / Math.min(parallel, count) / 1000)
  const lanes = Math.min(parallel, count)
  return `${left.startsWith('<') ? left : `about ${left}`} at ${formatCount(lanes)} in parallel`
}

/** The share of valid records below which a run of all is questioned. */
const ENOUGH = 4 / 5

/** Returns why a run of all records is questionable; null if most records of the preview were valid, and without a preview. */
export function doubtText(answer: PreviewAnswer | null): string | null {
  if (answer === null) return null
  const [valid, all] = [answer.records.filter(isValid).length, answer.records.length]
  if (valid >= all * ENOUGH) return null
  return `Only ${formatCount(valid)} of ${formatCount(all)} rows of the preview were valid. Run it for all records all the same?`
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
