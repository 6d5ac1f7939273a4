import { parseNotes } from '../../proof/checkpoint.ts'
import { inFile } from '../../store/sheet-files/checkpoint-file.ts'

/** The outcome of merging the files of checkpoints. */
export interface MergedCheckpoints {
  /** The merged file. */
  readonly text: string
  /** The numbers of lines of the checkpoints of theirs that are left out. */
  readonly left: readonly number[]
}

/**
 * Merges two files of checkpoints as their logs are merged: the lines of ours stay where they are, so that its checkpoints hold, and those
 * that only theirs has do not. Null for a text that is none.
 */
export function mergeCheckpoints(ours: string, theirs: string): MergedCheckpoints | null {
  const [own, other] = [parseNotes(ours), parseNotes(theirs)]
  if ([...own, ...other].includes(null)) return null
  const known = new Set(own.map((note) => note?.text))
  const left = other.flatMap((note) => (note === null || known.has(note.text) ? [] : [note]))
  return {
    text: own.map((note) => inFile(note?.text ?? '')).join(''),
    left: left.map(({ size }) => size),
  }
}
