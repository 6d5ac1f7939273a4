import { parsePage, type RecordPages } from '../io/record-pages.ts'

/** The records as JSON, one to a line. */
export async function* writeNdjson(pages: RecordPages): AsyncGenerator<Uint8Array> {
  for await (const page of pages) {
    const lines = parsePage(page).map((record) => `${JSON.stringify(record)}\n`)
    if (lines.length > 0) yield Buffer.from(lines.join(''))
  }
}
