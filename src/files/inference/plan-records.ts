import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { unknownColumnMessage } from '../../contract/odcs/original-names.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { FieldReadings } from './column-readings.ts'
import { idText } from './infer-column.ts'
import { placeOf, type RawRecord, type RawRecords } from '../io/raw-records.ts'
import { typeCells } from './type-cells.ts'

/** The conversion of a file's records to those of a sheet. */
export interface RecordPlan {
  readonly contract: Contract
  /** The fields that store other types of the file as JSON text. */
  readonly textFields: ReadonlySet<string>
  /** The reading of each field's texts. */
  readonly readings: FieldReadings
}

/**
 * Converts the records of a file, whose columns are named as fields, in the file's order and in groups. Throws
 * ValidationError, naming place and field, for values that the contract does not allow; the store checks uniqueness.
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
      const fault = unknownColumnMessage(contract, name)
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
    const fault = valueError(field, record[field.name] ?? null)
    if (fault !== null)
      throw new ValidationError(`${place}, field "${field.name}": ${fault}`, 'invalid_records')
  }
}
