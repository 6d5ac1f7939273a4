import assert from 'node:assert/strict'
import { copyFile, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { getRecordAsOf } from '../../src/sheet/queries/get-record.ts'
import { listRecords, type RecordList } from '../../src/sheet/queries/list-records.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { changeStore, openOnEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const PAGE = { fields: ['id'], limit: 1 }

async function open(
  t: TestContext,
  log: readonly object[] = [],
): Promise<{ sheet: Sheet; directory: string }> {
  const directory = await writeSheet(t, { derivations: {} })
  if (log.length > 0) {
    await writeFile(
      join(directory, 'provenance.jsonl'),
      log.map((line) => `${JSON.stringify(line)}\n`).join(''),
    )
  }
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  return { sheet, directory }
}

const idsOf = ({ records }: RecordList): unknown =>
  (JSON.parse(String(records)) as { id: string }[]).map(({ id }) => id).join(' ')

test('a state before the store is refused with an OperationError that has the earliest known time', async (t) => {
  const entry = { actor: 'user:ann', source: 'delete', record_id: 'x', values: {}, previous: {} }
  const { sheet } = await open(t, [
    { seq: 1, at: '2026-01-01T00:00:00.000Z', ...entry },
    { seq: 2, at: '2026-01-02T00:00:00.000Z', ...entry },
  ])
  for (const asOf of [
    '0',
    '1',
    '2',
    '2025-01-01T00:00:00Z',
    '2026-01-01T12:00:00+02:00',
    '2026-01-02T00:00:00Z',
  ]) {
    const refusal = {
      type: 'OperationError',
      message: new RegExp(
        `^as_of ${asOf.replace('+', '\\+')} is too early: .* since the first entry of its store, seq 3, 20\\d\\d-.*Z;`,
      ),
    }
    await assert.rejects(listRecords(sheet, { ...PAGE, asOf }), refusal)
    await assert.rejects(getRecordAsOf(sheet, 'a', { fields: null, asOf }), refusal)
  }
  assert.equal(idsOf(await listRecords(sheet, { ...PAGE, limit: 9, asOf: '3' })), 'a b c')
})

test('a store with an earlier log, and without an entry of its own, knows no earlier time', async (t) => {
  const entry = { actor: 'user:ann', source: 'delete', record_id: 'x', values: {}, previous: {} }
  const { directory } = await open(t)
  const bare = await mkdtemp(join(directory, 'bare-'))
  await copyFile(join(directory, 'contract.yaml'), join(bare, 'contract.yaml'))
  await writeFile(
    join(bare, 'provenance.jsonl'),
    `${JSON.stringify({ seq: 61, at: '2026-01-01T00:00:00.000Z', ...entry })}\n`,
  )
  const sheet = await openOnEngine(bare)
  onEnd(t, () => sheet.close())
  for (const asOf of ['0', '61', new Date().toISOString()]) {
    const refusal = {
      type: 'OperationError',
      message: /are known since seq 62, which has not been written yet;/,
    }
    await assert.rejects(listRecords(sheet, { ...PAGE, asOf }), refusal)
  }
  await assert.rejects(listRecords(sheet, { ...PAGE, asOf: '62' }), { type: 'ValidationError' })
})

test('a walk continues from the entry that its time selected at the start, though the time selects a later one now', async (t) => {
  const { sheet, directory } = await open(t)
  const asOf = new Date().toISOString()
  const first = await listRecords(sheet, { ...PAGE, asOf })
  await upsertRecords(
    sheet,
    { records: ['b', 'd'].map((id) => ({ id, title: 'late' })), actor: 'user:ann' },
    null,
  )
  // As a transaction that had begun by that time and was committed only now would have it.
  await changeStore(directory, {
    sqlite: `UPDATE "$provenance" SET line = replace(line, substr(line, instr(line, '"at":"'), 30), '"at":"2020-01-01T00:00:00.000Z') WHERE seq > 1`,
    postgres: `UPDATE "$provenance" SET line = regexp_replace(line, '"at":"[^"]*"', '"at":"2020-01-01T00:00:00.000Z"') WHERE seq > 1`,
  })
  const again = await listRecords(sheet, { ...PAGE, limit: 9, asOf })
  assert.equal(idsOf(again), 'a b c d', 'the time means another entry now')
  const rest = await listRecords(sheet, {
    ...PAGE,
    fields: ['id', 'title'],
    limit: 9,
    asOf,
    cursor: first.nextCursor,
  })
  assert.equal(String(rest.records), '[{"id":"b","title":"Bean"},{"id":"c","title":"Corn"}]')
})
