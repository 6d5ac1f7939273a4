import { listRecords, type ListRecordsQuery } from '../../../sheet/queries/list-records.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { Pages } from '../../terminal/pages.ts'
import { printPages } from '../../terminal/print-pages.ts'

type RecordObject = Readonly<Record<string, unknown>>

export interface WhichRecords extends Omit<ListRecordsQuery, 'limit' | 'position' | 'changed'> {
  /** The number of records; infinite for all. */
  readonly limit: number
}

/** Prints records as they are read, a page in memory at a time. Throws as {@link listRecords} does. */
export async function printRecords({ sheet, out }: CommandContext, which: WhichRecords): Promise<void> {
  const { limit, cursor: start, ...query } = which
  const pages = new Pages<RecordObject>(async (page) => {
    const { records, nextCursor } = await listRecords(sheet, { ...query, ...page })
    return { items: JSON.parse(Buffer.from(records).toString()) as RecordObject[], nextCursor }
  }, start)
  const { contract } = await sheet.current()
  const names = which.fields ?? contract.fields.map(({ name }) => name)
  await printPages(out, pages, {
    limit,
    member: 'records',
    // As in the response of `GET /api/records`; it has no limit of its own for all records.
    beside: () => ({ format: 'json', limit: Number.isFinite(limit) ? limit : null }),
    columns: names.map((name) => ({ header: name, value: (record) => record[name] })),
    none: 'no records',
  })
}
