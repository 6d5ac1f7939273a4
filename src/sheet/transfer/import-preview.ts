import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { sameValue } from '../../store/same-value.ts'
import type { SheetStore } from '../../store/sheet-store.ts'

/** The change that an import would make to a record. */
export interface PreviewedRecord {
  readonly recordId: string
  /** The place in the file, such as `data.csv:12`. */
  readonly place: string
  readonly change: 'create' | 'update'
  /** The fields that would get another value. */
  readonly fields: readonly PreviewedField[]
}

export interface PreviewedField {
  readonly field: string
  /** The present value; null for none. */
  readonly was: JsonValue
  readonly value: JsonValue
}

/** The most records of a preview. */
export const MAX_PREVIEWED = 50

/** The most records of the file that are compared for the preview. */
const MAX_COMPARED = 10_000

/** Records whose present values are read together. */
const READ_AT_ONCE = 200

/** Collects the first records of a file that an import would create or change. */
export class ImportPreview {
  readonly #contract: Contract
  readonly #store: SheetStore
  readonly #found: PreviewedRecord[] = []
  #compared = 0

  constructor(contract: Contract, store: SheetStore) {
    this.#contract = contract
    this.#store = store
  }

  get records(): readonly PreviewedRecord[] {
    return this.#found
  }

  /** Adds records as they would be written, with their places. */
  async add(records: readonly JsonObject[], placeOf: (index: number) => string): Promise<void> {
    for (let start = 0; start < records.length; start += READ_AT_ONCE) {
      if (this.#found.length >= MAX_PREVIEWED || this.#compared >= MAX_COMPARED) return
      const some = records.slice(start, start + READ_AT_ONCE)
      this.#compared += some.length
      const present = await this.#present(some.map(({ id }) => id).filter((id) => typeof id === 'string'))
      for (const [index, record] of some.entries()) {
        const { id } = record
        if (typeof id !== 'string' || this.#found.length >= MAX_PREVIEWED) continue
        const now = present.get(id)
        const fields = this.#differences(record, now ?? {})
        if (fields.length === 0) continue
        const change = now === undefined ? 'create' : 'update'
        this.#found.push({ recordId: id, place: placeOf(start + index), change, fields })
      }
    }
  }

  #differences(record: JsonObject, now: JsonObject): PreviewedField[] {
    return this.#contract.fields.flatMap(({ name }) => {
      if (!Object.hasOwn(record, name)) return []
      const [was, value] = [now[name] ?? null, record[name] ?? null]
      return sameValue(was, value) ? [] : [{ field: name, was, value }]
    })
  }

  async #present(ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
    const id = this.#contract.fieldByName.get('id')
    if (id === undefined || ids.length === 0) return new Map()
    const page = await this.#store.page({
      fields: this.#contract.fields.map(({ name }) => name),
      filter: null,
      where: { kind: 'field', field: id, operator: 'anyOf', operands: ids },
      sort: [],
      after: null,
      limit: ids.length,
      skip: 0,
    })
    const records = JSON.parse(String(page.records)) as (JsonObject & { id: string })[]
    return new Map(records.map((record) => [record.id, record]))
  }
}
