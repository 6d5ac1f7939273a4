import { listDeleted } from '../../../sheet/queries/list-deleted.ts'
import { toDeletedAnswer, type DeletedAnswer } from '../../../wire/records/deleted.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { Pages } from '../../terminal/pages.ts'
import { printPages } from '../../terminal/print-pages.ts'
import { toSeconds, type Column } from '../../terminal/table.ts'

type Deleted = DeletedAnswer['records'][number]

export interface WhichDeleted {
  /** The number of records; infinite for all. */
  readonly limit: number
  readonly cursor: string | null
}

/** Prints the deleted records, the last deleted first. Throws as {@link listDeleted} does. */
export async function printDeleted(
  { sheet, out }: CommandContext,
  { limit, cursor }: WhichDeleted,
): Promise<void> {
  const pages = new Pages<Deleted>(async (page) => {
    const answer = toDeletedAnswer(await listDeleted(sheet, page))
    return { items: answer.records, nextCursor: answer.next_cursor }
  }, cursor)
  await printPages(out, pages, { limit, member: 'records', columns: COLUMNS, none: 'no record is deleted' })
}

const COLUMNS: readonly Column<Deleted>[] = [
  { header: 'record', value: ({ record_id: id }) => id },
  { header: 'deleted', value: ({ at }) => toSeconds(at) },
  { header: 'by', value: ({ actor }) => actor },
  { header: 'exists again', value: ({ exists }) => (exists ? 'yes' : null), style: () => 'yellow' },
  { header: 'values', value: ({ values: { id: _, ...others } }) => others },
]
