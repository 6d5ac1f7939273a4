import type { Contract, Field } from '../../contract/contract.ts'
import { OperationError } from '../../errors/service-error.ts'
import { cellConditions, type Condition } from '../../store/condition.ts'
import { orderOfPages } from '../../store/past/past-order.ts'
import type { JsonBytes, SheetStore, SortKey } from '../../store/sheet-store.ts'
import type { CurrentSheet } from '../sheet.ts'
import { readCondition } from './read-condition.ts'
import { sortKeys } from './sort-keys.ts'

/** A list of the records as they were right after an entry. */
export interface PastList {
  readonly seq: number
  /** Null for all records. */
  readonly where: Condition | null
  readonly sort: readonly SortKey[]
}

/** Records that are read at once to be sorted. */
const AT_ONCE = 1000

/** Lists whose order is kept in memory: 4 bytes a record. */
const KEPT = 8

/** The orders that were asked for last, by store. The records of an earlier state never change. */
const orders = new WeakMap<SheetStore, PastOrders>()

/**
 * Returns what a list of an earlier state selects, and its order, with the names of the present fields. Throws ValidationError as
 * `listRecords` does, and OperationError for a condition on what is only known of the present cells.
 */
export function pastListOf(
  contract: Contract,
  { where: text, sort }: { readonly where: string | null; readonly sort: readonly string[] | null },
): Omit<PastList, 'seq'> {
  const where = readCondition(contract, text, 'where')
  const [onCells] = where === null ? [] : cellConditions(where)
  if (onCells !== undefined)
    throw new OperationError(
      `a condition on the ${ABOUT_CELLS[onCells.kind]} cannot be combined with as_of: they are known of the present only`,
    )
  return { where, sort: sortKeys(contract, sort) }
}

const ABOUT_CELLS = {
  state: 'states of cells',
  review: 'reviews of cells',
  failure: 'failures of cells',
  run: 'runs that changed records',
  writer: 'writers of values',
} as const

/**
 * Returns the records of a list by their positions in creation order, in the order of the list; null for all in creation order. All
 * records of the state are read once for a list, and its order is kept while few others are asked for. When `signal` aborts, throws its
 * reason, and stops unless others wait for the same list.
 */
export function pastOrder(
  { contract, store }: CurrentSheet,
  list: PastList,
  signal?: AbortSignal,
): Promise<Uint32Array> | null {
  if (list.where === null && list.sort.length === 0) return null
  const kept = orders.get(store) ?? new PastOrders(store)
  orders.set(store, kept)
  return kept.of(contract, list, signal)
}

interface KeptOrder {
  readonly order: Promise<Uint32Array>
  readonly controller: AbortController
  isKnown: boolean
  waiting: number
}

class PastOrders {
  readonly #store: SheetStore
  readonly #kept = new Map<string, KeptOrder>()
  /** Settles when no list is being read: one at a time is. */
  #before: Promise<unknown> = Promise.resolve()

  constructor(store: SheetStore) {
    this.#store = store
  }

  async of(contract: Contract, list: PastList, signal?: AbortSignal): Promise<Uint32Array> {
    signal?.throwIfAborted()
    const fields = fieldsOf(contract, list)
    const key = JSON.stringify([list, fields])
    const kept = this.#kept.get(key) ?? this.#read(fields, list)
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest)
    kept.waiting += 1
    try {
      return await unlessAborted(kept.order, signal)
    } finally {
      kept.waiting -= 1
      if (kept.waiting === 0 && !kept.isKnown) {
        kept.controller.abort()
        if (this.#kept.get(key) === kept) this.#kept.delete(key)
      }
    }
  }

  #read(fields: readonly Field[], { seq, where, sort }: PastList): KeptOrder {
    const controller = new AbortController()
    const query = {
      fields: fields.map(({ name, type }) => ({ name, type })),
      where,
      sort: sort.flatMap(({ field: name, descending }) => {
        const field = fields.find((each) => each.name === name)
        return field === undefined ? [] : [{ field: { name, type: field.type }, descending, indexed: false }]
      }),
    }
    const order = this.#before.then(() => {
      controller.signal.throwIfAborted()
      const names = fields.map(({ name }) => name)
      return orderOfPages(pagesAsOf(this.#store, names, seq), query, controller.signal)
    })
    const kept: KeptOrder = { order, controller, isKnown: false, waiting: 0 }
    this.#before = this.#settled(kept)
    return kept
  }

  /** Resolves once the list was read, or failed. */
  async #settled(kept: KeptOrder): Promise<void> {
    try {
      await kept.order
      kept.isKnown = true
    } catch {
      // Those who wait for the list receive the error.
    }
  }
}

/** Returns the fields that a list needs, in the order of the contract. */
function fieldsOf({ fields }: Contract, { where, sort }: PastList): readonly Field[] {
  const names = new Set([...sort.map(({ field }) => field), ...(where === null ? [] : namedIn(where))])
  return fields.filter(({ name }) => names.has(name))
}

function namedIn(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(namedIn)
    case 'not':
      return namedIn(condition.condition)
    case 'field':
      return [condition.field.name]
    case 'search':
      return condition.fields.map(({ name }) => name)
    default:
      throw new Error(`a condition on ${condition.kind} has no fields of the past`)
  }
}

async function* pagesAsOf(
  store: SheetStore,
  fields: readonly string[],
  seq: number,
): AsyncGenerator<JsonBytes, void> {
  for (let after: number | null = null; ;) {
    const page: Awaited<ReturnType<SheetStore['pageAsOf']>> = await store.pageAsOf({
      fields,
      limit: AT_ONCE,
      after,
      seq,
    })
    yield page.records
    if (page.next === null) return
    after = page.next
  }
}

/** Returns what a promise resolves to, or throws the reason of a signal that aborts before. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason as Error)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
