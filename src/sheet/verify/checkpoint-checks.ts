import { signatureState, type CheckpointNote } from '../../proof/checkpoint.ts'
import { isEqual, RootHasher } from '../../proof/merkle.ts'
import { sha256, verifySignature } from '../../proof/node-primitives.ts'
import type { NoteKey } from '../../proof/note-keys.ts'
import type { Differences } from './differences.ts'

/** The checkpoints that a log is compared with, as they were read: null for a text that is none. */
export interface GivenCheckpoints {
  /** Those of the sheet itself, in their order. */
  readonly own: readonly (CheckpointNote | null)[]
  /** Those that somebody else has kept. */
  readonly outside: readonly (CheckpointNote | null)[]
  /** The key that must have signed them; null where signatures are not checked. */
  readonly key: NoteKey | null
}

/** The numbers of lines of a log that checkpoints cover: those up to the largest of a kind that holds; 0 for none. */
export interface Coverage {
  /** By a checkpoint that somebody else has kept. */
  readonly outside: number
  /** By one with a signature of the key; null where no key was given. */
  readonly signed: number | null
  /** By one of the sheet itself. */
  readonly own: number
}

export interface CheckpointReport {
  readonly own: number
  readonly outside: number
  readonly covered: Coverage
  /** The sizes of checkpoints that hold and that the key has not signed. */
  readonly unsigned: readonly number[]
}

interface Pending {
  readonly note: CheckpointNote
  readonly isOutside: boolean
}

/** Compares the root hashes of checkpoints with those of a log, whose leaves are added one after the other. */
export class CheckpointChecks {
  readonly #given: GivenCheckpoints
  readonly #differences: Differences
  readonly #hasher = new RootHasher(sha256)
  /** The checkpoints that are still to come, the largest first. */
  readonly #pending: Pending[]
  readonly #covered = { outside: 0, signed: 0, own: 0 }
  readonly #unsigned: number[] = []

  constructor(given: GivenCheckpoints, differences: Differences) {
    this.#given = given
    this.#differences = differences
    const own = this.#readable(given.own, false)
    const outside = this.#readable(given.outside, true)
    this.#checkOrder(own)
    this.#checkOrigins(own, outside)
    this.#pending = [...own, ...outside].toSorted((a, b) => b.note.size - a.note.size)
    this.#compare()
  }

  get size(): number {
    return this.#hasher.size
  }

  add(leaf: Uint8Array): void {
    this.#hasher.add(leaf)
    this.#compare()
  }

  /** Returns what holds, after the last line. */
  end(): CheckpointReport {
    const { own, outside, key } = this.#given
    for (const { note, isOutside } of this.#pending.toReversed()) {
      const missing = note.size - this.size
      this.#differences.checkpoint(
        `${nameOf(note, isOutside)}: the log has ${this.size} lines, so that ${missing === 1 ? 'a line was' : `${missing} lines were`} cut off`,
      )
    }
    const covered = { ...this.#covered, signed: key === null ? null : this.#covered.signed }
    return { own: own.length, outside: outside.length, covered, unsigned: this.#unsigned }
  }

  #compare(): void {
    for (let next = this.#pending.at(-1); next?.note.size === this.size; next = this.#pending.at(-1)) {
      this.#pending.pop()
      this.#check(next)
    }
  }

  #check({ note, isOutside }: Pending): void {
    const name = nameOf(note, isOutside)
    if (!isEqual(note.root, this.#hasher.root())) {
      const { outside, signed } = this.#covered
      const from = Math.max(outside, signed) + 1
      this.#differences.checkpoint(
        `${name}: the root hash is another, so that a line from number ${from} to ${note.size} was changed`,
      )
      return
    }
    const { key } = this.#given
    const state = key === null ? null : signatureState(note, key, verifySignature)
    if (state === 'invalid') {
      this.#differences.checkpoint(
        `${name}: the signature in the name of "${key?.name}" is not one of that key`,
      )
      return
    }
    this.#covered[isOutside ? 'outside' : 'own'] = note.size
    if (state === 'signed') this.#covered.signed = note.size
    if (state === 'none') this.#unsigned.push(note.size)
  }

  #readable(notes: readonly (CheckpointNote | null)[], isOutside: boolean): Pending[] {
    return notes.flatMap((note, index) => {
      if (note !== null) return [{ note, isOutside }]
      const of = isOutside ? 'of --checkpoint' : 'of the sheet'
      this.#differences.checkpoint(
        `the text number ${index + 1} of the checkpoints ${of} is not a checkpoint`,
      )
      return []
    })
  }

  #checkOrder(own: readonly Pending[]): void {
    let last = 0
    for (const { note } of own) {
      if (note.size < last)
        this.#differences.checkpoint(`${nameOf(note, false)} comes after one of size ${last}`)
      last = note.size
    }
  }

  #checkOrigins(own: readonly Pending[], outside: readonly Pending[]): void {
    const [first] = [...own, ...outside]
    for (const { note, isOutside } of [...own, ...outside]) {
      if (note.origin === first?.note.origin) continue
      this.#differences.checkpoint(
        `${nameOf(note, isOutside)} is of the log "${note.origin}", and this is "${first?.note.origin}"`,
      )
    }
  }
}

function nameOf({ size }: CheckpointNote, isOutside: boolean): string {
  return isOutside ? `the given checkpoint of size ${size}` : `the sheet's checkpoint of size ${size}`
}
