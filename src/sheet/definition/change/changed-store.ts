import type { Contract } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { convertValue } from '../../../contract/values/convert-value.ts'
import { valueError } from '../../../contract/values/validate-value.ts'
import type { Derivation } from '../../../derivation/definition/derivation-kind.ts'
import { INPUT_LIMIT } from '../../../derivation/plan/planner.ts'
import type { PlanStore } from '../../../derivation/run-request.ts'
import { blockOf, type PendingInput } from '../../../errors/block.ts'
import type { RecordKey, WorkCell, WorkItem, WorkQuery } from '../../../store/cell-work.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'

/** The cells of a derived field after a change. */
export interface CellsAfter {
  /** Whether the store knows states of its cells; otherwise a cell is missing, or overridden where the field has a value. */
  readonly isKnown: boolean
  readonly derivation: Derivation
  /** Whether the change concerns its cells, or those from which they are computed. */
  readonly isConcerned: boolean
  /** Whether fresh cells are stale after the change. */
  readonly isOutdated: boolean
}

/** A change of fields and derivations that is planned. */
export interface PlannedChange {
  readonly before: Contract
  readonly after: Contract
  /** Returns the name before the change of a field; null for one that there was not. */
  readonly nameBefore: (name: string) => string | null
  /** The derived fields after the change. */
  readonly cells: ReadonlyMap<string, CellsAfter>
  /** Whether queries over all records read the same fields before and after. */
  readonly keepsQueries: boolean
}

/** The store of a sheet as the plan of a run finds it after a change that is not made: the same records, with the states of cells after it. */
export class ChangedStore implements PlanStore {
  readonly #store: SheetStore
  readonly #change: PlannedChange

  constructor(store: SheetStore, change: PlannedChange) {
    this.#store = store
    this.#change = change
  }

  get responses(): PlanStore['responses'] {
    return this.#store.responses
  }

  get hosts(): PlanStore['hosts'] {
    return this.#store.hosts
  }

  get queries(): PlanStore['queries'] {
    return this.#change.keepsQueries ? this.#store.queries : undefined
  }

  /** Has no counts of cells: values written by hand are never overwritten. */
  async status(): ReturnType<SheetStore['status']> {
    return { ...(await this.#store.status()), targets: [] }
  }

  cached(hashes: readonly string[]): ReturnType<SheetStore['cached']> {
    return this.#store.cached(hashes)
  }

  usage(key: string): ReturnType<SheetStore['usage']> {
    return this.#store.usage(key)
  }

  provenance(recordId: string, field: string, limit: number): ReturnType<SheetStore['provenance']> {
    return this.#store.provenance(recordId, this.#change.nameBefore(field) ?? field, limit)
  }

  async work(query: WorkQuery): Promise<readonly WorkItem[]> {
    for (let { after } = query; ;) {
      const items = await this.#items({ ...query, after })
      const last = items.at(-1)
      if (last === undefined) return []
      const pending = items.filter(({ cells }) => query.force || cells.some(isPending))
      if (pending.length > 0) return pending
      after = last.key
    }
  }

  /** Returns the next records, whatever the states of their cells. */
  async #items(query: WorkQuery): Promise<readonly WorkItem[]> {
    const { targets, inputs } = query
    const items: readonly WorkItem[] = await this.#store.work({
      ...query,
      force: true,
      ready: false,
      targets: this.#namesBefore(targets.filter((name) => this.#isKnown(name))),
      inputs: this.#namesBefore(inputs),
    })
    const keys = items.map(({ key }) => key)
    const values = await this.#values(
      targets.filter((name) => !this.#isKnown(name) || this.#isConverted(name)),
      keys,
    )
    const pending: (readonly [string, PendingOf])[] = []
    for (const name of inputs) {
      const after = this.#change.cells.get(name)
      if (after === undefined) continue
      const before = this.#change.nameBefore(name) ?? name
      const stored: PendingOf = (item) => item.pending[before]
      pending.push([name, after.isConcerned ? await this.#pending(name, after.derivation, keys) : stored])
    }
    return items.map((item) => ({
      ...item,
      inputs: Object.fromEntries(inputs.map((name) => [name, this.#value(name, item.inputs)])),
      pending: Object.fromEntries(
        pending.flatMap(([name, of]) => {
          const state = of(item)
          return state === undefined ? [] : [[name, state] as const]
        }),
      ),
      cells: targets.map((target) => this.#cell(target, item, values.get(item.key) ?? {})),
    }))
  }

  /** Reads the values of fields that become derived or are converted, apart from the inputs, whose bytes have a limit. */
  async #values(
    fields: readonly string[],
    keys: readonly RecordKey[],
  ): Promise<ReadonlyMap<RecordKey, WorkItem['inputs']>> {
    const found = new Map<RecordKey, WorkItem['inputs']>()
    const inputs = this.#namesBefore(fields)
    if (inputs.length === 0) return found
    const query = { ...EVERY, targets: [], inputs }
    for await (const item of itemsOf(keys, (only) =>
      this.#store.work({ ...query, limit: only.length, only }),
    ))
      found.set(item.key, item.inputs)
    return found
  }

  /** Reads the states of an input's cells after the change, which those of its own inputs can block. */
  async #pending(name: string, derivation: Derivation, keys: readonly RecordKey[]): Promise<PendingOf> {
    const { inputs, requiredInputs: required, nonEmptyInputs: nonEmpty } = derivation
    const found = new Map<RecordKey, PendingInput>()
    const query = { ...EVERY, targets: [name], inputs, inputLimit: INPUT_LIMIT }
    for await (const item of itemsOf(keys, (only) => this.#items({ ...query, limit: only.length, only }))) {
      const state = item.cells[0]?.state ?? 'fresh'
      if (state === 'fresh' || state === 'overridden') continue
      const facts = {
        value: (field: string): unknown => item.inputs[field],
        pending: (field: string): PendingInput | undefined => item.pending[field],
      }
      const block = blockOf({ inputs, required, nonEmpty }, facts)
      found.set(item.key, block === null ? state : 'blocked')
    }
    return ({ key }) => found.get(key)
  }

  #cell(target: string, { cells }: WorkItem, values: WorkItem['inputs']): WorkCell {
    const before = this.#change.nameBefore(target)
    const stored = this.#isKnown(target) ? cells.find((cell) => cell.target === before) : undefined
    if (stored === undefined) {
      const isEmpty = before === null || (values[before] ?? null) === null
      const state = isEmpty ? 'missing' : 'overridden'
      return { target, state, blocked: false, inputHash: null, version: '' }
    }
    const isLost = this.#isConverted(target) && (values[before ?? target] ?? null) !== null
    if (isLost && this.#value(target, values) === null) {
      // The store forgets what was computed.
      const state = stored.state === 'failed' ? 'failed' : 'missing'
      return { ...stored, target, state, blocked: false, inputHash: null }
    }
    const isOutdated = stored.state === 'fresh' && this.#change.cells.get(target)?.isOutdated === true
    return { ...stored, target, blocked: false, ...(isOutdated && { state: 'stale' as const }) }
  }

  /** Returns the value of a field after the change. */
  #value(name: string, inputs: WorkItem['inputs']): JsonValue {
    const { before, after, nameBefore } = this.#change
    const earlier = nameBefore(name)
    const value = earlier === null ? null : (inputs[earlier] ?? null)
    const [from, to] = [before.fieldByName.get(earlier ?? name), after.fieldByName.get(name)]
    if (from === undefined || to === undefined || !this.#isConverted(name)) return value
    const converted = convertValue(to, from.type, value) ?? null
    return valueError(to, converted) === null ? converted : null
  }

  #isConverted(name: string): boolean {
    const { before, after, nameBefore } = this.#change
    const earlier = before.fieldByName.get(nameBefore(name) ?? '')
    return earlier !== undefined && earlier.type !== after.fieldByName.get(name)?.type
  }

  #isKnown(name: string): boolean {
    return this.#change.cells.get(name)?.isKnown === true
  }

  #namesBefore(names: readonly string[]): readonly string[] {
    return names.flatMap((name) => this.#change.nameBefore(name) ?? [])
  }
}

const EVERY = { force: true, state: null, after: null } as const

/** Returns the state of an input of a record; undefined where it is not pending. */
type PendingOf = (item: WorkItem) => PendingInput | undefined

/** Yields the items of these records, of which a query may return only the first. */
async function* itemsOf(
  keys: readonly RecordKey[],
  read: (only: readonly RecordKey[]) => Promise<readonly WorkItem[]>,
): AsyncGenerator<WorkItem> {
  for (let rest = keys; rest.length > 0;) {
    const items = await read(rest)
    yield* items
    const last = items.at(-1)?.key ?? Infinity
    rest = rest.filter((key) => key > last)
  }
}

function isPending({ state }: WorkCell): boolean {
  return state === 'missing' || state === 'stale' || state === 'failed'
}
