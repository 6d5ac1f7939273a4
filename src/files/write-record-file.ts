import type { Field } from '../contract/contract.ts'
import { writeCsv } from './csv/write-csv.ts'
import type { FileFormat } from './io/file-format.ts'
import { writeJson, writeNdjson } from './json/write-json.ts'
import type { RecordPages } from './io/record-pages.ts'

export interface WriteFileOptions {
  /** True leaves out the guard against formulas in CSV. */
  readonly raw?: boolean
  /** What stands between the cells of CSV; a comma unless it is given. */
  readonly delimiter?: string | null
}

/**
 * The bytes of a file with these records, in pieces, made as they are asked for: what is in memory does not grow with the
 * number of records. `fields` are the columns. Throws ValidationError for what the format cannot hold.
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
    // Loaded only when asked for: their libraries take a while to read.
    case 'parquet':
      return yield* (await import('./parquet/write-parquet.ts')).writeParquet(fields, pages)
    case 'xlsx':
      return yield* (await import('./xlsx/write-xlsx.ts')).writeXlsx(fields, pages)
  }
}
