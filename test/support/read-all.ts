import type { JsonObject } from '../../src/contract/json/json.ts'
import type { FileFormat } from '../../src/files/io/file-format.ts'
import type { FileSource, RawRecords } from '../../src/files/io/raw-records.ts'
import type { ReadFileOptions } from '../../src/files/io/read-options.ts'
import { readRecordFile } from '../../src/files/read-record-file.ts'

/** Reads a file of records completely. */
export async function readAll(
  source: FileSource,
  format: FileFormat,
  options: ReadFileOptions = {},
): Promise<{ readonly file: RawRecords; readonly records: JsonObject[]; readonly places: number[] }> {
  const file = await readRecordFile(source, format, options)
  const records: JsonObject[] = []
  const places: number[] = []
  for await (const batch of file.batches) {
    for (const { values, at } of batch) {
      records.push({ ...values })
      places.push(at)
    }
  }
  return { file, records, places }
}
