import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../contract/json/json.ts'
import { blockOf, type PendingInput } from '../../errors/block.ts'
import type {
  CacheEntry,
  CellCommit,
  CellOutcome,
  CellResult,
  RecordKey,
  WorkFailure,
  WorkItem,
  WorkQuery,
} from '../../store/cell-work.ts'
import type { KeptResponse } from '../../store/stored-responses.ts'
import type { CellState, StoreStatus, WorkState } from '../../store/sheet-store.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import type { RunStore } from '../run-request.ts'

/** The time at which the responses of a {@link MemoryStore} were received. */
export const KEPT_AT = '2026-11-20T12:00:00.000Z'

interface MemoryCell {
  hash: string | null
  state: CellState
  version: number
  failure?: WorkFailure
  /** The number of its last write. */
  written: number
}

interface MemoryRecord {
  readonly id: string
  readonly values: Record<string, JsonValue>
  readonly cells: Map<string, MemoryCell>
}

/** Test support: a store that is quick to make, with the rules of cell states that a real one has (D25, D28, D32). */
export class MemoryStore implements RunStore {
  readonly records = new Map<RecordKey, MemoryRecord>()
  readonly cache = new Map<string, CacheEntry>()
  readonly commits: CellCommit[] = []
  /** The time of failures. */
  now = KEPT_AT
  readonly kept = new Map<string, KeptResponse>()
  readonly responses: RunStore['responses'] = {
    find: async (requests) =>
      new Map(
        requests.flatMap((request) => {
          const response = this.kept.get(request)
          return response ? [[request, { at: response.at, bytes: response.body.length }] as const] : []
        }),
      ),
    read: async (request) => this.kept.get(request) ?? null,
    now: async () => KEPT_AT,
    limit: async () => 1,
  }
  #derivations: readonly Derivation[]
  #lastKey = 0
  #seq = 0

  constructor(derivations: readonly Derivation[]) {
    this.#derivations = derivations
  }

  /** Sets edited derivation files: their cells become stale (D32). */
  define(derivations: readonly Derivation[]): void {
    for (const { file, sha256, targets } of derivations) {
      const before = this.#derivations.find((derivation) => derivation.file === file)
      if (before?.sha256 === sha256) continue
      for (const { cells } of this.records.values()) {
        for (const target of targets) {
          const cell = cells.get(target)
          if (cell?.state === 'fresh') Object.assign(cell, { state: 'stale', version: (this.#seq += 1) })
        }
      }
    }
    this.#derivations = derivations
  }

  /** Writes a record by hand; a value for a derived field overrides the cell, null ends that (D28). */
  write(id: string, values: Readonly<Record<string, JsonValue>>): RecordKey {
    this.#seq += 1
    const known = this.records.entries().find(([, record]) => record.id === id)
    const [key, record] = known ?? this.#create(id)
    for (const [field, value] of Object.entries(values)) {
      if (isDeepStrictEqual(record.values[field] ?? null, value)) continue
      record.values[field] = value
      const cell = record.cells.get(field)
      if (cell)
        Object.assign(cell, {
          hash: null,
          state: value === null ? 'missing' : 'overridden',
          version: this.#seq,
          written: this.#seq,
        })
      this.#inputWritten(record, field)
    }
    return key
  }

  delete(key: RecordKey): void {
    this.records.delete(key)
  }

  state(key: RecordKey, target: string): CellState | undefined {
    return this.records.get(key)?.cells.get(target)?.state
  }

  async status(): Promise<StoreStatus> {
    const among = (target: string, wanted: CellState): readonly MemoryRecord[] =>
      this.records
        .values()
        .filter(({ cells }) => cells.get(target)?.state === wanted)
        .toArray()
    const count = (target: string, wanted: CellState): number => among(target, wanted).length
    const ready = (target: string, wanted: CellState): number =>
      among(target, wanted).filter((record) => !this.#isBlocked(record, target)).length
    return {
      total: this.records.size,
      lastKey: this.#lastKey,
      lastSeq: this.#seq,
      targets: this.#derivations
        .flatMap(({ targets }) => targets)
        .map((field) => ({
          field,
          fresh: count(field, 'fresh'),
          stale: count(field, 'stale'),
          missing: count(field, 'missing'),
          failed: count(field, 'failed'),
          overridden: count(field, 'overridden'),
          blocked: this.records
            .values()
            .filter((record) => this.#isBlocked(record, field))
            .toArray().length,
          ready: {
            missing: ready(field, 'missing'),
            stale: ready(field, 'stale'),
            failed: ready(field, 'failed'),
          },
          lastAt: null,
          lastActor: null,
          lastError: null,
        })),
    }
  }

  async work(query: WorkQuery): Promise<readonly WorkItem[]> {
    const { targets, inputs, after, limit, only } = query
    return this.records
      .entries()
      .filter(
        ([key, record]) =>
          key > (after ?? 0) &&
          (only?.includes(key) ?? true) &&
          isWanted(query, record, (target) => this.#isBlocked(record, target)),
      )
      .take(limit)
      .map(([key, record]) => ({
        key,
        id: record.id,
        inputs: Object.fromEntries(
          inputs.map((field) => [field, field === 'id' ? record.id : (record.values[field] ?? null)]),
        ),
        pending: Object.fromEntries(
          inputs.flatMap((field) => {
            const pending = this.#pending(record, field)
            return pending === undefined ? [] : [[field, pending] as const]
          }),
        ),
        cells: targets.map((target) => {
          const { state, hash, version, failure } = record.cells.get(target) as MemoryCell
          const failed = query.failures === true && state === 'failed' && failure !== undefined
          const blocked = this.#isBlocked(record, target)
          const touched = state === 'overridden' ? { touchedBy: version } : {}
          return {
            target,
            state,
            blocked,
            inputHash: hash,
            version: String(version),
            ...touched,
            ...(failed && { failure }),
          }
        }),
      }))
      .toArray()
  }

  async provenance(id: string, field: string): ReturnType<RunStore['provenance']> {
    const record = this.records.values().find((each) => each.id === id)
    const seq = record?.cells.get(field)?.written ?? 0
    return { entries: [{ seq }], isCut: false }
  }

  #pending(record: MemoryRecord, field: string): PendingInput | undefined {
    const state = record.cells.get(field)?.state
    if (state === undefined || state === 'fresh' || state === 'overridden') return undefined
    return this.#isBlocked(record, field) ? 'blocked' : state
  }

  #isBlocked(record: MemoryRecord, target: string): boolean {
    const state = record.cells.get(target)?.state
    const derivation = this.#derivations.find(({ targets }) => targets.includes(target))
    if (derivation === undefined || state === undefined || state === 'fresh' || state === 'overridden')
      return false
    const { inputs, requiredInputs: required, nonEmptyInputs: nonEmpty } = derivation
    const value = (field: string): JsonValue | undefined =>
      field === 'id' ? record.id : record.values[field]
    const pending = (field: string): PendingInput | undefined => this.#pending(record, field)
    return blockOf({ inputs, required, nonEmpty }, { value, pending }) !== null
  }

  async usage(): Promise<null> {
    return null
  }

  async cached(hashes: readonly string[]): Promise<ReadonlyMap<string, CacheEntry>> {
    return new Map(
      hashes.flatMap((hash) => {
        const entry = this.cache.get(hash)
        return entry ? [[hash, entry] as const] : []
      }),
    )
  }

  async commitCells(commit: CellCommit): Promise<readonly CellOutcome[]> {
    this.commits.push(commit)
    for (const { inputHash, values, provenance } of commit.cache) {
      const before = this.cache.get(inputHash)?.values
      this.cache.set(inputHash, { inputHash, values: { ...before, ...values }, provenance })
    }
    for (const response of commit.responses ?? []) {
      this.kept.set(response.request, { ...response, at: KEPT_AT })
    }
    return commit.cells.map((cell) => {
      const overwrites = cell.result.kind === 'computed' && this.state(cell.key, cell.target) === 'overridden'
      if (!this.#store(cell)) return { outcome: 'superseded' }
      return { outcome: 'stored', ...(overwrites && { overwrote: true }) }
    })
  }

  #store({ key, target, version, result }: CellResult): boolean {
    const record = this.records.get(key)
    const cell = record?.cells.get(target)
    if (!record || !cell || String(cell.version) !== version) return false
    switch (result.kind) {
      case 'unchanged':
        cell.state = 'fresh'
        return true
      case 'skipped':
        if (cell.state === 'failed') cell.state = cell.hash === null ? 'missing' : 'stale'
        return true
      case 'failed':
        if (cell.state === 'overridden') return true
        cell.state = 'failed'
        cell.failure = { at: this.now, inputHash: result.inputHash ?? null }
        return true
      case 'computed': {
        const same = isDeepStrictEqual(record.values[target] ?? null, result.value)
        record.values[target] = result.value
        Object.assign(cell, { hash: result.inputHash, state: 'fresh', version: (this.#seq += 1) })
        if (!same) this.#inputWritten(record, target)
        return true
      }
    }
  }

  #create(id: string): [RecordKey, MemoryRecord] {
    const cells = this.#derivations
      .flatMap(({ targets }) => targets)
      .map((target): [string, MemoryCell] => [
        target,
        { hash: null, state: 'missing', version: this.#seq, written: this.#seq },
      ])
    const record = { id, values: {}, cells: new Map(cells) }
    this.records.set((this.#lastKey += 1), record)
    return [this.#lastKey, record]
  }

  #inputWritten(record: MemoryRecord, field: string): void {
    for (const { inputs, targets } of this.#derivations) {
      if (!inputs.includes(field)) continue
      for (const target of targets) {
        const cell = record.cells.get(target)
        if (!cell) continue
        cell.version = this.#seq
        if (cell.state === 'fresh') cell.state = 'stale'
      }
    }
  }
}

function isWanted(
  { targets, force, state, ready = false }: WorkQuery,
  { cells }: MemoryRecord,
  isBlocked: (target: string) => boolean,
): boolean {
  if (force && state === null) return true
  const asked = ready ? targets.filter((target) => !isBlocked(target)) : targets
  const states = asked.map((target) => cells.get(target)?.state)
  if (state !== null) return states.includes(state)
  const work: readonly WorkState[] = ['missing', 'stale', 'failed']
  return states.some((one) => work.some((other) => one === other))
}
