import { fromBase64 } from './bytes.ts'
import { HASH_BYTES } from './merkle.ts'

/** The beginning of a line of the log from which values were erased: its leaf hash from before follows its seq. */
const ERASED = /^\{"seq":\d{1,16},"erased":"([A-Za-z0-9+/]{43}=)"/

/**
 * Returns the leaf hash that a line of the log had before values were erased from it, by which it stays in the Merkle tree; null for
 * any other line.
 */
export function erasedLeaf(line: string): Uint8Array | null {
  const leaf = ERASED.exec(line)?.[1]
  if (leaf === undefined) return null
  const bytes = fromBase64(leaf)
  return bytes?.length === HASH_BYTES ? bytes : null
}
