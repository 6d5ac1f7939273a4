import type { IdSource } from '../../contract/odcs/id-source.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { WrittenNumber } from '../../contract/json/written-number.ts'
import { idText } from './infer-column.ts'
import { wrapped } from '../io/null-texts.ts'
import type { RawRecord, RawRecords } from '../io/raw-records.ts'

/** The separator of the parts of a composite id. */
export const SEPARATOR = ':'

/** Returns the id of a record from its values and its number from 1; null if a part is missing. */
export type MakeId = (values: JsonObject, number: number) => string | null

/** Returns the function that makes ids for records without one. */
export function idMaker(source: IdSource): MakeId {
  if (source.kind === 'rowNumber') return (_values, number) => String(number)
  return (values) => {
    const parts = source.fields.map((field) =>
      Object.hasOwn(values, field) ? (values[field] ?? null) : null,
    )
    return parts.includes(null) ? null : parts.map((part) => idText(part)).join(SEPARATOR)
  }
}

/** Returns the same values with a numeric id as text (D14). */
export function withTextId(values: JsonObject): JsonObject {
  const id = Object.hasOwn(values, 'id') ? values['id'] : null
  const isNumber = typeof id === 'number' || id instanceof WrittenNumber
  return isNumber ? { ...values, id: String(id) } : values
}

/** Returns the same records, with an id for each that has none. */
export function withMadeIds(file: RawRecords, makeId: MakeId): RawRecords {
  const fields = file.fields === null || file.fields.includes('id') ? file.fields : ['id', ...file.fields]
  return { ...wrapped(file, () => recordsWithIds(file.batches, makeId)), fields }
}

/** Does the same for records that can be read only once. */
export async function* recordsWithIds(
  batches: AsyncIterable<readonly RawRecord[]>,
  makeId: MakeId,
): AsyncGenerator<readonly RawRecord[]> {
  let number = 0
  for await (const batch of batches) {
    yield batch.map((record) => {
      number += 1
      const { values } = record
      if (Object.hasOwn(values, 'id') && values['id'] !== null) return record
      const id = makeId(values, number)
      return id === null ? record : { ...record, values: { ...values, id } }
    })
  }
}
