import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { CellOutcome } from '../../cell-work.ts'
import type { CellState } from '../../sheet-store.ts'

/** A field in the model. */
export interface ModelField {
  readonly name: string
  readonly required: boolean
  readonly unique: boolean
  /** The only actor who may write it; null where that depends on whether it is derived. */
  readonly editableBy: string | null
  fault(value: JsonValue): boolean
}

/** A derived field in the model. */
export interface ModelTarget {
  readonly field: string
  readonly inputs: readonly string[]
  readonly required: readonly string[]
  nonEmpty: readonly string[]
  sha256: string
  active: boolean
}

/** The members of a provenance entry that the model predicts. */
export interface ModelEntry {
  readonly source: string
  readonly actor: string
  readonly value: JsonValue
  readonly previous: JsonValue
}

interface ModelCell {
  state: CellState
  hash: string | null
  /** Increases whenever the cell or one of its inputs is written (D28). */
  version: number
}

interface ModelRecord {
  /** Number of the life: a recreated record has another one. */
  readonly life: number
  readonly values: Map<string, JsonValue>
  readonly cells: Map<string, ModelCell>
}

/** A cell as a run has read it. */
export interface ReadCell {
  readonly id: string
  readonly field: string
  readonly life: number
  readonly version: number
  readonly sha256: string
}

export type ModelResult =
  | { readonly kind: 'computed'; readonly value: JsonValue; readonly hash: string; readonly actor: string }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed' }

export type Refusal = 'PermissionDeniedError' | 'ValidationError'

/**
 * A sheet's records, cell states and provenance in plain maps, written from the decisions without regard to speed: the
 * reference for a store.
 */
export class Model {
  readonly fields: readonly ModelField[]
  readonly targets: readonly ModelTarget[]
  #records = new Map<string, ModelRecord>()
  /** By record id and field. Kept when a record is deleted. */
  readonly #log = new Map<string, ModelEntry[]>()
  /** The cells to which the current batch has added entries. */
  #noted: ModelEntry[][] = []
  #lives = 0

  constructor(fields: readonly ModelField[], targets: readonly ModelTarget[]) {
    this.fields = fields
    this.targets = targets
  }

  get total(): number {
    return this.#records.size
  }

  ids(): string[] {
    return [...this.#records.keys()]
  }

  /** Returns a record with every field, or null. */
  record(id: string): JsonObject | null {
    const record = this.#records.get(id)
    if (record === undefined) return null
    return Object.fromEntries(this.fields.map(({ name }) => [name, record.values.get(name) ?? null]))
  }

  entries(id: string, field: string): readonly ModelEntry[] {
    return this.#log.get(`${id} ${field}`) ?? []
  }

  /** Counts the cells of a target by state (D32). */
  counts(field: string): Record<CellState, number> {
    const counts = { fresh: 0, stale: 0, missing: 0, failed: 0, overridden: 0 }
    for (const { cells } of this.#records.values()) counts[cells.get(field)!.state] += 1
    return counts
  }

  /** Determines whether a cell is pending and blocked by an input (D32). */
  isBlocked(id: string, field: string): boolean {
    const { values, cells } = this.#records.get(id)!
    const hasWork = (name: string): boolean =>
      this.#target(name)?.active === true && !['fresh', 'overridden'].includes(cells.get(name)!.state)
    if (!hasWork(field)) return false
    const { inputs, required, nonEmpty } = this.#target(field)!
    const lacks = (name: string): boolean => {
      const value = values.get(name) ?? null
      return value === null || (value === '' && nonEmpty.includes(name))
    }
    return (
      inputs.some(
        (name) => hasWork(name) && (cells.get(name)!.state === 'failed' || this.isBlocked(id, name)),
      ) || required.some((name) => lacks(name) && !hasWork(name))
    )
  }

  state(id: string, field: string): CellState {
    return this.#records.get(id)!.cells.get(field)!.state
  }

  read(id: string, field: string): ReadCell {
    const { life, cells } = this.#records.get(id)!
    return { id, field, life, version: cells.get(field)!.version, sha256: this.#target(field)!.sha256 }
  }

  import(records: readonly JsonObject[], actor: string): void {
    for (const record of records) this.#insert(record, { actor, source: 'import' })
  }

  /** Applies a batch as a whole, or returns why it is refused (D13). `source` is that of new records. */
  upsert(
    records: readonly (JsonObject & { id: string })[],
    actor: string,
    source: 'write' | 'import' = 'write',
  ): Refusal | { inserted: number; updated: number } {
    const before = new Map([...this.#records].map(([id, record]) => [id, copyOf(record)]))
    this.#noted = []
    const faults = new Set<Refusal>()
    const result = { inserted: 0, updated: 0 }
    for (const record of records) {
      const known = this.#records.get(record.id)
      const found = this.#faultsOf(record, known, actor)
      for (const fault of found) faults.add(fault)
      if (found.size > 0) continue
      if (known === undefined) this.#insert(record, { actor, source })
      else this.#merge(record, known, actor)
      result[known === undefined ? 'inserted' : 'updated'] += 1
    }
    // Unique values are checked at the end of the batch.
    if (this.#hasRepeats()) faults.add('ValidationError')
    if (faults.size === 0) return result
    this.#records = before
    for (const entries of this.#noted) entries.pop()
    return faults.has('PermissionDeniedError') ? 'PermissionDeniedError' : 'ValidationError'
  }

  delete(ids: readonly string[], actor: string): number {
    let deleted = 0
    for (const id of new Set(ids)) {
      const record = this.#records.get(id)
      if (record === undefined) continue
      for (const [field, value] of record.values) {
        if (value !== null) this.#note(id, field, { source: 'delete', actor, value: null, previous: value })
      }
      this.#records.delete(id)
      deleted += 1
    }
    return deleted
  }

  /** Stores the result of a run for a cell that it had read (D26, D28). */
  commit(read: ReadCell, result: ModelResult): CellOutcome['outcome'] {
    const record = this.#records.get(read.id)
    const cell = record?.cells.get(read.field)
    const target = this.#target(read.field)
    if (record?.life !== read.life || cell?.version !== read.version || !target?.active) return 'superseded'
    const current = target.sha256 === read.sha256
    if (result.kind === 'failed') {
      if (cell.state !== 'overridden') cell.state = 'failed'
    } else if (result.kind === 'unchanged') {
      if (current) cell.state = 'fresh'
    } else if (result.kind === 'skipped') {
      if (current && cell.state === 'failed') cell.state = cell.hash === null ? 'missing' : 'stale'
    } else {
      const { value, hash, actor } = result
      const previous = record.values.get(read.field) ?? null
      this.#note(read.id, read.field, { source: 'http', actor, value, previous })
      record.values.set(read.field, value)
      record.cells.set(read.field, { state: current ? 'fresh' : 'stale', hash, version: cell.version + 1 })
      if (value !== previous) this.#inputWritten(record, read.field)
    }
    return 'stored'
  }

  /** Sets the derivation file of a target (perhaps a former one), or removes it (D3, D32). */
  define(field: string, change: Pick<ModelTarget, 'sha256' | 'active' | 'nonEmpty'>): void {
    const target = this.#target(field)!
    const same = target.active && target.sha256 === change.sha256
    Object.assign(target, change)
    if (same || !change.active) return
    for (const { cells } of this.#records.values()) {
      const cell = cells.get(field)!
      if (cell.state === 'fresh') cell.state = 'stale'
    }
  }

  #target(field: string): ModelTarget | undefined {
    return this.targets.find((target) => target.field === field)
  }

  #faultsOf(
    record: JsonObject & { id: string },
    known: ModelRecord | undefined,
    actor: string,
  ): Set<Refusal> {
    const faults = new Set<Refusal>()
    for (const [name, value] of Object.entries(record)) {
      const field = this.fields.find((candidate) => candidate.name === name)
      if (field === undefined) {
        faults.add('ValidationError')
        continue
      }
      if ((known?.values.get(name) ?? null) === value) continue
      const derived = this.#target(name)?.active === true
      if (!(field.editableBy === null ? !derived : actor.startsWith(field.editableBy)))
        faults.add('PermissionDeniedError')
      if (value === null ? field.required : field.fault(value)) faults.add('ValidationError')
    }
    const lacks =
      known === undefined &&
      this.fields.some(({ name, required }) => required && (record[name] ?? null) === null)
    if (lacks) faults.add('ValidationError')
    return faults
  }

  #hasRepeats(): boolean {
    const records = [...this.#records.values()]
    return this.fields
      .filter(({ unique }) => unique)
      .some(({ name }) => {
        const values = records.map((record) => record.values.get(name)).filter((value) => value !== null)
        return new Set(values).size < values.length
      })
  }

  #insert(record: JsonObject, { actor, source }: { actor: string; source: string }): void {
    const life = (this.#lives += 1)
    const values = new Map(this.fields.map(({ name }) => [name, record[name] ?? null]))
    const cells = new Map(
      this.targets.map(({ field }) => {
        const state: CellState = (values.get(field) ?? null) === null ? 'missing' : 'overridden'
        return [field, { state, hash: null, version: 0 }]
      }),
    )
    const id = record['id'] as string
    this.#records.set(id, { life, values, cells })
    for (const [field, value] of values)
      if (value !== null) this.#note(id, field, { source, actor, value, previous: null })
  }

  #merge(record: JsonObject & { id: string }, known: ModelRecord, actor: string): void {
    const changed = Object.entries(record).filter(([name, value]) => known.values.get(name) !== value)
    for (const [name, value] of changed) {
      this.#note(record.id, name, { source: 'write', actor, value, previous: known.values.get(name) ?? null })
      known.values.set(name, value)
    }
    for (const [name] of changed) this.#inputWritten(known, name)
    for (const [name, value] of changed) {
      const cell = known.cells.get(name)
      if (cell === undefined) continue
      known.cells.set(name, {
        state: value === null ? 'missing' : 'overridden',
        hash: null,
        version: cell.version + 1,
      })
    }
  }

  #inputWritten(record: ModelRecord, input: string): void {
    for (const { field, inputs } of this.targets) {
      if (!inputs.includes(input)) continue
      const cell = record.cells.get(field)!
      cell.version += 1
      if (cell.state === 'fresh') cell.state = 'stale'
    }
  }

  #note(id: string, field: string, entry: ModelEntry): void {
    const entries = this.#log.get(`${id} ${field}`) ?? []
    this.#log.set(`${id} ${field}`, entries)
    this.#noted.push(entries)
    entries.push(entry)
  }
}

function copyOf({ life, values, cells }: ModelRecord): ModelRecord {
  return {
    life,
    values: new Map(values),
    cells: new Map([...cells].map(([field, cell]) => [field, { ...cell }])),
  }
}
