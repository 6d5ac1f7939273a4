import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { wholeLine } from '../../src/provenance/log-line.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { isStoreUrl } from '../../src/sheet/store-url.ts'
import { verifySheet } from '../../src/sheet/verify/verify-sheet.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { ACTOR } from './served-sheet.ts'
import type { Acknowledged, Workload } from './workload.ts'
import { IMPORTED } from './workload.ts'
import type { Stored } from './writer.ts'

/** The writes that were acknowledged up to a length of the trace. */
export interface Known {
  readonly workload: Workload
  readonly at: number
  /** A file to write to, for a checkpoint that the clients have kept. */
  readonly kept: string
}

/**
 * Opens a sheet as a power loss has left it, and holds it to what clients were told: every acknowledged write is there and no write is
 * there by half, the log explains the records, the store is sound, and the sheet takes writes.
 */
export async function checkSheet(place: string, { workload, at, kept }: Known): Promise<void> {
  const sheet = await openSheet(place, { defaultActor: ACTOR })
  try {
    const stored = await allRecords(sheet)
    assert.equal(stored.filter(({ batch }) => batch === 'imported').length, IMPORTED)
    for (const writer of workload.writers) writer.check(stored, at)
    const { contract } = await sheet.current()
    for (const field of before(workload.fields, at))
      assert.ok(contract.fieldByName.has(field), `the field ${field} was added and is missing`)
    await upsertRecords(sheet, { records: [{ id: 'after', note: 'written after the power loss' }] })
    const again = await allRecords(sheet)
    assert.equal(again.find(({ id }) => id === 'after')?.['note'], 'written after the power loss')
    assert.equal(again.length, stored.length + 1)
  } finally {
    await sheet.close()
  }
  if (!isStoreUrl(place)) checkFiles(place)
  const last = before(workload.checkpoints, at).at(-1)
  if (last !== undefined) writeFileSync(kept, last)
  const verified = await verifySheet(place, {
    checkpoint: last === undefined ? null : kept,
    key: null,
    source: null,
    maxBytes: 1e9,
  })
  rmSync(kept, { force: true })
  assert.deepEqual(verified.differences.listed, [])
}

function before<T>(acknowledged: readonly Acknowledged<T>[], length: number): readonly T[] {
  return acknowledged.filter(({ at }) => at <= length).map(({ what }) => what)
}

/** Returns all records of a sheet. */
export async function allRecords(sheet: Sheet): Promise<readonly Stored[]> {
  const records: Stored[] = []
  for (let cursor: string | null = null; ;) {
    const page = await listRecords(sheet, { limit: 10_000, cursor })
    records.push(...(JSON.parse(String(page.records)) as Stored[]))
    cursor = page.nextCursor
    if (cursor === null) return records
  }
}

/** Holds the files of a closed sheet to each other: the log has each line once, and the database has no damaged page. */
export function checkFiles(directory: string): void {
  const db = new DatabaseSync(join(directory, 'sheet.db'), { readOnly: true })
  try {
    assert.deepEqual(db.prepare('PRAGMA integrity_check').all().map(Object.values), [['ok']])
    const lines = db.prepare('SELECT seq, line FROM "$provenance" ORDER BY seq').all()
    assert.deepEqual(
      lines.map(({ seq }) => seq),
      lines.map((_, index) => index + 1),
      'the log has a gap',
    )
    const text = readFileSync(join(directory, 'provenance.jsonl'), 'utf8')
    assert.equal(text, lines.map(({ line }) => `${wholeLine(String(line))}\n`).join(''))
  } finally {
    db.close()
  }
  const setAside = readdirSync(directory).filter((name) => name.includes('set-aside'))
  assert.deepEqual(setAside, [], 'lines were set aside that nobody else has written')
}
