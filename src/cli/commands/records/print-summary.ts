import { bindFilter } from '../../../sheet/queries/bind-filter.ts'
import { summarizeRecords } from '../../../sheet/queries/summarize-records.ts'
import type { FieldSummaryAnswer, SummaryAnswer } from '../../../wire/records/summary.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { recordsText } from '../../terminal/progress-line.ts'
import type { ParamValue } from '../../options/record-options.ts'
import { shownValue, tableOf, type Column } from '../../terminal/table.ts'
import type { Screen } from '../../terminal/terminal.ts'

/** The records to count. */
export interface WhichCounted {
  readonly filter: string | null
  readonly params: readonly ParamValue[]
  /** A condition as JSON text; null for none. */
  readonly where: string | null
}

export interface WhatToSummarize extends WhichCounted {
  /** The fields; null for all. */
  readonly fields: readonly string[] | null
  readonly search: string | null
}

/** Prints a summary; its JSON is that of `GET /api/summary`. Throws as {@link summarizeRecords} and {@link bindFilter} do. */
export async function printSummary(
  { sheet, out }: CommandContext,
  { fields, filter, params, where, search }: WhatToSummarize,
): Promise<void> {
  const { contract } = await sheet.current()
  const answer = await summaryOf(sheet, {
    fields: fields ?? contract.fields.map(({ name }) => name),
    filter: await bindFilter(sheet, filter, params),
    where,
    search,
  })
  await out.print(answer, (screen) => summaryText(answer, screen))
}

/** Prints the number of records. Throws as {@link printSummary} does. */
export async function printCount(
  { sheet, out }: CommandContext,
  { filter, params, where }: WhichCounted,
): Promise<void> {
  const bound = await bindFilter(sheet, filter, params)
  const { count } = await summaryOf(sheet, { fields: null, filter: bound, where })
  await out.print({ count }, () => String(count))
}

async function summaryOf(...asked: Parameters<typeof summarizeRecords>): Promise<SummaryAnswer> {
  return JSON.parse(String(await summarizeRecords(...asked))) as SummaryAnswer
}

interface Line extends FieldSummaryAnswer {
  readonly name: string
  readonly count: number
}

function summaryText({ count, fields }: SummaryAnswer, screen: Screen): string {
  const lines = Object.entries(fields).map(([name, field]): Line => ({ name, count, ...field }))
  return `${recordsText(count)}\n\n${tableOf(COLUMNS, lines, screen)}`
}

const COLUMNS: readonly Column<Line>[] = [
  { header: 'field', value: ({ name }) => name, style: () => 'bold' },
  { header: 'values', value: ({ count, nulls }) => count - nulls },
  { header: 'empty', value: ({ nulls }) => nulls, style: ({ nulls }) => (nulls > 0 ? 'yellow' : 'dim') },
  { header: 'distinct', value: ({ distinct }) => distinct },
  {
    header: 'range or most frequent',
    value: ({ histogram, top = [] }) =>
      histogram === undefined
        ? top.length === 0
          ? null
          : top.map(({ value, count }) => `${shownValue(value)} (${count})`).join(', ')
        : `${shownValue(histogram.from)} to ${shownValue(histogram.to)}`,
  },
]
