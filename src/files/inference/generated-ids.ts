import type { IdSource } from '../../contract/odcs/id-source.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { WrittenNumber } from '../../contract/json/written-number.ts'
import { idText } from './infer-column.ts'
import { wrapped } from '../io/null-texts.ts'
import type { RawRecord, RawRecords } from '../io/raw-records.ts'

/** What stands between the parts of an id of several fields. */
export const SEPARATOR = ':'

/** The id of a record, by its values under the names of fields and its number from 1; null where a part of it is missing. */
export type MakeId = (values: JsonObject, number: number) => string | null

/** Makes the ids of records that have none in their file. */
export function idMaker(source: IdSource): MakeId {
  if (source.kind === 'rowNumber') return (_values, number) => String(number)
  return (values) => {
    const parts = source.fields.map((field) =>
      Object.hasOwn(values, field) ? (values[field] ?? null) : null,
    )
    return parts.includes(null) ? null : parts.map((part) => idText(part)).join(SEPARATOR)
  }
}

/** The same values with the id as text, as ids are (D14), where a file has it as a number. */
export function withTextId(values: JsonObject): JsonObject {
  const id = Object.hasOwn(values, 'id') ? values['id'] : null
  const isNumber = typeof id === 'number' || id instanceof WrittenNumber
  return isNumber ? { ...values, id: String(id) } : values
}

/** The same records, with an id in each that has none. */
export function withMadeIds(file: RawRecords, makeId: MakeId): RawRecords {
  const fields = file.fields === null || file.fields.includes('id') ? file.fields : ['id', ...file.fields]
  return { ...wrapped(file, () => recordsWithIds(file.batches, makeId)), fields }
}

/** The same for records without a file that could be read again. */
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
