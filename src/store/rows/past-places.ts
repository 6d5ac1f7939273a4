import type { RecordKey } from '../cell-work.ts'

/** Entries of the log whose places are kept in memory. */
const KEPT = 8

/**
 * The positions of the records that existed right after an entry of the log. Keys are assigned one after the other, from 1
 * on, so that a record comes after as many others as its key says, less those that had been deleted.
 */
export class PastPlaces {
  readonly #last: RecordKey
  readonly #deleted: Float64Array

  /** `last` is the last key then, `deleted` are the keys up to it whose records had been deleted, in order. */
  constructor(last: RecordKey, deleted: Float64Array) {
    this.#last = last
    this.#deleted = deleted
  }

  /** The number of records. */
  get count(): number {
    return this.#last - this.#deleted.length
  }

  /** Returns a key after which the record at a position is the first. */
  keyBefore(position: number): RecordKey {
    return position + this.#deletedWhile((key, before) => key - 1 - before <= position)
  }

  /** Returns the number of records before the one with a key; null if that did not exist. */
  positionOf(key: RecordKey): number | null {
    const before = this.#deletedWhile((deleted) => deleted < key)
    return key > this.#last || this.#deleted[before] === key ? null : key - 1 - before
  }

  /** Returns for how many deleted keys, in order, a condition on each and the number before it holds; then it never does. */
  #deletedWhile(holds: (key: RecordKey, before: number) => boolean): number {
    let [low, high] = [0, this.#deleted.length]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (holds(this.#deleted[middle] ?? 0, middle)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Keeps the places of the entries that were read last: those of an entry never change. */
export class RecentPlaces {
  readonly #bySeq = new Map<number, Promise<PastPlaces>>()

  /** Returns the places after an entry, and reads them unless they are kept. */
  async at(seq: number, read: () => Promise<PastPlaces>): Promise<PastPlaces> {
    const places = this.#bySeq.get(seq) ?? read()
    this.#bySeq.delete(seq)
    this.#bySeq.set(seq, places)
    const [oldest] = this.#bySeq.keys()
    if (this.#bySeq.size > KEPT && oldest !== undefined) this.#bySeq.delete(oldest)
    try {
      return await places
    } catch (error) {
      if (this.#bySeq.get(seq) === places) this.#bySeq.delete(seq)
      throw error
    }
  }
}
