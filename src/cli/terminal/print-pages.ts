import type { Output, ListShape } from './output.ts'
import type { Pages } from './pages.ts'

interface PagesShape<T> extends Pick<ListShape<T>, 'columns' | 'none'> {
  /** Infinite for all. */
  readonly limit: number
  /** The member of the JSON response that has the items. */
  readonly member: string
  /**
   * Returns further members of the JSON response, between the items and `next_cursor`, once all items have been read.
   */
  beside?(): Readonly<Record<string, unknown>>
}

/**
 * Prints a list that is read in pages; its JSON is that of the HTTP responses, `{"<member>": […], …, "next_cursor":
 * …}`.
 */
export async function printPages<T>(
  out: Output,
  pages: Pages<T>,
  { limit, member, beside = () => ({}), columns, none }: PagesShape<T>,
): Promise<void> {
  await out.printList(pages.upTo(limit), {
    columns,
    none,
    envelope: [
      `{${JSON.stringify(member)}:`,
      () => `,${JSON.stringify({ ...beside(), next_cursor: pages.nextCursor }).slice(1)}`,
    ],
  })
  // JSON contains the cursor; in other formats the list would look complete.
  const { nextCursor } = pages
  if (nextCursor !== null && out.format !== 'json') {
    out.note(`There are more: use --all for all, or --cursor ${nextCursor} for the next.`)
  }
}
