import type { FileFormat } from './io/file-format.ts'
import { withoutNullTexts } from './io/null-texts.ts'
import type { FileSource, RawRecords } from './io/raw-records.ts'
import { checkReadOptions, type ReadFileOptions } from './io/read-options.ts'
import { readCsvFile } from './csv/read-csv-file.ts'
import { readJsonFile } from './json/read-json-file.ts'
import { readNdjsonFile } from './json/read-ndjson-file.ts'

/**
 * Opens a file of records, and reads as much of it as it takes to know its columns. Throws ValidationError naming file
 * and place for what is no such file, and for an option that does not go with the format, SheetError where there is none.
 */
export async function readRecordFile(
  source: FileSource,
  format: FileFormat,
  options: ReadFileOptions = {},
): Promise<RawRecords> {
  checkReadOptions(options, format)
  return withoutNullTexts(await openFile(source, format, options), options.nulls ?? [])
}

async function openFile(
  source: FileSource,
  format: FileFormat,
  options: ReadFileOptions,
): Promise<RawRecords> {
  switch (format) {
    case 'csv':
      return readCsvFile(source, options)
    case 'json':
      return readJsonFile(source, options)
    case 'ndjson':
      return readNdjsonFile(source, options)
    // Loaded only when asked for: their libraries take a while to read.
    case 'parquet':
      return (await import('./parquet/read-parquet-file.ts')).readParquetFile(source)
    case 'xlsx':
      return (await import('./xlsx/read-xlsx-file.ts')).readXlsxFile(source, options)
  }
}
