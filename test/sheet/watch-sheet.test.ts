import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { watchSheet } from '../../src/sheet/runs/watch/watch-sheet.ts'
import { onEnd } from '../support/on-end.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

test('a joining subscriber gets the changes between reading and joining', async (t) => {
  const sheet = await openTestSheet(t)
  const told = Promise.withResolvers<void>()
  const others = (await watchSheet(sheet)).subscribe(told.resolve)
  onEnd(t, () => others.close())
  const { first, subscribe } = await watchSheet(sheet)
  await upsertRecords(sheet, { records: [{ id: 'a', price: 9 }], actor: 'human:ann' })
  await told.promise
  const joined = Promise.withResolvers<void>()
  const late = subscribe(joined.resolve)
  onEnd(t, () => late.close())
  await joined.promise
  assert.equal(late.take()?.seq, (first[0]?.seq ?? NaN) + 1)
})
