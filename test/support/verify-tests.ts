import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifySheet } from '../../src/sheet/verify/verify-sheet.ts'
import { RANDOM_TIMES, seededRandom } from '../../src/store/suite/support/random.ts'
import { TestSheet, type OpenStore } from '../../src/store/suite/support/test-sheet.ts'
import { EVENTFUL, Events } from './eventful-sheet.ts'

const OPERATIONS = 150

/** Tests that the log of a store explains its records after random operations; an engine's tests call it. */
export function testVerification(name: string, open: OpenStore): void {
  const operations = Math.ceil(OPERATIONS * RANDOM_TIMES * (open.randomPart ?? 1))
  for (const seed of RANDOM_TIMES > 1 ? [1, 2, 3] : [1]) {
    test(`${name}: after ${operations} random operations, the records are those of the log (seed ${seed})`, async (t) => {
      const sheet = await TestSheet.make(t, open, EVENTFUL)
      const events = new Events(sheet, seededRandom(seed))
      const copy = mkdtempSync(join(tmpdir(), 'colophon-verify-'))
      t.after(() => rmSync(copy, { recursive: true }))
      for (let done = 0; done < operations; done += 1) await events.operate()
      await sheet.store.snapshot(copy)
      writeFileSync(join(copy, 'contract.yaml'), sheet.contract.text)
      const source = join(sheet.directory, 'records.jsonl')
      const verified = await verifySheet(copy, { checkpoint: null, key: null, source, maxBytes: 1e9 })
      assert.deepEqual(verified.differences.listed, [])
      assert.ok(verified.lines > operations / 2)
      assert.equal(verified.unknownImport, null)
    })
  }
}
