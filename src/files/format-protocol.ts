import type { Field } from '../contract/contract.ts'
import type { PlainServiceError } from '../errors/service-error.ts'
import type { FileFormat } from './io/file-format.ts'

/** What a thread that makes a file is made with. */
export interface FormatThreadData {
  readonly format: FileFormat
  readonly fields: readonly Field[]
  readonly raw: boolean
  readonly delimiter: string | null
}

/** What such a thread is sent: what it asked for with `page`, null at the end; and that its `bytes` have been taken. */
export type FormatReply =
  { readonly kind: 'page'; readonly page: Uint8Array | null } | { readonly kind: 'taken' }

/** What such a thread sends. It may ask for a page while its bytes have yet to be taken. */
export type FormatMessage =
  | { readonly kind: 'page' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly error: PlainServiceError }
  /** A fault of the program. */
  | { readonly kind: 'broken'; readonly stack: string }
