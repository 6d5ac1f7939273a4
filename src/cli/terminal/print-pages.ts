import type { Output, ListShape } from './output.ts'
import type { Pages } from './pages.ts'

interface PagesShape<T> extends Pick<ListShape<T>, 'columns' | 'none'> {
  /** Infinite for all. */
  readonly limit: number
  /** The member of the JSON answer that has the items. */
  readonly member: string
  /** Further members of the JSON answer, between the items and `next_cursor`, once all items have been read. */
  beside?(): Readonly<Record<string, unknown>>
}

/** Prints a list that comes in pages; its JSON is that of the HTTP responses, `{"<member>": […], …, "next_cursor": …}`. */
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
  // JSON has the cursor in it; who reads anything else might take what came for everything.
  const { nextCursor } = pages
  if (nextCursor !== null && out.format !== 'json') {
    out.note(`There are more: --all shows all, --cursor ${nextCursor} the next.`)
  }
}
