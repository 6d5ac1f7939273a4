import type { FileSource, PlaceUnit, RawRecord, RawRecords } from '../raw-records.ts'
import type { ReadFileOptions } from '../read-options.ts'
import { readText, type TextReader } from '../read-text.ts'

/** The records of a text file whose values are JSON; `batchesOf` finds them. */
export async function jsonRecords(
  source: FileSource,
  {
    encoding = null,
    unit,
    batchesOf,
  }: Pick<ReadFileOptions, 'encoding'> & {
    readonly unit: PlaceUnit
    readonly batchesOf: (source: FileSource, text: TextReader) => AsyncGenerator<readonly RawRecord[]>
  },
): Promise<RawRecords> {
  const text = await readText(source, encoding)
  return {
    source,
    fields: null,
    cells: 'values',
    unit,
    batches: { [Symbol.asyncIterator]: () => batchesOf(source, text) },
    guesses: () => (text.guess === null ? [] : [text.guess]),
    progress: () => text.progress(),
  }
}
