import { fromBase64, utf8 } from './bytes.ts'
import { HASH_BYTES, leafHash, type Sha256 } from './merkle.ts'

/** A line whose content was erased on demand: its leaf of the Merkle tree is left. */
export interface ErasedLine {
  readonly seq: number
  readonly at: string
  /** The hash of the leaf that the line had, in base64. */
  readonly erased: string
}

/** More bytes than any erased line has. */
export const ERASED_BYTES = 256

const ERASED = /^\{"seq":\d{1,16},"at":"[^"\\]*","erased":"([^"\\]*)"\}$/

/** Returns the text of an erased line, without the line break. */
export function formatErased({ seq, at, erased }: ErasedLine): string {
  return JSON.stringify({ seq, at, erased })
}

/** Returns the hash of the leaf that an erased line had; null for any other line. */
export function erasedLeaf(text: string): Uint8Array | null {
  const [, encoded] = ERASED.exec(text) ?? []
  if (encoded === undefined) return null
  const hash = fromBase64(encoded)
  return hash?.length === HASH_BYTES ? hash : null
}

/** Returns the leaf of a line in the Merkle tree of the log: of its text in UTF-8, without its line break. */
export function lineLeaf(sha256: Sha256, text: string): Uint8Array {
  return erasedLeaf(text) ?? leafHash(sha256, utf8(text))
}
