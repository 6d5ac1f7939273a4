import type { RecordPages } from '../io/record-pages.ts'

/** A JSON array of the records, made of the pages as they are. */
export async function* writeJson(pages: RecordPages): AsyncGenerator<Uint8Array> {
  let before = '['
  for await (const page of pages) {
    // Without its brackets.
    const items = page.subarray(1, -1)
    if (items.length === 0) continue
    yield Buffer.concat([Buffer.from(before), items])
    before = ',\n'
  }
  yield Buffer.from(before === '[' ? '[]\n' : ']\n')
}
