/** An operation of a client, as the checker reads it (`model.go`). */
export interface Operation {
  readonly client: number
  /** Microseconds from the beginning of the history. */
  readonly call: number
  /** Null when the client does not know the outcome, and the operation may take effect later. */
  readonly return: number | null
  readonly op: Input
  readonly result: Output
}

/** A record of a history, by a short name; null is no value. */
export interface RecordOfHistory {
  readonly id: string
  readonly a: number | null
  readonly b: number | null
  /** The tag of its version; absent in lists. */
  readonly version?: string
}

/** The fields that a write sets. */
export type Values = Readonly<Partial<Record<'a' | 'b', number | null>>>

/** A request of a client. */
export type Input =
  | {
      readonly kind: 'upsert'
      readonly records: readonly { readonly id: string; readonly set: Values }[]
      /** The version that the record must have, or `*`. */
      readonly match?: string
      /** Whether the records must be new. */
      readonly new?: boolean
    }
  | { readonly kind: 'delete'; readonly ids: readonly string[]; readonly match?: string }
  | { readonly kind: 'read'; readonly how: string; readonly ids: readonly string[] }
  | { readonly kind: 'count'; readonly how: string; readonly ids: readonly string[] }

/** The response to a request, as far as it is known. */
export type Output =
  | { readonly state: 'done'; readonly inserted: number; readonly updated: number; readonly version?: string }
  | { readonly state: 'done'; readonly deleted: number }
  | { readonly state: 'done'; readonly count: number }
  /** `ordered`: whether the records are in the order of creation. */
  | { readonly state: 'done'; readonly records: readonly RecordOfHistory[]; readonly ordered: boolean }
  /** `refused` for a condition, `failed` when the documentation says that nothing was written, or else `unknown`. */
  | { readonly state: 'refused' | 'failed' | 'unknown' }

/** The operations of several clients on a few records, in the order of their ends. */
export class History {
  readonly operations: Operation[] = []
  /** The prefix of the ids of its records. */
  readonly prefix: string
  /** The short names of its records. */
  readonly names: readonly string[] = ['x', 'y', 'z']
  readonly #began = performance.now()
  #value = 0
  #clients = 0

  constructor(prefix: string) {
    this.prefix = prefix
  }

  idOf(name: string): string {
    return this.prefix + name
  }

  /** Returns the short name of an id; null for a record of another history. */
  nameOf(id: string): string | null {
    return id.startsWith(this.prefix) ? id.slice(this.prefix.length) : null
  }

  /** Returns a value that no write of the history has had. */
  newValue(): number {
    return (this.#value += 1)
  }

  /** Returns the number of a new client. One that does not know the outcome of an operation goes on as another. */
  newClient(): number {
    return this.#clients++
  }

  /** Returns the microseconds since the history began. */
  now(): number {
    return Math.floor((performance.now() - this.#began) * 1000)
  }

  /** Returns the lines that the checker reads. */
  lines(): string {
    return this.operations.map((operation) => `${JSON.stringify(operation)}\n`).join('')
  }
}
