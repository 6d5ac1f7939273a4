/**
 * The Merkle tree of a log, as RFC 6962 (section 2.1) and RFC 9162 define it: its hashes, and what proves that a line is in
 * it and that a smaller tree is its beginning. Used by the service, the command line and the viewer, which have different
 * implementations of SHA-256.
 */

/** Returns the SHA-256 of bytes: 32 bytes. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** Leaves of a tree: those from `start` up to, but not including, `end`. */
export interface Leaves {
  readonly start: number
  readonly end: number
}

export const HASH_BYTES = 32

/** The bytes of which the hash of a parent is made, after a one; reused, since there are very many. */
const PARENT = new Uint8Array(1 + 2 * HASH_BYTES)
PARENT[0] = 1

/** Returns the hash of a leaf: that of a line of the log, without its line break. */
export function leafHash(sha256: Sha256, line: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(line.length + 1)
  bytes.set(line, 1)
  return sha256(bytes)
}

/** Returns the hash of the parent of two nodes. */
export function parentHash(sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array {
  PARENT.set(left, 1)
  PARENT.set(right, 1 + HASH_BYTES)
  return sha256(PARENT)
}

/** Computes the root hash of leaves that are added one after the other, with memory for one hash a level. */
export class RootHasher {
  readonly #sha256: Sha256
  /** Roots of complete trees, from the largest to the smallest: one for each 1 in the binary form of the size. */
  readonly #roots: Uint8Array[] = []
  #size = 0

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  /** The number of leaves so far. */
  get size(): number {
    return this.#size
  }

  add(leaf: Uint8Array): void {
    let root = leaf
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      root = parentHash(this.#sha256, this.#roots.pop() as Uint8Array, root)
    }
    this.#roots.push(root)
    this.#size += 1
  }

  /** Returns the root hash of the leaves so far; for none, that of an empty text. */
  root(): Uint8Array {
    const [last, ...others] = this.#roots.toReversed()
    if (last === undefined) return this.#sha256(new Uint8Array())
    return others.reduce((right, left) => parentHash(this.#sha256, left, right), last)
  }
}

/** Returns the largest power of two below a number of at least 2. */
export function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

/**
 * Returns the leaves whose root hashes prove that a leaf is in a tree, in the order of the proof. Throws RangeError for a
 * leaf that the tree does not have.
 */
export function inclusionParts(index: number, size: number): Leaves[] {
  if (!(index >= 0 && index < size)) throw new RangeError(`leaf ${index} is not in a tree of ${size}`)
  const parts: Leaves[] = []
  for (let [start, end] = [0, size]; end - start > 1;) {
    const middle = start + splitOf(end - start)
    if (index < middle) {
      parts.push({ start: middle, end })
      end = middle
    } else {
      parts.push({ start, end: middle })
      start = middle
    }
  }
  return parts.toReversed()
}

/** Returns the root hash that a proof gives for a leaf; null where the proof is not one for a tree of this size. */
export function rootFromInclusion(
  sha256: Sha256,
  {
    leaf,
    index,
    size,
    proof,
  }: { leaf: Uint8Array; index: number; size: number; proof: readonly Uint8Array[] },
): Uint8Array | null {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null
  const parts = inclusionParts(index, size)
  if (proof.length !== parts.length) return null
  return parts.reduce((root, { start }, number) => {
    const sibling = proof[number] as Uint8Array
    return start > index ? parentHash(sha256, root, sibling) : parentHash(sha256, sibling, root)
  }, leaf)
}

/**
 * Returns the leaves whose root hashes prove that the tree of the first `from` leaves is the beginning of that of `size`, in
 * the order of the proof. Throws RangeError unless 0 < `from` ≤ `size`.
 */
export function consistencyParts(from: number, size: number): Leaves[] {
  if (!(from > 0 && from <= size)) throw new RangeError(`no proof from ${from} to ${size}`)
  const parts: Leaves[] = []
  let [start, end] = [0, size]
  while (from !== end) {
    const middle = start + splitOf(end - start)
    if (from <= middle) {
      parts.push({ start: middle, end })
      end = middle
    } else {
      parts.push({ start, end: middle })
      start = middle
    }
  }
  // The old tree is a complete part of the new one: who verifies knows its root.
  if (start > 0) parts.push({ start, end })
  return parts.toReversed()
}

/** Whether a proof shows that the tree of `from` leaves with the root `old` is the beginning of that with the root `root`. */
export function isConsistent(
  sha256: Sha256,
  tree: { from: number; size: number; old: Uint8Array; root: Uint8Array; proof: readonly Uint8Array[] },
): boolean {
  const { from, size, old, root, proof } = tree
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(size) || from <= 0 || from > size) return false
  const parts = consistencyParts(from, size)
  if (proof.length !== parts.length) return false
  // The first hash is that of the last leaves of the old tree, unless these are all of it.
  const isOfLast = parts[0] !== undefined && parts[0].start < from
  let before = isOfLast ? (proof[0] as Uint8Array) : old
  let now = before
  for (let number = isOfLast ? 1 : 0; number < parts.length; number += 1) {
    const { start } = parts[number] as Leaves
    const sibling = proof[number] as Uint8Array
    if (start >= from) {
      now = parentHash(sha256, now, sibling)
    } else {
      before = parentHash(sha256, sibling, before)
      now = parentHash(sha256, sibling, now)
    }
  }
  return isEqual(before, old) && isEqual(now, root)
}

/** Whether two hashes are the same. */
export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}
