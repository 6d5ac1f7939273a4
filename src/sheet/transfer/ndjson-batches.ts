import { TextDecoder } from 'node:util'
import type { Readable } from 'node:stream'
import { MAX_RECORD_SIZE, tooLargeRecord } from '../../files/io/file-limits.ts'
import { parseRecord } from '../../files/json/parse-record.ts'
import { Batch, type RawRecord } from '../../files/io/raw-records.ts'
import { ValidationError } from '../../errors/service-error.ts'

/**
 * Yields the records of a stream of JSON lines. A batch ends when it is full, and when no more input is available, so
 * that a line of a slow stream is written at once. Throws ValidationError with the line.
 */
export async function* ndjsonBatches(stream: Readable, name: string): AsyncGenerator<readonly RawRecord[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const batch = new Batch()
  let line = 0
  let open = ''
  const add = (content: string): void => {
    line += 1
    if (content.length > MAX_RECORD_SIZE) throw tooLargeRecord(`${name}:${line}`)
    if (content.trim() === '') return
    batch.add({ values: parseRecord(content, `${name}:${line}`), at: line }, content.length)
  }
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines = (open + decoded(decoder, chunk, `${name}:${line + 1}`)).split('\n')
    open = lines.pop() ?? ''
    if (open.length > MAX_RECORD_SIZE) throw tooLargeRecord(`${name}:${line + 1}`)
    for (const content of lines) {
      add(content)
      if (batch.isFull) yield batch.take()
    }
    if (!batch.isEmpty && stream.readableLength === 0) yield batch.take()
  }
  const last = open + decoded(decoder, undefined, `${name}:${line + 1}`)
  if (last !== '') add(last)
  if (!batch.isEmpty) yield batch.take()
}

function decoded(decoder: TextDecoder, chunk: Buffer | undefined, place: string): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined })
  } catch {
    throw new ValidationError(`${place}: not valid UTF-8`, 'unknown_encoding')
  }
}
