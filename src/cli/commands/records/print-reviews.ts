import { readReviews, type ReviewListQuery } from '../../../sheet/cells/read-reviews.ts'
import { toReviewListAnswer, type CellReviewAnswer } from '../../../wire/records/reviews.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { Pages } from '../../terminal/pages.ts'
import { printPages } from '../../terminal/print-pages.ts'
import { toSeconds, type Column } from '../../terminal/table.ts'

/** Prints reviews as they are read. Throws as {@link readReviews} does. */
export async function printReviews(
  { sheet, out }: CommandContext,
  { limit, cursor, ...query }: ReviewListQuery & { readonly limit: number },
): Promise<void> {
  const pages = new Pages<CellReviewAnswer>(async (page) => {
    const found = await readReviews(sheet, { ...query, ...page })
    return { items: toReviewListAnswer(found).reviews, nextCursor: found.nextCursor }
  }, cursor)
  await printPages(out, pages, {
    limit,
    member: 'reviews',
    beside: () => ({}),
    columns: COLUMNS,
    none: 'no reviews',
  })
}

const COLUMNS: readonly Column<CellReviewAnswer>[] = [
  { header: 'at', value: ({ at }) => toSeconds(at) },
  { header: 'actor', value: ({ actor }) => actor },
  { header: 'record', value: ({ record_id: id }) => id, style: () => 'bold' },
  { header: 'field', value: ({ field }) => field },
  { header: 'verdict', value: ({ verdict }) => verdict },
  { header: 'in force', value: ({ active }) => active },
  { header: 'note', value: ({ note }) => note },
]
