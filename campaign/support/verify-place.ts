import assert from 'node:assert/strict'
import { verifySheet } from '../../src/sheet/verify/verify-sheet.ts'
import { placeOnEngine } from '../../test/support/engine.ts'

/** Verifies the sheet of a directory, where it is on this engine: its log against its records, files and checkpoints. */
export async function verifyPlace(directory: string): Promise<void> {
  const options = { checkpoint: null, key: null, source: null, maxBytes: 2 ** 30 }
  const { differences } = await verifySheet(await placeOnEngine(directory), options)
  assert.deepEqual([...differences.listed], [])
}
