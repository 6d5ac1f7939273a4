import { hash } from 'node:crypto'
import type { Contract } from '../../contract/contract.ts'
import { ServiceError } from '../../errors/service-error.ts'
import type { CurrentSheet, Sheet } from '../sheet.ts'

/** Another text whenever the shape of answers about records changes with the program. */
const ANSWER_SHAPE = '1'

const STAMP_LENGTH = 10

const STAMPS = new WeakMap<Contract, string>()

/**
 * What alters the answer about a record, beside the record's version: the contract that it is shown by, and the store,
 * since versions of another one count from the start. A short text, made once for a contract.
 */
export function stampOf({ contract, store }: CurrentSheet): string {
  const known = STAMPS.get(contract)
  if (known !== undefined) return known
  const about = `${ANSWER_SHAPE} ${Buffer.from(store.cursorKey).toString('hex')} ${contract.text}`
  const stamp = hash('sha256', about, 'base64url').slice(0, STAMP_LENGTH)
  STAMPS.set(contract, stamp)
  return stamp
}

/** The stamp of a sheet as it is now; null while it cannot be read, when no answer about a record is given. */
export async function readStamp(sheet: Sheet): Promise<string | null> {
  try {
    return stampOf(await sheet.current())
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
