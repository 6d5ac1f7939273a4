import type { FileFormat } from './file-format.ts'
import type { FileSource, RawRecords } from './raw-records.ts'
import { readCsvFile } from './csv/read-csv-file.ts'
import { readJsonFile } from './json/read-json-file.ts'
import { readNdjsonFile } from './json/read-ndjson-file.ts'

export interface ReadFileOptions {
  /** True takes CSV cells as they are, and does not undo the guard against formulas that an export puts up. */
  readonly raw?: boolean
}

/**
 * Opens a file of records, and reads as much of it as it takes to know its columns. Throws ValidationError naming file
 * and place for what is no such file, SheetError where there is none.
 */
export async function readRecordFile(
  source: FileSource,
  format: FileFormat,
  { raw = false }: ReadFileOptions = {},
): Promise<RawRecords> {
  switch (format) {
    case 'csv':
      return readCsvFile(source, { raw })
    case 'json':
      return readJsonFile(source)
    case 'ndjson':
      return readNdjsonFile(source)
    // Loaded only when asked for: their libraries take a while to read.
    case 'parquet':
      return (await import('./parquet/read-parquet-file.ts')).readParquetFile(source)
    case 'xlsx':
      return (await import('./xlsx/read-xlsx-file.ts')).readXlsxFile(source)
  }
}
