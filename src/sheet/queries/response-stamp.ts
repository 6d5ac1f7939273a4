import { hash } from 'node:crypto'
import type { Contract } from '../../contract/contract.ts'
import { ServiceError } from '../../errors/service-error.ts'
import type { CurrentSheet, Sheet } from '../sheet.ts'

/** The version of the response's shape; changed whenever the program renders records differently. */
const RESPONSE_SHAPE = '1'

const STAMP_LENGTH = 10

const STAMPS = new WeakMap<Contract, string>()

/**
 * Returns a short text that changes with what a response about a record depends on beside the record's version: the
 * contract, and the store, since another store counts versions from the start.
 */
export function responseStamp({ contract, store }: CurrentSheet): string {
  const known = STAMPS.get(contract)
  if (known !== undefined) return known
  const about = `${RESPONSE_SHAPE} ${Buffer.from(store.cursorKey).toString('hex')} ${contract.text}`
  const stamp = hash('sha256', about, 'base64url').slice(0, STAMP_LENGTH)
  STAMPS.set(contract, stamp)
  return stamp
}

/** Returns the stamp of the present sheet; the error where it cannot be read at the moment. */
export async function readStamp(sheet: Sheet): Promise<string | ServiceError> {
  try {
    return responseStamp(await sheet.current())
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}
