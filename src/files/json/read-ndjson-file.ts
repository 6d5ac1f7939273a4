import { MAX_RECORD_SIZE, tooLargeRecord } from '../io/file-limits.ts'
import { Batch, type FileSource, type RawRecord, type RawRecords } from '../io/raw-records.ts'
import type { ReadFileOptions } from '../io/read-options.ts'
import { readText, type TextReader } from '../io/read-text.ts'
import { parseRecord } from './parse-record.ts'

/** Reads a file with a JSON object on each line. Blank lines are ignored. */
export async function readNdjsonFile(
  source: FileSource,
  { encoding = null }: ReadFileOptions,
): Promise<RawRecords> {
  const text = await readText(source, encoding)
  return {
    source,
    fields: null,
    cells: 'values',
    unit: 'line',
    batches: { [Symbol.asyncIterator]: () => batchesOf(source, text) },
    guesses: () => (text.guess === null ? [] : [text.guess]),
    progress: () => text.progress(),
  }
}

async function* batchesOf(source: FileSource, text: TextReader): AsyncGenerator<readonly RawRecord[]> {
  const batch = new Batch()
  let line = 0
  const add = (content: string): void => {
    line += 1
    if (content.length > MAX_RECORD_SIZE) throw tooLargeRecord(`${source.name}:${line}`)
    if (content.trim() === '') return
    batch.add({ values: parseRecord(content, `${source.name}:${line}`), at: line }, content.length)
  }
  // Pieces of an incomplete line, joined at its end.
  let open: string[] = []
  let openSize = 0
  for await (const piece of text.pieces) {
    let from = 0
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', from)) {
      open.push(piece.slice(from, end))
      add(open.join(''))
      open = []
      openSize = 0
      from = end + 1
      if (batch.isFull) yield batch.take()
    }
    if (from === piece.length) continue
    open.push(piece.slice(from))
    openSize += piece.length - from
    if (openSize > MAX_RECORD_SIZE) throw tooLargeRecord(`${source.name}:${line + 1}`)
  }
  if (open.length > 0) add(open.join(''))
  if (!batch.isEmpty) yield batch.take()
}
