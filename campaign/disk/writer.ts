import assert from 'node:assert/strict'
import type { Random } from '../../src/store/suite/support/random.ts'
import type { Answer } from './served-sheet.ts'

/** A record as a writer left it. */
interface Expected {
  readonly batch: string
  readonly size: number
  readonly note: string | null
  /** Whether a run has computed its derived fields, and was acknowledged. */
  readonly isComputed: boolean
}

/** The records of a writer after one of its writes. */
type State = ReadonlyMap<string, Expected>

/** A record as it is stored. */
export type Stored = Readonly<Record<string, unknown>> & { readonly id: string }

/** A write: the request, and the records of the writer after it. */
interface Write {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly after: State
}

/** The most records that a batch creates. */
const BATCH = 5

/** The value that the API of the derivation returns for a record. */
export function labelOf(id: string): string {
  return `label of ${id}`
}

/** Whether a request was carried out: also all cells of a run were computed. */
export function isAcknowledged(answer: Answer | null): answer is Answer {
  if (answer?.status !== 200) return false
  const { failures = [] } = answer.body as { failures?: readonly unknown[] }
  return failures.length === 0
}

/**
 * One client that writes records of its own, one request after the other: new batches, changed notes, deletions, and runs that compute the
 * derived fields of some. It knows its records after each request, and which requests were acknowledged at which length of the trace.
 */
export class Writer {
  readonly name: string
  readonly #random: Random
  readonly #states: State[] = [new Map()]
  /** For each acknowledged write, the length of the trace at its answer. */
  readonly #acknowledged: number[] = []
  #batches = 0

  constructor(name: string, random: Random) {
    this.name = name
    this.#random = random
  }

  /** The number of acknowledged writes. */
  get acknowledged(): number {
    return this.#acknowledged.length
  }

  /**
   * Makes the next write. `send` returns the answer, and null when the server went away over it; `length` returns the length of the
   * trace. Returns the answer. After one that does not acknowledge it the write may have happened or not: see {@link settle}.
   */
  async write(
    send: (write: Pick<Write, 'method' | 'path' | 'body'>) => Promise<Answer | null>,
    length: () => number,
  ): Promise<Answer | null> {
    assert.equal(this.#states.length, this.#acknowledged.length + 1, 'a write is open')
    const write = this.#next(this.#last)
    this.#states.push(write.after)
    const answer = await send(write)
    if (isAcknowledged(answer)) this.#acknowledged.push(length())
    return answer
  }

  /** Compares what is stored with what was acknowledged before this length of a trace. */
  check(stored: readonly Stored[], length = Infinity): void {
    this.#stateOf(stored, length)
  }

  /** Compares as {@link check}, and goes on from what is stored. */
  settle(stored: readonly Stored[]): void {
    const found = this.#stateOf(stored, Infinity)
    this.#states.splice(0, this.#states.length, found)
    this.#acknowledged.splice(0)
  }

  get #last(): State {
    return this.#states.at(-1) ?? new Map()
  }

  #stateOf(stored: readonly Stored[], length: number): State {
    const own = stored.filter(({ id }) => id.startsWith(`${this.name}.`))
    const count = this.#acknowledged.filter((at) => at <= length).length
    const [before, after] = this.#states.slice(count, count + 2)
    assert.ok(before)
    const difference = differenceOf(own, before)
    if (difference === null) return before
    const other = after === undefined ? null : differenceOf(own, after)
    if (after !== undefined && other === null) return after
    return assert.fail(
      `${this.name} after ${count} acknowledged writes: ${difference}${other === null ? '' : `; after the one under way: ${other}`}`,
    )
  }

  #next(state: State): Write {
    const ids = [...state.keys()]
    const choice = ids.length < BATCH ? 0 : ids.length > 40 ? 7 : this.#random.below(10)
    if (choice < 4) return this.#create(state)
    const some = ids.filter(() => this.#random.chance(0.2))
    const chosen = some.length === 0 ? ids.slice(0, 1) : some
    if (choice < 7) return this.#change(state, chosen)
    if (choice < 9) return remove(state, chosen)
    return compute(state, chosen)
  }

  #create(state: State): Write {
    this.#batches += 1
    const batch = `${this.name}.${this.#batches}`
    const size = 1 + this.#random.below(BATCH)
    // Some are as long as several pages.
    const note = this.#random.chance(0.1) ? 'n'.repeat(this.#random.below(20_000)) : null
    const ids = Array.from({ length: size }, (_, index) => `${batch}.${index}`)
    return {
      method: 'POST',
      path: '/api/records',
      body: { records: ids.map((id) => ({ id, batch, size, note })) },
      after: new Map([...state, ...ids.map((id) => [id, { batch, size, note, isComputed: false }] as const)]),
    }
  }

  #change(state: State, ids: readonly string[]): Write {
    const note = `note ${this.#random.below(1e9)}`
    return {
      method: 'POST',
      path: '/api/records',
      body: { records: ids.map((id) => ({ id, note })) },
      after: changed(state, ids, (record) => ({ ...record, note })),
    }
  }
}

function remove(state: State, ids: readonly string[]): Write {
  return {
    method: 'DELETE',
    path: `/api/records?ids=${ids.join(',')}`,
    after: new Map([...state].filter(([id]) => !ids.includes(id))),
  }
}

function compute(state: State, ids: readonly string[]): Write {
  return {
    method: 'POST',
    path: '/api/materialize',
    body: { record_ids: ids },
    after: changed(state, ids, (record) => ({ ...record, isComputed: true })),
  }
}

function changed(state: State, ids: readonly string[], change: (record: Expected) => Expected): State {
  return new Map([...state].map(([id, record]) => [id, ids.includes(id) ? change(record) : record]))
}

/** Returns the first difference of stored records from those of a state; null for none. */
function differenceOf(stored: readonly Stored[], state: State): string | null {
  const byId = new Map(stored.map((record) => [record.id, record]))
  for (const id of byId.keys()) if (!state.has(id)) return `${id} is there`
  for (const [id, { batch, size, note, isComputed }] of state) {
    const record = byId.get(id)
    if (record === undefined) return `${id} is missing`
    const { label, twice } = record
    if (record['batch'] !== batch || record['size'] !== size || record['note'] !== note)
      return `${id} is ${JSON.stringify(record).slice(0, 200)}, not ${JSON.stringify({ batch, size, note }).slice(0, 200)}`
    const derived = [
      [label, labelOf(id)],
      [twice, size * 2],
    ]
    for (const [value, right] of derived) {
      if (value !== right && (isComputed || value !== null))
        return `a derived field of ${id} is ${JSON.stringify(value)}, not ${JSON.stringify(right)}`
    }
  }
  return null
}
