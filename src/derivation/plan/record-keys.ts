import type { RecordKey } from '../../store/cell-work.ts'

/** A set of records that are added in ascending order. */
export class RecordKeys {
  readonly #keys: RecordKey[] = []

  /** Adds a record; its key is not lower than the last one's. */
  add(key: RecordKey): void {
    if (this.#keys.at(-1) !== key) this.#keys.push(key)
  }

  has(key: RecordKey): boolean {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#keys[middle] ?? Infinity) < key) low = middle + 1
      else high = middle
    }
    return this.#keys[low] === key
  }

  get all(): readonly RecordKey[] {
    return this.#keys
  }
}

/** Records by field. */
export class RecordsOfFields {
  readonly #records = new Map<string, RecordKeys>()

  /** Only records of these fields are kept. */
  constructor(fields: Iterable<string>) {
    for (const field of fields) this.#records.set(field, new RecordKeys())
  }

  /** Adds a record to a field; keys ascend within each field. */
  add(field: string, key: RecordKey): void {
    this.#records.get(field)?.add(key)
  }

  has(field: string, key: RecordKey): boolean {
    return this.#records.get(field)?.has(key) ?? false
  }

  /** Returns the records in any of these fields, ascending. */
  inAny(fields: readonly string[]): readonly RecordKey[] {
    const lists = fields.map((field) => this.#records.get(field)?.all ?? []).filter((list) => list.length > 0)
    const [first = []] = lists
    return lists.length <= 1 ? first : [...new Set(lists.flat())].toSorted((one, other) => one - other)
  }
}
