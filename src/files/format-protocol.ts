import type { Field } from '../contract/contract.ts'
import type { PlainServiceError } from '../errors/service-error.ts'
import type { FileFormat } from './io/file-format.ts'

/** The data with which a thread that writes a file starts. */
export interface FormatThreadData {
  readonly format: FileFormat
  readonly fields: readonly Field[]
  readonly raw: boolean
  readonly delimiter: string | null
}

/**
 * Messages to a thread that writes a file: a requested page, null at the end; and the confirmation that its bytes
 * were read.
 */
export type FormatReply =
  { readonly kind: 'page'; readonly page: Uint8Array | null } | { readonly kind: 'taken' }

/** Messages of a thread that writes a file. It may request a page before its bytes are read. */
export type FormatMessage =
  | { readonly kind: 'page' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly error: PlainServiceError }
  /** A bug; `stack` is that of the thread. */
  | { readonly kind: 'broken'; readonly stack: string }
