import type { RecordKey } from '../../cell-work.ts'
import type { DeletedRecord, KnownRecords } from './known-records.ts'
import type { ChangedRecords, FieldChange, NewRecord, StoredRecord } from '../../rules/store-change.ts'
import { RecordUnderChange } from './stored-record.ts'

/**
 * The records of one operation, on top of those of its transaction. Records looked up by id or key must have been loaded.
 * Changes have no effect on the transaction before {@link keep}.
 */
export class StoredRecords implements ChangedRecords {
  readonly #known: KnownRecords
  readonly #byId = new Map<string, RecordUnderChange | null>()
  readonly #byKey = new Map<RecordKey, RecordUnderChange | null>()
  readonly #deleted = new Map<RecordKey, DeletedRecord>()

  constructor(known: KnownRecords) {
    this.#known = known
  }

  load(ids: readonly string[]): Promise<void> {
    return this.#known.load(ids)
  }

  loadKeys(keys: readonly RecordKey[]): Promise<void> {
    return this.#known.loadKeys(keys)
  }

  /** Returns the record with this id; `undefined` when there is none. */
  get(id: string): StoredRecord | undefined {
    const own = this.#byId.get(id)
    return (own === undefined ? this.#known.byId(id) : own) ?? undefined
  }

  /** Returns the record with this key; `undefined` when there is none. */
  byKey(key: RecordKey): StoredRecord | undefined {
    return this.#find(key) ?? undefined
  }

  #find(key: RecordKey): RecordUnderChange | null {
    const own = this.#byKey.get(key)
    return own === undefined ? this.#known.byKey(key) : own
  }

  insert(created: NewRecord): void {
    this.#put(RecordUnderChange.created(created))
  }

  update({ key }: StoredRecord, change: FieldChange): void {
    const known = this.#find(key)
    if (known === null) throw new Error('a record was changed that does not exist')
    const record = this.#byKey.has(key) ? known : known.copy()
    record.change(change)
    this.#put(record)
  }

  #put(record: RecordUnderChange): void {
    this.#byId.set(record.id, record)
    this.#byKey.set(record.key, record)
  }

  delete({ key, id }: StoredRecord, seq: number): void {
    this.#byId.set(id, null)
    this.#byKey.set(key, null)
    this.#deleted.set(key, { id, seq })
  }

  /** Passes the changes of this operation on to the transaction. */
  keep(): void {
    for (const [key, deleted] of this.#deleted) this.#known.remove(key, deleted)
    for (const record of this.#byKey.values()) if (record !== null) this.#known.put(record)
    this.#byId.clear()
    this.#byKey.clear()
    this.#deleted.clear()
  }
}
