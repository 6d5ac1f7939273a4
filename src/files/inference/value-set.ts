const FIRST_SLOTS = 64
const BYTES_OF_SLOT = 8

/** A shared limit of bytes for sets of values. A set that exceeds it is refused. */
export class ByteBudget {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Reserves bytes; returns false without reserving if too few are left. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  give(bytes: number): void {
    this.#left += bytes
  }
}

/**
 * A set of texts stored as 64-bit hashes: 8 to 16 bytes for each. Two texts with the same hash count as equal, which
 * happens by chance once in many million files of a million values, and then reports a repeat.
 */
export class ValueSet {
  readonly #budget: ByteBudget
  /** Two halves of a hash for each slot; zeros mean a free slot. */
  #slots: Uint32Array
  #size = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
    this.#slots = new Uint32Array(FIRST_SLOTS * 2)
  }

  get size(): number {
    return this.#size
  }

  /** Adds a text. Returns `known` for a repeat and `full` if the budget is exhausted. */
  add(text: string): 'new' | 'known' | 'full' {
    if (this.#size * 4 >= this.#slots.length && !this.#grow()) return 'full'
    const [high, low] = hashOf(text)
    const slot = slotFor(this.#slots, high, low)
    if (this.#slots[slot] !== 0 || this.#slots[slot + 1] !== 0) return 'known'
    this.#slots[slot] = high
    this.#slots[slot + 1] = low
    this.#size += 1
    return 'new'
  }

  /** Releases the memory; the set is then empty. */
  release(): void {
    if (this.#slots.length > FIRST_SLOTS * 2) this.#budget.give(bytesOf(this.#slots))
    this.#slots = new Uint32Array(FIRST_SLOTS * 2)
    this.#size = 0
  }

  #grow(): boolean {
    const before = this.#slots
    if (!this.#budget.take(before.length * BYTES_OF_SLOT)) return false
    const after = new Uint32Array(before.length * 2)
    for (let at = 0; at < before.length; at += 2) {
      const high = before[at] ?? 0
      const low = before[at + 1] ?? 0
      if (high === 0 && low === 0) continue
      const slot = slotFor(after, high, low)
      after[slot] = high
      after[slot + 1] = low
    }
    this.#slots = after
    if (before.length > FIRST_SLOTS * 2) this.#budget.give(bytesOf(before))
    return true
  }
}

function bytesOf(slots: Uint32Array): number {
  return (slots.length / 2) * BYTES_OF_SLOT
}

/** Returns the slot of a hash, or the free slot for it. */
function slotFor(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length - 1
  for (let slot = (high * 2) & mask; ; slot = (slot + 2) & mask) {
    const here = slots[slot]
    const next = slots[slot + 1]
    if ((here === high && next === low) || (here === 0 && next === 0)) return slot
  }
}

/** Computes two multiplicative hashes over the text, combined at the end (after cyrb53, in the public domain). */
function hashOf(text: string): [high: number, low: number] {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  // Zeros mean a free slot.
  return [a >>> 0, (b | 1) >>> 0]
}
