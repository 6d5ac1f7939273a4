import type { PlainServiceError } from '../../errors/service-error.ts'
import type { FileSource } from '../io/raw-records.ts'

/** The data with which a thread that reads a Parquet file starts. */
export interface ParquetThreadData {
  readonly source: FileSource
}

/** Messages of such a thread: `opened` first, then one of the others for each request. */
export type ParquetReply =
  | { readonly kind: 'opened'; readonly fields: readonly string[]; readonly total: number }
  /** JSON text of an array of raw records, which is faster to transfer than the records. */
  | { readonly kind: 'batch'; readonly records: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly error: PlainServiceError }
  /** A bug; `stack` is that of the thread. */
  | { readonly kind: 'broken'; readonly stack: string }
