import type { JsonObject } from '../../contract/json/json.ts'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import type { InputBytes, RecordKey, WorkCell, WorkItem, WorkQuery } from '../../store/cell-work.ts'
import type { CellFailureNote, SheetStore } from '../../store/sheet-store.ts'

/** Records that are read at a time. */
const CHUNK = 256

/** The most bytes of the values that are read at a time: far more than a record has. */
const VALUES_LIMIT: InputBytes = { text: 64 << 20, json: 64 << 20 }

/** A cell of a derived field with the result of its last computation. */
export type ComputedCell = { readonly target: string } & (
  | {
      readonly state: 'fresh'
      /** Reads the entry of the log with the computation; null if the log has none, as after the check of stale cells that keep their value. */
      entry(): Promise<JsonObject | null>
    }
  | {
      readonly state: 'failed'
      readonly failure: CellFailureNote
      /** Reads whether one of its inputs was written after the failure. */
      isOutdated(): Promise<boolean>
    }
  | { readonly state: 'stale' }
)

/** A record with the computed cells of a derivation. */
export interface ComputedRecord {
  /** Its inputs include the targets, whose values they are. */
  readonly item: WorkItem
  readonly cells: readonly ComputedCell[]
}

/** Yields the records with computed cells of a derivation, in creation order, a few hundred at a time; `only` these, or null for all. */
export async function* computedRecords(
  store: SheetStore,
  derivation: Derivation,
  only: readonly RecordKey[] | null = null,
): AsyncGenerator<readonly ComputedRecord[]> {
  for (let after: RecordKey | null = null; ;) {
    const items = await read(store, derivation, { after, limit: CHUNK, only })
    const last = items.at(-1)
    if (last === undefined) return
    yield await withCells(store, derivation, items)
    after = last.key
  }
}

/** Returns the records of these ids with computed cells of a derivation. */
export async function computedRecordsOf(
  store: SheetStore,
  derivation: Derivation,
  ids: readonly string[],
): Promise<readonly ComputedRecord[]> {
  const keys = await store.recordKeys(ids)
  const only = [...keys.values()].toSorted((one, other) => one - other)
  const records: ComputedRecord[] = []
  // Records with long values are read in several parts.
  for await (const part of computedRecords(store, derivation, only)) records.push(...part)
  return records
}

/** Returns the number of the step that an entry's value comes from; null for none. */
export function lastStep(entry: JsonObject | null): number | null {
  const step = entry?.['step']
  return typeof step === 'number' ? step : null
}

function read(
  store: SheetStore,
  { targets, inputs }: Derivation,
  which: Pick<WorkQuery, 'after' | 'limit' | 'only'>,
): Promise<readonly WorkItem[]> {
  return store.work({
    ...which,
    targets,
    inputs: [...inputs, ...targets],
    inputLimit: VALUES_LIMIT,
    force: true,
    state: null,
  })
}

async function withCells(
  store: SheetStore,
  { inputs }: Derivation,
  items: readonly WorkItem[],
): Promise<readonly ComputedRecord[]> {
  const records: ComputedRecord[] = []
  for (const item of items) {
    const cells: ComputedCell[] = []
    for (const cell of item.cells) {
      const computed = await computedCell(store, item, { cell, inputs })
      if (computed !== null) cells.push(computed)
    }
    if (cells.length > 0) records.push({ item, cells })
  }
  return records
}

async function computedCell(
  store: SheetStore,
  { id, key }: WorkItem,
  { cell, inputs }: { readonly cell: WorkCell; readonly inputs: readonly string[] },
): Promise<ComputedCell | null> {
  const { target, state, inputHash } = cell
  switch (state) {
    case 'fresh': {
      const entry = async (): Promise<JsonObject | null> =>
        inputHash === null ? null : store.computation(id, target, inputHash)
      return { target, state, entry: lazily(entry) }
    }
    case 'stale':
      return { target, state }
    case 'failed': {
      const failure = await store.cellFailure(key, target)
      if (failure === null) return null
      const isOutdated = (): Promise<boolean> => isWrittenSince(store, id, { inputs, at: failure.at })
      return { target, state, failure, isOutdated }
    }
    case 'missing':
    case 'overridden':
      return null
  }
}

/** Returns a function that reads once, when it is first called. */
function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null
  return () => (result ??= load())
}

/** Whether one of these fields of a record was written after a time. */
async function isWrittenSince(
  store: SheetStore,
  id: string,
  { inputs, at }: { readonly inputs: readonly string[]; readonly at: string },
): Promise<boolean> {
  for (const input of inputs) {
    const latest = await store.provenance(id, input, 1)
    const written = latest?.entries[0]?.['at']
    if (typeof written === 'string' && written > at) return true
  }
  return false
}
