import type { Contract } from '../contract/contract.ts'
import { purposeOf, recordInputSchema, recordSchema, type JsonSchema } from '../contract/record-schema.ts'
import { ServiceError } from '../errors/service-error.ts'
import type { Sheet } from './sheet.ts'

export type { JsonSchema } from '../contract/record-schema.ts'

/** What the contract says of records, as JSON Schema, and of the sheet. */
export interface RecordSchemas {
  /** A record in an answer. */
  readonly record: JsonSchema
  /** A record in a write. */
  readonly input: JsonSchema
  /** What the sheet is for; an empty text when the contract does not say. */
  readonly purpose: string
}

const MADE = new WeakMap<Contract, RecordSchemas>()

/** The schemas of records by the contract of today, the same object until that changes; null while it is broken. */
export async function readRecordSchemas(sheet: Sheet): Promise<RecordSchemas | null> {
  const contract = await currentContract(sheet)
  if (contract === null) return null
  let schemas = MADE.get(contract)
  if (schemas === undefined) {
    schemas = {
      record: recordSchema(contract),
      input: recordInputSchema(contract),
      purpose: purposeOf(contract),
    }
    MADE.set(contract, schemas)
  }
  return schemas
}

async function currentContract(sheet: Sheet): Promise<Contract | null> {
  try {
    return (await sheet.current()).contract
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
