import { ContractError } from '../../errors/service-error.ts'

/** Returns what is read; null where that throws ContractError, for a definition that is not valid. */
export function validOrNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ContractError) return null
    throw error
  }
}
