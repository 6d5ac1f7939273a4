import assert from 'node:assert/strict'
import { ContractError } from '../../src/errors/service-error.ts'

/** Returns the message of the ContractError with which `act` fails; fails itself if `act` does not, or with another error. */
export function contractErrorOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof ContractError, String(error))
    return error.message
  }
  return assert.fail('no error')
}
