import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { unknownColumnFault } from '../../contract/odcs/original-names.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { faultOf } from '../../contract/values/validate-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { FieldReadings } from './column-readings.ts'
import { idText } from './infer-column.ts'
import { placeOf, type RawRecord, type RawRecords } from '../io/raw-records.ts'
import { typeCells } from './type-cells.ts'

/** How the records of a file become those of a sheet. */
export interface RecordPlan {
  readonly contract: Contract
  /** The fields that become text in JSON where the file has another type. */
  readonly textFields: ReadonlySet<string>
  /** How the texts of each field are read. */
  readonly readings: FieldReadings
}

/**
 * The records of a file, whose columns are called as their fields, as the sheet has them, in the file's order and in groups. Throws ValidationError that names place
 * and field for what the contract does not allow; whether values are unique is for the store to say.
 */
export async function* planRecords(
  file: RawRecords,
  plan: RecordPlan,
): AsyncGenerator<readonly JsonObject[]> {
  for await (const batch of file.batches) {
    await plan.readings.settle(batch)
    yield batch.map((raw) => {
      const record = planRecord(file, plan, raw)
      checkRecord(plan.contract, record, placeOf(file, raw))
      return record
    })
  }
}

function planRecord(
  file: RawRecords,
  { contract, textFields, readings }: RecordPlan,
  raw: RawRecord,
): JsonObject {
  const named: Record<string, JsonValue> = {}
  for (const name of Object.keys(raw.values)) {
    const value = raw.values[name] ?? null
    if (value === null) continue
    if (!contract.fieldByName.has(name)) {
      const fault = unknownColumnFault(contract, name)
      throw new ValidationError(
        `${placeOf(file, raw)}, column ${showValue(name)}: ${fault}`,
        'invalid_records',
      )
    }
    named[name] = typeof value !== 'string' && textFields.has(name) ? idText(value) : value
  }
  return typeCells(contract, named, { cells: file.cells, readings })
}

function checkRecord(contract: Contract, record: JsonObject, place: string): void {
  for (const field of contract.fields) {
    const fault = faultOf(field, record[field.name] ?? null)
    if (fault !== null)
      throw new ValidationError(`${place}, field "${field.name}": ${fault}`, 'invalid_records')
  }
}
