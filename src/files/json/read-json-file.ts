import { Batch, type FileSource, type RawRecord, type RawRecords } from '../io/raw-records.ts'
import type { ReadFileOptions } from '../io/read-options.ts'
import { readText, type TextReader } from '../io/read-text.ts'
import { findRecords } from './find-records.ts'
import { JsonSplitter, type JsonItem } from './json-splitter.ts'
import { parseRecord } from './parse-record.ts'

/** Reads a JSON array of records, or an object that contains one, which is detected unless an option names it. */
export async function readJsonFile(source: FileSource, options: ReadFileOptions): Promise<RawRecords> {
  const { encoding = null, recordsAt = null } = options
  const text = await readText(source, encoding)
  const { path, guess } = await findRecords(text, recordsAt, source.name)
  return {
    source,
    fields: null,
    cells: 'values',
    unit: 'record',
    batches: { [Symbol.asyncIterator]: () => batchesOf(source, text, path) },
    guesses: () => [text.guess, guess].filter((each) => each !== null),
    progress: () => text.progress(),
  }
}

async function* batchesOf(
  source: FileSource,
  text: TextReader,
  path: readonly string[],
): AsyncGenerator<readonly RawRecord[]> {
  const splitter = new JsonSplitter(source.name, path)
  const batch = new Batch()
  const add = ({ text: item, number, line }: JsonItem): void => {
    const place = `${source.name}:${line}, record ${number}`
    batch.add({ values: parseRecord(item, place), at: number, line }, item.length)
  }
  for await (const piece of text.pieces) {
    for (const item of splitter.push(piece)) {
      add(item)
      if (batch.isFull) yield batch.take()
    }
  }
  splitter.end()
  if (!batch.isEmpty) yield batch.take()
}
