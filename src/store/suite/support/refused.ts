import assert from 'node:assert/strict'
import type {
  PermissionDeniedError,
  PreconditionFailedError,
  ValidationError,
} from '../../../errors/service-error.ts'
import type { TestSheet } from './test-sheet.ts'

/** Asserts that a write is refused as a whole, with an error of this type, and stores nothing; returns its message. */
export async function refused(
  sheet: TestSheet,
  act: () => Promise<unknown>,
  type: typeof ValidationError | typeof PermissionDeniedError | typeof PreconditionFailedError,
): Promise<string> {
  const stored = await sheet.all()
  let message = ''
  await assert.rejects(act, (error) => {
    assert.ok(error instanceof type, String(error))
    message = error.message
    return true
  })
  assert.deepEqual(await sheet.all(), stored)
  assert.equal((await sheet.store.status()).total, stored.length)
  return message
}
