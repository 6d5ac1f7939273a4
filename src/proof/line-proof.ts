import { fromBase64, toBase64 } from './bytes.ts'
import { parseNote, type CheckpointNote } from './checkpoint.ts'
import { rootFromInclusion, isEqual, type Sha256 } from './merkle.ts'

/**
 * The proof that a line is in a log: its text, and the path from its leaf to the root of a checkpoint. Written as JSON, with
 * the path as C2SP defines it (tlog-proof).
 */
export interface LineProof {
  /** The text of the line, without its line break. */
  readonly line: string
  /** The number of lines before it. */
  readonly index: number
  readonly path: readonly Uint8Array[]
  readonly checkpoint: CheckpointNote
}

const HEADER = 'c2sp.org/tlog-proof@v1'
const INDEX = /^index (0|[1-9]\d{0,15})$/

/** Returns the path of a proof as text. */
export function formatPath({ index, path, checkpoint }: Omit<LineProof, 'line'>): string {
  const hashes = path.map((hash) => `${toBase64(hash)}\n`).join('')
  return `${HEADER}\nindex ${index}\n${hashes}\n${checkpoint.text}`
}

/** Reads what {@link formatPath} writes; null for anything else. */
export function parsePath(text: string): Omit<LineProof, 'line'> | null {
  const end = text.indexOf('\n\n')
  const [header, index = '', ...hashes] = text.slice(0, end).split('\n')
  const [, number] = INDEX.exec(index) ?? []
  if (end === -1 || header !== HEADER || number === undefined) return null
  const path = hashes.map((hash) => fromBase64(hash))
  const checkpoint = parseNote(text.slice(end + 2))
  if (checkpoint === null || path.some((hash) => hash === null)) return null
  return { index: Number(number), path: path.filter((hash) => hash !== null), checkpoint }
}

/** Whether the line of a proof is in the log of its checkpoint, at its place. */
export function isProven(sha256: Sha256, leaf: Uint8Array, proof: Omit<LineProof, 'line'>): boolean {
  const { index, path, checkpoint } = proof
  const root = rootFromInclusion(sha256, { leaf, index, size: checkpoint.size, proof: path })
  return root !== null && isEqual(root, checkpoint.root)
}
