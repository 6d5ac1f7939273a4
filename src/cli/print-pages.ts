import type { Output, ListShape } from './output.ts'
import type { Pages } from './pages.ts'

interface PagesShape<T> extends Pick<ListShape<T>, 'columns' | 'none'> {
  /** Infinite for all. */
  readonly limit: number
  /** The member of the JSON answer that has the items. */
  readonly member: string
}

/** Prints a list that comes in pages; its JSON is that of the HTTP answers, `{"<member>": […], "next_cursor": …}`. */
export async function printPages<T>(
  out: Output,
  pages: Pages<T>,
  { limit, member, columns, none }: PagesShape<T>,
): Promise<void> {
  await out.printList(pages.upTo(limit), {
    columns,
    none,
    envelope: [`{${JSON.stringify(member)}:`, () => `,"next_cursor":${JSON.stringify(pages.nextCursor)}}`],
  })
  // JSON has the cursor in it; who reads anything else might take what came for everything.
  const { nextCursor } = pages
  if (nextCursor !== null && out.format !== 'json') {
    out.note(`There are more: --all shows all, --cursor ${nextCursor} the next.`)
  }
}
