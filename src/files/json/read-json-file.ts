import { Batch, type FileSource, type RawRecord, type RawRecords } from '../raw-records.ts'
import type { ReadFileOptions } from '../read-options.ts'
import type { TextReader } from '../read-text.ts'
import { jsonRecords } from './json-records.ts'
import { JsonSplitter, type JsonItem } from './json-splitter.ts'
import { parseRecord } from './parse-record.ts'

/** Reads a file that is a JSON array of records, or an object whose member `records` is one. */
export function readJsonFile(source: FileSource, options: ReadFileOptions): Promise<RawRecords> {
  return jsonRecords(source, { ...options, unit: 'record', batchesOf })
}

async function* batchesOf(source: FileSource, text: TextReader): AsyncGenerator<readonly RawRecord[]> {
  const splitter = new JsonSplitter(source.name)
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
