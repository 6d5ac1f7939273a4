import type { Field } from '../contract/contract.ts'
import { writeCsv } from './csv/write-csv.ts'
import type { FileFormat } from './io/file-format.ts'
import { writeJson, writeNdjson } from './json/write-json.ts'
import type { RecordPages } from './io/record-pages.ts'

export interface WriteFileOptions {
  /** Omits the guard against formulas in CSV. */
  readonly raw?: boolean
  /** The delimiter of CSV (default: comma). */
  readonly delimiter?: string | null
}

/**
 * Returns the bytes of a file with these records, produced on demand: memory does not grow with the number of
 * records. `fields` are the columns. Throws ValidationError for values that the format cannot represent.
 */
export async function* writeRecordFile(
  format: FileFormat,
  { fields, pages }: { readonly fields: readonly Field[]; readonly pages: RecordPages },
  { raw = false, delimiter = null }: WriteFileOptions = {},
): AsyncGenerator<Uint8Array> {
  switch (format) {
    case 'csv':
      return yield* writeCsv(fields, pages, { raw, delimiter: delimiter ?? ',' })
    case 'json':
      return yield* writeJson(pages)
    case 'ndjson':
      return yield* writeNdjson(pages)
    // Loaded on demand: these libraries load slowly.
    case 'parquet':
      return yield* (await import('./parquet/write-parquet.ts')).writeParquet(fields, pages)
    case 'xlsx':
      return yield* (await import('./xlsx/write-xlsx.ts')).writeXlsx(fields, pages)
  }
}
