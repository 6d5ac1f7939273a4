import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { RecordsError, ValidationError } from '../../src/errors/service-error.ts'
import { wholeLine } from '../../src/provenance/log-line.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { Checkpoints } from '../../src/sheet/log/checkpoints.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { exportArchive } from '../../src/sheet/transfer/export-archive.ts'
import { unpackArchive } from '../../src/sheet/transfer/unpack-archive.ts'
import { bytesEntry, zipOf } from '../../src/sheet/transfer/zip-stream.ts'
import { verifySheet } from '../../src/sheet/verify/verify-sheet.ts'
import { lineOf, WHOLE_LINE } from '../../src/store/sqlite/log/stored-line.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { PATIENT_LIMITS } from '../../src/store/suite/support/patient-limits.ts'
import { seededRandom, type Random } from '../../src/store/suite/support/random.ts'
import { TestSheet, type OpenStore } from '../../src/store/suite/support/test-sheet.ts'
import { EVENTFUL, Events } from '../support/eventful-sheet.ts'
import { fuzzRun } from '../support/fuzz.ts'

/*
 * Changes sheets at random, each of which must be found, with a checkpoint that somebody else has kept. A change counts unless it is one that
 * `colophon verify` says not to cover: bytes of an archive that leave all files the same but for their times, lines appended after the
 * last checkpoint, checkpoints of the sheet that are left out, and tables other than those of the records, the lines and the facts
 * about them.
 */

const run = fuzzRun({ test: 120, fuzz: 10_000 })

/** Operations on each sheet, and changes of each. */
const OPERATIONS = 60
const CHANGES = 100

const open: OpenStore = (directory, { contract, targets, ...options }) =>
  SqliteStore.open(directory, {
    ...options,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

interface VerifiedSheet {
  readonly directory: string
  readonly archive: Uint8Array
  /** The file with a checkpoint of the whole log. */
  readonly checkpoint: string
  /** A directory for changed copies. */
  readonly copies: string
}

test(`${run.count} changes of sheets and archives are found`, async (t) => {
  const kinds = Object.keys(CHANGES_BY_KIND)
  let sheet: VerifiedSheet | null = null
  for (let number = 0; number < run.count; number += 1) {
    if (sheet === null || number % CHANGES === 0) sheet = await eventfulSheet(t, run.random)
    const kind = kinds[number % kinds.length] as string
    const found = await (CHANGES_BY_KIND[kind] as Change)(sheet, run.random)
    assert.equal(found, true, `${kind}, number ${number}; again: ${run.again}`)
  }
})

/** Makes a sheet in which everything has happened, and verifies that it holds. */
async function eventfulSheet(t: TestContext, random: Random): Promise<VerifiedSheet> {
  const sheet = await TestSheet.make(t, open, EVENTFUL)
  const { directory } = sheet
  const seed = random.below(2 ** 31)
  const events = new Events(sheet, seededRandom(seed))
  const checkpoints = new Checkpoints({
    signer: null,
    publish: null,
    store: () => sheet.store,
    during: () => undefined,
    warn: assert.fail,
  })
  for (let done = 0; done < OPERATIONS; done += 1) {
    await events.operate()
    if (done % 25 === 0) await checkpoints.make(sheet.store)
  }
  // Records that a change can concern.
  await sheet.write(['s0', 's1', 's2'].map((id) => ({ id })))
  const kept = await checkpoints.make(sheet.store)
  writeFileSync(join(directory, 'contract.yaml'), sheet.contract.text)
  await sheet.close()

  const copies = mkdtempSync(join(tmpdir(), 'colophon-verify-fuzz-'))
  t.after(() => rmSync(copies, { recursive: true }))
  const checkpoint = join(copies, 'kept.txt')
  writeFileSync(checkpoint, kept?.note ?? assert.fail())
  const archive = await archiveOf(directory, copies)
  const verified = { directory, archive, checkpoint, copies }
  const what = `seed ${seed}; again: ${run.again}`
  assert.deepEqual(await differencesOf(directory, verified), [], what)
  const file = join(copies, 'sheet.zip')
  writeFileSync(file, archive)
  assert.deepEqual(await differencesOf(file, verified), [], what)
  return verified
}

async function archiveOf(directory: string, copies: string): Promise<Uint8Array> {
  const copy = join(copies, 'to-archive')
  cpSync(directory, copy, { recursive: true })
  const sheet = await openSheet(copy, { transport: noCalls() })
  try {
    return await bytesOf(exportArchive(sheet))
  } finally {
    await sheet.close()
    rmSync(copy, { recursive: true })
  }
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

async function differencesOf(
  path: string,
  { checkpoint }: Pick<VerifiedSheet, 'checkpoint'>,
): Promise<readonly unknown[]> {
  const options = { checkpoint, key: null, source: null, maxBytes: 1e9 }
  return (await verifySheet(path, options)).differences.listed
}

/** Whether verifying finds a difference, or refuses what is at the path. */
async function isFound(path: string, sheet: VerifiedSheet): Promise<boolean> {
  try {
    return (await differencesOf(path, sheet)).length > 0
  } catch (error) {
    // Not for a lock, which says nothing of the change.
    if (!(error instanceof RecordsError || error instanceof ValidationError)) throw error
    return true
  }
}

/** Changes a copy; returns whether verifying it finds that. */
type Change = (sheet: VerifiedSheet, random: Random) => Promise<boolean>

type ChangeStore = (db: DatabaseSync, random: Random) => void

/** A change of the tables. The files are those of the tables again where both are changed. */
function ofStore(change: ChangeStore, { alsoFiles = false } = {}): Change {
  return (sheet, random) =>
    inCopy(sheet, (directory) => {
      const db = new DatabaseSync(join(directory, 'sheet.db'))
      try {
        db.exec('BEGIN')
        change(db, random)
        db.exec('COMMIT')
        if (!alsoFiles) return
        const lines = db.prepare(`SELECT ${WHOLE_LINE} FROM "$provenance" ORDER BY seq`).all()
        const text = lines.map((row) => `${lineOf(row)}\n`).join('')
        writeFileSync(join(directory, 'provenance.jsonl'), text)
        const notes = db.prepare('SELECT note FROM "$checkpoint" ORDER BY number').all()
        writeFileSync(
          join(directory, 'checkpoints.txt'),
          notes.map(({ note }) => `${String(note)}\n`).join(''),
        )
      } finally {
        db.close()
      }
    })
}

function ofFile(name: string, change: (text: string, random: Random) => string): Change {
  return (sheet, random) =>
    inCopy(sheet, (directory) => {
      const path = join(directory, name)
      writeFileSync(path, change(readFileSync(path, 'utf8'), random))
    })
}

async function inCopy(sheet: VerifiedSheet, change: (directory: string) => void): Promise<boolean> {
  const directory = join(sheet.copies, 'changed')
  cpSync(sheet.directory, directory, { recursive: true })
  try {
    change(directory)
    return await isFound(directory, sheet)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

type Row = Readonly<Record<string, string | number | null>>

function pickRow(db: DatabaseSync, sql: string, random: Random): Row {
  return random.pick(db.prepare(sql).all() as Row[])
}

const FIELDS = `SELECT name, type FROM pragma_table_info('$data') WHERE name NOT LIKE '$%' AND name <> 'id'`

const LINES = 'SELECT seq, line FROM "$provenance"'

/** Returns a text with another character at one place. */
function withOther(text: string, random: Random): string {
  const at = random.below(text.length)
  const other = random.pick(
    Array.from('0123456789abcxyz"{}:, ').filter((character) => character !== text[at]),
  )
  return text.slice(0, at) + other + text.slice(at + 1)
}

function changeValue(db: DatabaseSync, random: Random): void {
  const { seq } = pickRow(db, 'SELECT "$seq" AS seq FROM "$data"', random)
  const columns = db.prepare(FIELDS).all() as Row[]
  const { name, type } = random.pick(columns)
  const now = db.prepare(`SELECT "${name}" AS value FROM "$data" WHERE "$seq" = ?`).get(seq ?? 0)?.['value']
  const others = [null, ...(type === 'TEXT' ? ['7', 'forged', '[]', '{}'] : [0, 1])]
  const value = random.pick(others.filter((other) => other !== now))
  db.prepare(`UPDATE "$data" SET "${name}" = ? WHERE "$seq" = ?`).run(value, seq ?? 0)
}

function swapRecords(db: DatabaseSync, random: Random): void {
  const rows = db.prepare('SELECT "$seq" AS seq FROM "$data" ORDER BY "$seq"').all() as Row[]
  const at = random.below(rows.length - 1)
  const [one, other] = [Number(rows[at]?.['seq']), Number(rows[at + 1]?.['seq'])]
  const move = db.prepare('UPDATE "$data" SET "$seq" = ? WHERE "$seq" = ?')
  move.run(-1, one)
  move.run(one, other)
  move.run(other, -1)
}

function changeLine(db: DatabaseSync, random: Random): void {
  const { seq = 0, line } = pickRow(db, LINES, random)
  db.prepare('UPDATE "$provenance" SET line = ? WHERE seq = ?').run(withOther(String(line), random), seq)
}

function swapLines(db: DatabaseSync, random: Random): void {
  const rows = db.prepare(`${LINES} ORDER BY seq`).all() as Row[]
  const at = random.below(rows.length - 1)
  const update = db.prepare('UPDATE "$provenance" SET line = ? WHERE seq = ?')
  for (const [to, from] of [
    [at, at + 1],
    [at + 1, at],
  ] as const)
    update.run(String(rows[from]?.['line']), Number(rows[to]?.['seq']))
}

function deleteLine(db: DatabaseSync, random: Random): void {
  const { seq = 0 } = pickRow(db, LINES, random)
  db.prepare('DELETE FROM "$provenance" WHERE seq = ?').run(seq)
}

/** Removes a line, and counts the later ones as if it had never been. */
function deleteLineWell(db: DatabaseSync, random: Random): void {
  const { seq = 0 } = pickRow(db, LINES, random)
  db.prepare('DELETE FROM "$provenance" WHERE seq = ?').run(seq)
  const later = db.prepare(`${LINES} WHERE seq > ? ORDER BY seq`).all(seq) as Row[]
  const update = db.prepare('UPDATE "$provenance" SET seq = ?, line = ? WHERE seq = ?')
  for (const row of later) {
    const before = Number(row['seq'])
    const text = String(row['line']).replace(/^\{"seq":\d+/, `{"seq":${before - 1}`)
    update.run(before - 1, text, before)
  }
}

/** Gives a record another value, and its log one that explains it. */
function forgeValue(db: DatabaseSync, random: Random): void {
  const { seq = 0, line = '' } = pickRow(db, `${LINES} WHERE line LIKE '%"record_id":"s_"%'`, random)
  const id = (JSON.parse(wholeLine(String(line))) as JsonObject)['record_id']
  const whole = JSON.parse(wholeLine(String(line))) as Record<string, JsonObject>
  const forged = {
    ...whole,
    values: { ...whole['values'], computed: 'forged' },
    previous: { ...whole['previous'], computed: null },
  }
  db.prepare('UPDATE "$provenance" SET line = ? WHERE seq = ?').run(JSON.stringify(forged), seq)
  db.prepare(`UPDATE "$data" SET computed = 'forged' WHERE id = ?`).run(String(id))
}

/** Removes the last lines and what they did: a record, and its line. */
function cutOff(db: DatabaseSync): void {
  db.exec(
    `DELETE FROM "$data" WHERE id = 's2'; DELETE FROM "$provenance" WHERE line LIKE '%"record_id":"s2"%'`,
  )
}

function changeCheckpoint(db: DatabaseSync, random: Random): void {
  const { number = 0, note } = pickRow(db, 'SELECT number, note FROM "$checkpoint"', random)
  // Without the line break at its end.
  const changed = withOther(String(note).trimEnd(), random)
  db.prepare('UPDATE "$checkpoint" SET note = ? WHERE number = ?').run(`${changed}\n\n`, number)
}

function insertRecord(db: DatabaseSync, random: Random): void {
  db.prepare(`INSERT INTO "$data" ("$seq", "$version", id) VALUES (?, 1, 'forged')`).run(
    random.pick([-5, 9999]),
  )
}

function withoutLine(text: string, random: Random): string {
  const lines = text.split('\n').slice(0, -1)
  lines.splice(random.below(lines.length), 1)
  return lines.map((line) => `${line}\n`).join('')
}

function withLineTwice(text: string, random: Random): string {
  const lines = text.split('\n').slice(0, -1)
  const at = random.below(lines.length)
  return lines
    .toSpliced(at, 0, lines[at] as string)
    .map((line) => `${line}\n`)
    .join('')
}

/** Returns checkpoints with another character: that of an origin, a size, a root or a line break within. */
function withOtherCheckpoint(text: string, random: Random): string {
  return withOther(text.slice(0, -2), random) + text.slice(-2)
}

/** A file of the archive is changed, and the manifest says so. */
const archivedFile: Change = async (sheet, random) => {
  const directory = await unpacked(sheet, sheet.archive)
  const manifest = JSON.parse(readFileSync(join(directory, 'colophon.json'), 'utf8')) as {
    files: { path: string; sha256: string; bytes: number }[]
  }
  const changed = random.pick(['records.jsonl', 'provenance.jsonl', 'contract.yaml'])
  const text = withOther(readFileSync(join(directory, changed), 'utf8'), random)
  writeFileSync(join(directory, changed), text)
  for (const file of manifest.files) {
    if (file.path !== changed) continue
    file.bytes = Buffer.byteLength(text)
    file.sha256 = createHash('sha256').update(text).digest('hex')
  }
  const date = new Date(0)
  const entries = manifest.files.map(({ path }) =>
    bytesEntry(path, readFileSync(join(directory, path)), date),
  )
  const zip = zipOf([bytesEntry('colophon.json', JSON.stringify(manifest), date), ...entries])
  rmSync(directory, { recursive: true })
  return isFoundIn(sheet, await bytesOf(zip))
}

/** One byte of the archive is changed: found unless all of its files are the same but for their times. */
const archivedByte: Change = async (sheet, random) => {
  const bytes = Buffer.from(sheet.archive)
  const at = random.below(bytes.length)
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
  if (await isFoundIn(sheet, bytes)) return true
  const [before, after] = await Promise.all([contents(sheet, sheet.archive), contents(sheet, bytes)])
  return JSON.stringify(before) === JSON.stringify(after)
}

async function isFoundIn(sheet: VerifiedSheet, bytes: Uint8Array): Promise<boolean> {
  const path = join(sheet.copies, 'changed.zip')
  writeFileSync(path, bytes)
  return isFound(path, sheet)
}

async function unpacked(sheet: VerifiedSheet, bytes: Uint8Array): Promise<string> {
  const directory = mkdtempSync(join(sheet.copies, 'unpacked-'))
  const path = join(directory, 'sheet.zip')
  writeFileSync(path, bytes)
  const options = { maxBytes: 1e9, signal: null, withRecording: true }
  const { manifest } = await unpackArchive({ path, name: 'sheet.zip' }, directory, options)
  rmSync(path)
  writeFileSync(join(directory, 'colophon.json'), JSON.stringify(manifest))
  return directory
}

async function contents(sheet: VerifiedSheet, bytes: Uint8Array): Promise<readonly string[]> {
  const directory = await unpacked(sheet, bytes)
  const names = readdirSync(directory).toSorted()
  const texts = names.map((name) => readFileSync(join(directory, name), 'latin1'))
  rmSync(directory, { recursive: true })
  return [...names, ...texts].map((text) => text.replaceAll(/"modified":\d+/g, ''))
}

const CHANGES_BY_KIND: Readonly<Record<string, Change>> = {
  'a value in the store': ofStore(changeValue),
  'a record removed from the store': ofStore((db, random) => {
    const { seq = 0 } = pickRow(db, 'SELECT "$seq" AS seq FROM "$data"', random)
    db.prepare('DELETE FROM "$data" WHERE "$seq" = ?').run(seq)
  }),
  'a record added to the store': ofStore(insertRecord),
  'records in another order': ofStore(swapRecords),
  'a line in the store': ofStore(changeLine),
  'a line in store and file': ofStore(changeLine, { alsoFiles: true }),
  'a line removed from store and file': ofStore(deleteLine, { alsoFiles: true }),
  'a line removed, and later ones renumbered': ofStore(deleteLineWell, { alsoFiles: true }),
  'lines in another order': ofStore(swapLines, { alsoFiles: true }),
  'a value with its line': ofStore(forgeValue, { alsoFiles: true }),
  'a record with its line': ofStore(cutOff, { alsoFiles: true }),
  'a line under another seq': ofStore((db) => {
    db.exec('UPDATE "$provenance" SET seq = seq + 7 WHERE seq = (SELECT max(seq) FROM "$provenance")')
  }),
  'lines declared those of an earlier store': ofStore((db, random) => {
    const { seq = 0 } = pickRow(db, LINES, random)
    db.prepare('UPDATE "$sheet" SET history_after = ?').run(seq)
    db.exec(`DELETE FROM "$data" WHERE id LIKE 's_' AND (SELECT history_after FROM "$sheet") > 2`)
  }),
  'a line under another record': ofStore((db, random) => {
    const ofRecords = `${LINES} WHERE record IS NOT NULL`
    const { seq = 0, line } = pickRow(db, ofRecords, random)
    const { record_id: id } = JSON.parse(wholeLine(String(line))) as JsonObject
    const others = `SELECT "$seq" AS record FROM "$data" WHERE id <> '${String(id)}'`
    const { record: other = 0 } = pickRow(db, others, random)
    db.prepare('UPDATE "$provenance" SET record = ? WHERE seq = ?').run(other, seq)
  }),
  'a line of the file': ofFile('provenance.jsonl', withOther),
  'a line removed from the file': ofFile('provenance.jsonl', withoutLine),
  'a line twice in the file': ofFile('provenance.jsonl', withLineTwice),
  'an incomplete file': ofFile('provenance.jsonl', (text, random) =>
    text.slice(0, random.below(text.length)),
  ),
  'a checkpoint of the sheet': ofFile('checkpoints.txt', withOtherCheckpoint),
  'a checkpoint in store and file': ofStore(changeCheckpoint, { alsoFiles: true }),
  'a file of an archive': archivedFile,
  'a byte of an archive': archivedByte,
}
