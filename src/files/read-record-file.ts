import type { FileFormat } from './io/file-format.ts'
import { withoutNullTexts } from './io/null-texts.ts'
import type { FileSource, RawRecords } from './io/raw-records.ts'
import { checkReadOptions, type ReadFileOptions } from './io/read-options.ts'
import { readCsvFile } from './csv/read-csv-file.ts'
import { readJsonFile } from './json/read-json-file.ts'
import { readNdjsonFile } from './json/read-ndjson-file.ts'

/**
 * Opens a file of records and reads enough of it to know its columns. Throws ValidationError, naming file and place,
 * for an invalid file and for an option that the format does not support, SheetError if there is no file.
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
    // Loaded on demand: these libraries load slowly.
    case 'parquet':
      return (await import('./parquet/read-parquet-file.ts')).readParquetFile(source)
    case 'xlsx':
      return (await import('./xlsx/read-xlsx-file.ts')).readXlsxFile(source, options)
  }
}
