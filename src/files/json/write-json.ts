import { parsePage, type RecordPages } from '../io/record-pages.ts'

/** Writes a JSON array of the records from the bytes of the pages, unchanged. */
export async function* writeJson(pages: RecordPages): AsyncGenerator<Uint8Array> {
  let before = '['
  for await (const page of pages) {
    // The page without its brackets.
    const items = page.subarray(1, -1)
    if (items.length === 0) continue
    yield Buffer.concat([Buffer.from(before), items])
    before = ',\n'
  }
  yield Buffer.from(before === '[' ? '[]\n' : ']\n')
}

/** Writes the records as NDJSON: one JSON object per line. */
export async function* writeNdjson(pages: RecordPages): AsyncGenerator<Uint8Array> {
  for await (const page of pages) {
    const lines = parsePage(page).map((record) => `${JSON.stringify(record)}\n`)
    if (lines.length > 0) yield Buffer.from(lines.join(''))
  }
}
