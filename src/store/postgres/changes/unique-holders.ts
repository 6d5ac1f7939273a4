import type { Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { Connection } from '../database/connection.ts'
import { columnType, quoted } from '../database/schema.ts'
import { columnsOf } from '../database/columns.ts'
import { fieldValue, toColumnText } from '../database/values.ts'

export interface Holder {
  readonly key: RecordKey
  readonly id: string
}

/** The records that have certain values in a unique field; values are equal when their JSON text is. */
export class UniqueHolders {
  readonly #byValue = new Map<string, Holder[]>()

  private constructor() {}

  /** Reads the records with these values from the tables. */
  static async read(db: Connection, field: Field, values: readonly JsonValue[]): Promise<UniqueHolders> {
    const holders = new UniqueHolders()
    const wanted = new Set(values.map((value) => toColumnText(field, value)).filter((text) => text !== null))
    if (wanted.size === 0) return holders
    const column = quoted(field.name)
    const columns = [...new Set(['$seq', 'id', ...columnsOf([field])])].map((name) => `data.${quoted(name)}`)
    const rows = await db.all(
      `SELECT ${columns.join(', ')}
       FROM unnest($1::text[]) AS wanted(value) JOIN "$data" AS data ON data.${column} = wanted.value::${columnType(field)}`,
      [...wanted],
    )
    for (const row of rows) {
      holders.gained({ key: Number(row['$seq']), id: String(row['id']) }, fieldValue(field, row))
    }
    return holders
  }

  of(value: JsonValue): readonly Holder[] {
    return this.#byValue.get(JSON.stringify(value)) ?? []
  }

  /** Notes that a record has received the value. */
  gained(holder: Holder, value: JsonValue): void {
    const text = JSON.stringify(value)
    const holders = this.#byValue.get(text)
    if (holders === undefined) this.#byValue.set(text, [holder])
    else holders.push(holder)
  }

  /** Notes that a record no longer has the value. */
  lost({ key }: Holder, value: JsonValue): void {
    const text = JSON.stringify(value)
    this.#byValue.set(
      text,
      this.of(value).filter((holder) => holder.key !== key),
    )
  }
}
