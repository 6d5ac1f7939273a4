import type { PlainServiceError } from '../../errors/service-error.ts'
import type { FileSource } from '../io/raw-records.ts'

/** What a thread that reads a Parquet file is made with. */
export interface ParquetThreadData {
  readonly source: FileSource
}

/** What such a thread answers: first with `opened`, then to each message it gets with the next of the others. */
export type ParquetReply =
  | { readonly kind: 'opened'; readonly fields: readonly string[]; readonly total: number }
  /** JSON text of an array of raw records, which crosses faster than they would. */
  | { readonly kind: 'batch'; readonly records: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly error: PlainServiceError }
  /** A fault of the program. */
  | { readonly kind: 'broken'; readonly stack: string }
