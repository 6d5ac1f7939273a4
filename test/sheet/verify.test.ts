import assert from 'node:assert/strict'
import { appendFile, copyFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { SheetError, ValidationError } from '../../src/errors/service-error.ts'
import { NoteSigner } from '../../src/proof/node-primitives.ts'
import { formatKey } from '../../src/proof/note-keys.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { makeCheckpoint } from '../../src/sheet/proof/prove.ts'
import { startRevert } from '../../src/sheet/runs/revert.ts'
import { exportArchive } from '../../src/sheet/transfer/export-archive.ts'
import { importRecords } from '../../src/sheet/transfer/import-records.ts'
import { verifySheet, type Verification, type VerifyOptions } from '../../src/sheet/verify/verify-sheet.ts'
import { reviewCells } from '../../src/sheet/writes/review-cells.ts'
import { changeStore, perEngine, placeOnEngine, skipOnPostgres } from '../support/engine.ts'
import { allBytes } from '../support/init-files.ts'
import { liveThrough, openLineageSheet } from '../support/lineage-sheet.ts'
import { onEnd } from '../support/on-end.ts'
import { openLookupSheet, type RunSheet } from '../support/run-fixture.ts'
import { copiesOf } from '../support/sheet-copies.ts'
import { temporaryFile } from '../support/temporary-file.ts'

const ACTOR = 'human:ann'
const GIVEN = { checkpoint: null, key: null, source: null, maxBytes: 1e9 } satisfies VerifyOptions

interface Busy extends RunSheet {
  readonly path: string
  readonly source: string
}

/** A sheet with imported, computed, written, reviewed and deleted values, an import of a file that was reverted, and checkpoints. */
async function openBusy(t: TestContext): Promise<Busy> {
  const run = await openLookupSheet(t, [
    { id: 'x', a: 'one' },
    { id: 'y', a: 'two' },
    { id: 'z', a: 'three' },
    { id: 'v', a: 'five' },
  ])
  const { sheet, directory } = run
  const path = await placeOnEngine(directory)
  const folder = await mkdtemp(join(tmpdir(), 'colophon-verify-'))
  onEnd(t, () => rm(folder, { recursive: true, force: true }))
  const source = join(folder, 'imported.jsonl')
  await copyFile(join(directory, 'records.jsonl'), source)
  await run.run()
  await run.write({ id: 'x', a: 'four' }, { id: 'w', a: 'new' })
  await run.delete('z')
  const file = await temporaryFile(t, 'more.csv', 'id,a\ny,other\nn,n\n')
  const { run: imported } = await importRecords(sheet, file, { format: 'csv', actor: ACTOR })
  await (
    await startRevert(sheet, { runId: imported ?? '', actor: ACTOR })
  ).done
  await makeCheckpoint(sheet)
  const cells = [{ recordId: 'y', field: 'a' }]
  await reviewCells(sheet, { cells, verdict: 'approved', note: null, actor: ACTOR })
  await run.run()
  return Object.assign(run, { path, source })
}

function messages({ differences }: Verification): string[] {
  return differences.listed.map(({ seq, recordId, field, message }) =>
    [seq, recordId, field, message].filter((part) => part !== null).join(' '),
  )
}

test('a sheet, its archive and its copies hold, with a checkpoint that was kept', async (t) => {
  const run = await openBusy(t)
  const { sheet, path, source } = run
  const checkpoint = await temporaryFile(t, 'kept.txt', (await makeCheckpoint(sheet)).note)
  const archive = await temporaryFile(t, 'sheet.zip', await allBytes(exportArchive(sheet)))
  const copies = await copiesOf(t, sheet)
  for (const place of [path, archive.path, ...copies]) {
    const verified = await verifySheet(place, { ...GIVEN, checkpoint: checkpoint.path, source })
    assert.deepEqual(messages(verified), [], place)
    const { lines, unknownImport, checkpoints, records } = verified
    assert.ok(lines > 10)
    assert.deepEqual([unknownImport, checkpoints.covered.outside, records.records], [null, lines, 4])
  }
  // The directory has the imported file; the others say what they lack.
  const { unknownImport, records } = await verifySheet(archive.path, GIVEN)
  assert.equal(unknownImport?.file, 'records.jsonl')
  assert.ok(records.imported.cells > 0)
})

test('a value that was changed in the store is found, and one that was changed with its log', async (t) => {
  const { sheet, directory, path, source } = await openBusy(t)
  const kept = await makeCheckpoint(sheet)
  const checkpoint = await temporaryFile(t, 'kept.txt', kept.note)
  const same = `UPDATE "$data" SET a = 'forged' WHERE id = 'w'`
  await changeStore(directory, { sqlite: same, postgres: same })
  const [value] = messages(await verifySheet(path, { ...GIVEN, source }))
  assert.equal(value, 'w a the log ends with "new", and the record has "forged"')

  const log = `UPDATE "$provenance" SET line = replace(line, '"a":"new"', '"a":"forged"')`
  await changeStore(directory, { sqlite: log, postgres: log })
  if (perEngine({ sqlite: true, postgres: false })) {
    const file = join(directory, 'provenance.jsonl')
    await writeFile(file, (await readFile(file, 'utf8')).replace('"a":"new"', '"a":"forged"'))
  }
  // The sheet's own checkpoint is in the way of that, too.
  const own = messages(await verifySheet(path, { ...GIVEN, source }))
  assert.match(own[0] ?? '', /^the sheet's checkpoint of size \d+: the root hash is another/)
  const none = 'DELETE FROM "$checkpoint"'
  await changeStore(directory, { sqlite: none, postgres: none })
  if (perEngine({ sqlite: true, postgres: false })) await rm(join(directory, 'checkpoints.txt'))
  assert.deepEqual(messages(await verifySheet(path, { ...GIVEN, source })), [])
  const found = messages(await verifySheet(path, { ...GIVEN, source, checkpoint: checkpoint.path }))
  assert.deepEqual(found, [
    `the given checkpoint of size ${kept.size}: the root hash is another, so that a line from number 1 to ${kept.size} was changed`,
  ])
})

test('files of a directory that are not those of its store are named', async (t) => {
  if (skipOnPostgres(t)) return
  const { directory, sheet } = await openBusy(t)
  await sheet.close()
  const changes: [string, (text: string) => string, string][] = [
    ['provenance.jsonl', (text) => text.replace('"x"', '"y"'), 'line 2 is not the one that the store has'],
    ['provenance.jsonl', (text) => text.slice(0, -1), 'has no line break'],
    ['provenance.jsonl', (text) => `${text}x\n`, 'goes on after the'],
    ['provenance.jsonl', () => '', 'ends before line 1 of the store'],
    ['checkpoints.txt', () => '', 'has not the checkpoints that the store has'],
  ]
  for (const [file, change, message] of changes) {
    const path = join(directory, file)
    const text = await readFile(path, 'utf8')
    await writeFile(path, change(text))
    const [found, ...others] = messages(await verifySheet(directory, GIVEN))
    assert.ok(found?.startsWith(file) && found.includes(message), `${message}: ${found}`)
    assert.deepEqual(others, [])
    await writeFile(path, text)
  }
  await rm(join(directory, 'provenance.jsonl'))
  assert.deepEqual(messages(await verifySheet(directory, GIVEN)), ['provenance.jsonl: is missing'])
})

test('a log that was imported explains nothing, and continues', async (t) => {
  if (skipOnPostgres(t)) return
  const { directory, sheet } = await openBusy(t)
  await sheet.close()
  const again = await mkdtemp(join(tmpdir(), 'colophon-verify-'))
  onEnd(t, () => rm(again, { recursive: true, force: true }))
  for (const name of ['contract.yaml', 'records.jsonl', 'provenance.jsonl', 'checkpoints.txt'])
    await copyFile(join(directory, name), join(again, name))
  await assert.rejects(
    verifySheet(again, GIVEN),
    (error) => error instanceof SheetError && /no sheet\.db/.test(error.message),
  )
  const copy = await openSheet(again)
  onEnd(t, () => copy.close())
  const verified = await verifySheet(again, GIVEN)
  assert.deepEqual(messages(verified), [])
  assert.equal(verified.earlierLines, verified.lines - 1)
})

test('files that are no checkpoints, keys or sheets are refused', async (t) => {
  if (skipOnPostgres(t)) return
  const { path } = await openBusy(t)
  const empty = (await temporaryFile(t, 'empty.txt', '')).path
  const key = (await temporaryFile(t, 'key.pub', formatKey(NoteSigner.create('example.org').signer.key))).path
  const refused: [Partial<VerifyOptions>, string][] = [
    [{ checkpoint: empty }, 'empty.txt has no checkpoint'],
    [{ checkpoint: `${empty}x` }, 'cannot be read (ENOENT)'],
    [{ key: empty }, 'is not a public key'],
    [{ source: `${empty}x` }, 'there is no such file'],
  ]
  for (const [options, message] of refused) {
    await assert.rejects(
      verifySheet(path, { ...GIVEN, ...options }),
      (error) =>
        (error instanceof ValidationError || error instanceof SheetError) && error.message.includes(message),
      message,
    )
  }
  const { checkpoints } = await verifySheet(path, { ...GIVEN, key })
  assert.deepEqual([checkpoints.covered.signed, checkpoints.unsigned.length], [0, checkpoints.own])
  await assert.rejects(verifySheet(empty, GIVEN), ValidationError)
  await assert.rejects(verifySheet(`${empty}x`, GIVEN), SheetError)
})

test('lines that a store which was not closed does not have are found', async (t) => {
  if (skipOnPostgres(t)) return
  const { sheet, directory } = await openBusy(t)
  const copy = await mkdtemp(join(tmpdir(), 'colophon-verify-'))
  onEnd(t, () => rm(copy, { recursive: true, force: true }))
  // The checkpoint at the end of the run is made in the background, and a copy meanwhile is not one of a moment.
  await makeCheckpoint(sheet)
  // With -wal and -shm, as a crash leaves them.
  await cp(directory, copy, { recursive: true })
  assert.deepEqual(messages(await verifySheet(copy, GIVEN)), [])
  await sheet.close()
  await appendFile(join(copy, 'provenance.jsonl'), 'garbage\n')
  await writeFile(join(copy, 'checkpoints.txt'), '')
  const found = messages(await verifySheet(copy, GIVEN))
  assert.match(found[0] ?? '', /^provenance.jsonl: goes on after the line \d+, the last one of the store$/)
  assert.deepEqual(found.slice(1), ['checkpoints.txt: has not the checkpoints that the store has'])
})

test('a sheet with derivations of every kind holds', async (t) => {
  const sheet = await openLineageSheet(t)
  await liveThrough(t, sheet)
  const archive = await temporaryFile(t, 'sheet.zip', await allBytes(exportArchive(sheet)))
  assert.deepEqual(messages(await verifySheet(archive.path, GIVEN)), [])
})
