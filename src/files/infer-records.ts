import type { Contract } from '../contract/contract.ts'
import type { JsonObject, JsonValue } from '../contract/json.ts'
import { showValue } from '../contract/show-value.ts'
import { faultOf } from '../contract/validate-value.ts'
import { ValidationError } from '../errors/service-error.ts'
import type { FieldReadings } from './column-readings.ts'
import { idText } from './infer-column.ts'
import { placeOf, type RawRecord, type RawRecords } from './raw-records.ts'
import { typeCells, unknownFieldFault } from './type-cells.ts'

/** How the records of a file become those of a sheet. */
export interface RecordPlan {
  readonly contract: Contract
  /** The field of each column. */
  readonly fieldOf: ReadonlyMap<string, string>
  /** The fields that become text in JSON where the file has another type. */
  readonly textFields: ReadonlySet<string>
  /** How the texts of each field are read. */
  readonly readings: FieldReadings
  /** The id of a record without one, by its values in the file and its number from 1; null where all must have one. */
  readonly makeId: ((values: JsonObject, number: number) => string) | null
}

/**
 * The records of a file as the sheet has them, in the file's order and in groups. Throws ValidationError that names place
 * and field for what the contract does not allow; whether values are unique is for the store to say.
 */
export async function* planRecords(
  file: RawRecords,
  plan: RecordPlan,
): AsyncGenerator<readonly JsonObject[]> {
  let number = 0
  for await (const batch of file.batches) {
    await plan.readings.settle(batch)
    yield batch.map((raw) => {
      number += 1
      const record = planRecord(file, plan, { raw, number })
      checkRecord(plan.contract, record, placeOf(file, raw))
      return record
    })
  }
}

function planRecord(
  file: RawRecords,
  { contract, fieldOf, textFields, readings, makeId }: RecordPlan,
  { raw, number }: { readonly raw: RawRecord; readonly number: number },
): JsonObject {
  const named: Record<string, JsonValue> = {}
  for (const column of Object.keys(raw.values)) {
    const value = raw.values[column] ?? null
    if (value === null) continue
    const field = fieldOf.get(column)
    if (field === undefined || Object.hasOwn(named, field)) {
      const fault =
        field === undefined ? unknownFieldFault(contract, column) : `another column is "${field}" already`
      throw new ValidationError(`${placeOf(file, raw)}, column ${showValue(column)}: ${fault}`)
    }
    named[field] = typeof value !== 'string' && textFields.has(field) ? idText(value) : value
  }
  if (makeId !== null) named['id'] ??= makeId(raw.values, number)
  return typeCells(contract, named, { cells: file.cells, readings })
}

function checkRecord(contract: Contract, record: JsonObject, place: string): void {
  for (const field of contract.fields) {
    const fault = faultOf(field, record[field.name] ?? null)
    if (fault !== null) throw new ValidationError(`${place}, field "${field.name}": ${fault}`)
  }
}
