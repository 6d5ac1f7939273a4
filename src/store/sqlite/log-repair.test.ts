import assert from 'node:assert/strict'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { contractText } from '../../../test/support/contract-with.ts'
import { RecordsError } from '../../errors/service-error.ts'
import { setAsideFiles } from '../../provenance/set-aside.ts'
import { checkSchema } from './database/check-schema.ts'
import { storePaths, type StorePaths } from './definition/create-store.ts'
import { logOf } from './read-log.ts'
import { Writer } from './write/writer.ts'

const CONTRACT = contractText(['{name: a, logicalType: string, unique: true}'])

/** A sheet's directory, opened and closed by a writer in this thread. */
class Sheet {
  readonly directory: string
  readonly paths: StorePaths
  #writer: Writer | null = null

  /** A new one, or a copy of another directory as it is. */
  constructor(t: TestContext, copied: string | null = null) {
    this.directory = mkdtempSync(join(tmpdir(), 'colophon-repair-'))
    // Otherwise the copied files have the times, and an order, of copying.
    if (copied !== null) cpSync(copied, this.directory, { recursive: true, preserveTimestamps: true })
    this.paths = storePaths(this.directory)
    t.after(async () => {
      await this.close()
      rmSync(this.directory, { recursive: true })
    })
  }

  async open(): Promise<Writer> {
    const writer = new Writer()
    const request = {
      directory: this.directory,
      actor: 'system:import',
      lockTimeoutMs: 1000,
      define: { contractText: CONTRACT, targets: [] },
    }
    await writer.handle('open', request)
    this.#writer = writer
    return writer
  }

  async close(): Promise<void> {
    const writer = this.#writer
    this.#writer = null
    await writer?.handle('close', null)
  }

  async write(...ids: string[]): Promise<void> {
    const writer = this.#writer
    assert.ok(writer)
    for (const id of ids) {
      const argument = { body: { records: [{ id }] }, defaultActor: 'human:ann', ifMatch: null }
      const outcomes = await writer.change([{ id: 1, operation: 'upsert', argument }])
      for (const outcome of outcomes) if ('error' in outcome) throw outcome.error
    }
  }

  /** Opens, writes and closes. */
  async session(...ids: string[]): Promise<void> {
    await this.open()
    await this.write(...ids)
    await this.close()
  }

  /** Leaves the files that SIGKILL leaves of an open store: the write-ahead log beside it, here without a frame. */
  killed(): void {
    writeFileSync(`${this.paths.database}-wal`, '')
    utimesSync(`${this.paths.database}-wal`, 1, 1)
  }

  get log(): Buffer {
    return readFileSync(this.paths.log)
  }

  /** Returns the lines that were set aside, file by file. */
  get setAside(): string[] {
    return setAsideFiles(this.paths.log).map((name) => readFileSync(join(this.directory, name), 'utf8'))
  }

  /** Deletes the verified position of the log file, as if the process had been killed before it was synced. */
  unverify(): void {
    this.sql('UPDATE "$sheet" SET mirror_seq = 0, mirror_offset = 0')
  }

  sql(sql: string): void {
    const db = new DatabaseSync(this.paths.database)
    db.exec(sql)
    db.close()
  }
}

test('D34: a log cut at any byte of its last three lines is complete again after the next open', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1', '2', 'é\u2028😀', '4')
  const whole = sheet.log
  // While another connection is open, closing the store does no checkpoint, which makes the test five times as fast.
  const other = new DatabaseSync(sheet.paths.database)
  t.after(() => other.close())
  other.exec('SELECT * FROM "$sheet"')
  const lineEnds = [...whole.entries()].filter(([, byte]) => byte === 0x0a).map(([index]) => index + 1)
  const from = lineEnds.at(-4) ?? 0
  assert.ok(from > 0)
  for (let cut = from; cut < whole.length; cut += 1) {
    truncateSync(sheet.paths.log, cut)
    await sheet.open()
    assert.ok(sheet.log.equals(whole), `cut at byte ${cut}`)
    await sheet.close()
  }
  await sheet.session('5')
  assert.deepEqual(
    logOf(sheet.directory).map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  )
})

test('D34: lines that were appended but never committed are cut, complete and partial ones', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1', '2')
  const whole = sheet.log
  for (const extra of [
    '{"seq":3,"source":"write"}\n',
    '{"seq":3,"source":"write"}\n{"seq":4',
    '{',
    '\n',
    '\0\0\0\0',
  ]) {
    appendFileSync(sheet.paths.log, extra)
    sheet.killed()
    await sheet.open()
    assert.ok(sheet.log.equals(whole), JSON.stringify(extra))
    await sheet.close()
  }
  assert.deepEqual(sheet.setAside, [])
})

test('D34: lines that a sheet.db lacks since it was replaced by an older copy are set aside', async (t) => {
  for (const later of [['2'], ['2', '3', '4']]) {
    for (const between of [
      () => undefined,
      // `colophon validate` opens it like this.
      (sheet: Sheet) => checkSchema(sheet.paths.database),
    ]) {
      const sheet = new Sheet(t)
      const older = join(sheet.directory, 'older.db')
      await sheet.session('1')
      copyFileSync(sheet.paths.database, older)
      const before = sheet.log
      await sheet.session(...later)
      const lost = sheet.log.subarray(before.length).toString()
      copyFileSync(older, sheet.paths.database)
      between(sheet)
      await sheet.open()
      assert.ok(sheet.log.equals(before))
      assert.deepEqual(sheet.setAside, [lost])
      await sheet.write('5')
      assert.deepEqual(
        logOf(sheet.directory).map(({ seq, record_id: id }) => [seq, id]),
        [
          [1, '1'],
          [2, '5'],
        ],
      )
    }
  }
})

test('D34: lines of several transactions are set aside after a kill, too: only the last can have been interrupted', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1')
  const whole = sheet.log
  const line = (seq: number, second: number): string =>
    `{"seq":${seq},"at":"2026-01-01T00:00:0${second}.000Z","actor":"human:ann","source":"write"}\n`
  const one = line(2, 1) + line(3, 1)
  appendFileSync(sheet.paths.log, one)
  sheet.killed()
  await sheet.open()
  assert.ok(sheet.log.equals(whole))
  assert.deepEqual(sheet.setAside, [])
  await sheet.close()

  const two = one + line(4, 2)
  appendFileSync(sheet.paths.log, `${two}{"seq`)
  sheet.killed()
  await sheet.open()
  assert.ok(sheet.log.equals(whole))
  assert.deepEqual(sheet.setAside, [two])
})

test('D34: lines of the interrupted transaction are cut after others of it that a power failure left unwritten', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1')
  const whole = sheet.log
  const line = (seq: number, second = 1): string =>
    `{"seq":${seq},"at":"2026-01-01T00:00:0${second}.000Z","actor":"human:ann","source":"write"}\n`
  const unwritten = '\0'.repeat(30) + line(2).slice(30)
  appendFileSync(sheet.paths.log, `${unwritten}${line(3)}${line(4)}${line(5).slice(0, 25)}`)
  sheet.killed()
  await sheet.open()
  assert.ok(sheet.log.equals(whole))
  assert.deepEqual(sheet.setAside, [])
  await sheet.close()

  appendFileSync(sheet.paths.log, unwritten + line(3) + line(4, 2))
  sheet.killed()
  await sheet.open()
  assert.ok(sheet.log.equals(whole))
  assert.deepEqual(sheet.setAside, [line(3) + line(4, 2)])
})

test('D34: lines of the interrupted transaction are cut after committed ones that a power failure left unwritten', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1', '2', '3')
  const whole = sheet.log
  const damaged = Buffer.from(whole)
  damaged.fill(0, whole.indexOf(0x0a) + 5, whole.indexOf(0x0a) + 25)
  const one = [4, 5]
    .map((seq) => `{"seq":${seq},"at":"2026-01-01T00:00:01.000Z","source":"write"}\n`)
    .join('')
  writeFileSync(sheet.paths.log, Buffer.concat([damaged, Buffer.from(one)]))
  sheet.unverify()
  sheet.killed()
  await sheet.open()
  assert.ok(sheet.log.equals(whole))
  assert.deepEqual(sheet.setAside, [])
  await sheet.close()

  // Those of another store are not: they continue lines that this one does not have.
  const other = whole.toString().replaceAll('human:ann', 'human:bob') + one
  writeFileSync(sheet.paths.log, other)
  sheet.unverify()
  sheet.killed()
  await sheet.open()
  assert.ok(sheet.log.equals(whole))
  assert.deepEqual(sheet.setAside, [other])
})

test('D34: lines of a file that replaced the log are taken over by the next write and the next open, killed or not', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1', '2')
  const put = (...ids: string[]): void => {
    const last = logOf(sheet.directory).length
    const lines = ids.map(
      (id, index) =>
        `{"seq":${last + index + 1},"at":"2999-01-01T00:00:00.000Z","actor":"human:bob","source":"write","record_id":"${id}","values":{"id":"${id}"},"previous":{"id":null}}\n`,
    )
    writeFileSync(`${sheet.paths.log}-other`, `${sheet.log.toString()}${lines.join('')}`)
    renameSync(`${sheet.paths.log}-other`, sheet.paths.log)
  }
  const idsOf = (): unknown[] => {
    const db = new DatabaseSync(sheet.paths.database)
    const rows = db.prepare('SELECT id FROM "$data" ORDER BY "$seq"').all()
    db.close()
    return rows.map(({ id }) => id)
  }
  await sheet.open()
  put('3')
  await sheet.write('4')
  assert.deepEqual(idsOf(), ['1', '2', '3', '4'])
  put('5', '6')
  await sheet.close()
  assert.deepEqual(idsOf(), ['1', '2', '3', '4'])
  put('7')
  sheet.killed()
  await sheet.open()
  await sheet.close()
  assert.deepEqual(idsOf(), ['1', '2', '3', '4', '5', '6', '7'])
  // A record that exists cannot be created: none of the lines is taken over.
  put('8', '7')
  await sheet.open()
  await sheet.close()
  assert.deepEqual(idsOf(), ['1', '2', '3', '4', '5', '6', '7'])
  assert.equal(sheet.setAside.length, 1)
  assert.deepEqual(
    logOf(sheet.directory).map(({ seq, record_id: id }) => [seq, id]),
    idsOf().map((id, index) => [index + 1, id]),
  )
})

test('D34: lines that do not fit the records are set aside, all of them', async (t) => {
  const line = (seq: number, id: string, more: object): string =>
    `${JSON.stringify({ seq, at: '2999-01-01T00:00:00.000Z', actor: 'human:bob', source: 'write', record_id: id, ...more })}\n`
  const create = (seq: number, id: string): string =>
    line(seq, id, { values: { id, a: 'one' }, previous: { id: null, a: null } })
  for (const [what, lines] of [
    // The record has no value of the field.
    ['another value before', line(3, '1', { values: { a: 'new' }, previous: { a: 'old' } })],
    ['a value twice', create(3, '3') + create(4, '4')],
    ['an unknown record', line(3, '9', { values: { a: 'new' }, previous: { a: null } })],
    ['a value of another type', line(3, '1', { values: { a: 7 }, previous: { a: null } })],
    ['an unknown field', line(3, '1', { values: { b: 'new' }, previous: { b: null } })],
  ] as const) {
    const sheet = new Sheet(t)
    await sheet.session('1', '2')
    const whole = sheet.log
    writeFileSync(`${sheet.paths.log}-other`, `${whole.toString()}${lines}`)
    renameSync(`${sheet.paths.log}-other`, sheet.paths.log)
    await sheet.open()
    assert.deepEqual(sheet.setAside, [lines], what)
    assert.ok(sheet.log.equals(whole), what)
  }
})

test('D34: lines of an interrupted transaction are cut in a copy of the directory, too, and not taken over', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1')
  const whole = sheet.log
  const line = (id: string, seq: number): string =>
    `{"seq":${seq},"at":"2999-01-01T00:00:00.000Z","actor":"human:ann","source":"write","record_id":"${id}","values":{"id":"${id}"},"previous":{"id":null}}\n`
  // The first of the lines of a write of two records.
  appendFileSync(sheet.paths.log, line('2', 2))
  sheet.killed()
  const copy = new Sheet(t, sheet.directory)
  await copy.open()
  assert.ok(copy.log.equals(whole), copy.log.toString())
  assert.deepEqual(copy.setAside, [])
})

test('D34: lines that another process did not commit are cut by the next write, in an empty sheet too', async (t) => {
  const sheet = new Sheet(t)
  await sheet.open()
  for (const id of ['1', '2', '3']) {
    appendFileSync(
      sheet.paths.log,
      `{"seq":${id},"at":"2026-01-01T00:00:00.000Z","actor":"killed","source":"write"}\n{"seq"`,
    )
    await sheet.write(id)
    assert.deepEqual(
      logOf(sheet.directory).map(({ seq, actor }) => [seq, actor]),
      ['1', '2', '3'].slice(0, Number(id)).map((seq) => [Number(seq), 'human:ann']),
    )
  }
})

test('D34: lines that a power failure damaged before they were synced are written again', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1', '2', '3')
  const whole = sheet.log
  for (const position of [0, 5, whole.indexOf(0x0a), whole.indexOf(0x0a) + 1, whole.length - 2]) {
    const damaged = Buffer.from(whole)
    damaged.fill(0, position, Math.min(position + 20, damaged.length))
    writeFileSync(sheet.paths.log, damaged)
    sheet.unverify()
    await sheet.open()
    assert.ok(sheet.log.equals(whole), `zeros at byte ${position}`)
    assert.deepEqual(sheet.setAside, [], `zeros at byte ${position}`)
    await sheet.close()
  }
})

test('D34: damage in the verified part is refused with its line, and the file is unchanged', async (t) => {
  const sheet = new Sheet(t)
  await sheet.session('1', '2', '3', '4')
  const lines = sheet.log.toString().split('\n')
  const cases: [number, string[]][] = [
    [2, lines.toSpliced(1, 1)],
    [3, lines.toSpliced(2, 1, 'damaged')],
    [1, ['', ...lines]],
    [2, lines.toSpliced(1, 0, lines[0] ?? '')],
    [2, lines.toSpliced(1, 1, (lines[1] ?? '').slice(0, 9))],
  ]
  for (const [number, damaged] of cases) {
    writeFileSync(sheet.paths.log, damaged.join('\n'))
    const before = sheet.log
    await assert.rejects(sheet.open(), (error) => {
      assert.ok(error instanceof RecordsError, String(error))
      assert.match(error.message, new RegExp(`^provenance\\.jsonl:${number}: `))
      return true
    })
    assert.ok(sheet.log.equals(before))
  }
  writeFileSync(sheet.paths.log, lines.join('\n'))
  await sheet.session('5')
  assert.equal(logOf(sheet.directory).length, 5)
})

test('D34: a log that was deleted or emptied is written again from the store', async (t) => {
  const sheet = new Sheet(t)
  writeFileSync(sheet.paths.source, '{"id":"0"}\n')
  await sheet.session('1', '2')
  const whole = sheet.log
  rmSync(sheet.paths.log)
  await sheet.open()
  assert.ok(sheet.log.equals(whole))
  truncateSync(sheet.paths.log, 0)
  await sheet.write('3')
  assert.deepEqual(
    logOf(sheet.directory).map(({ seq }) => seq),
    [1, 2, 3, 4],
  )
})

test('D34: lines longer than any buffer are repaired too', async (t) => {
  const sheet = new Sheet(t)
  const writer = await sheet.open()
  const records = [{ id: 'huge', a: 'é\u2028'.repeat(400_000) }]
  const body = { records: [...records, { id: 'small' }] }
  const argument = { body, defaultActor: 'human:ann', ifMatch: null }
  await writer.change([{ id: 1, operation: 'upsert', argument }])
  await sheet.close()
  const whole = sheet.log
  for (const cut of [whole.length - 1, whole.length - 200, 1 << 18, 1 << 16, 1]) {
    truncateSync(sheet.paths.log, cut)
    await sheet.open()
    assert.ok(sheet.log.equals(whole))
    await sheet.close()
  }
})

test('D2: after sheet.db is deleted following a kill, the new store has nothing of the old one', async (t) => {
  const sheet = new Sheet(t)
  writeFileSync(sheet.paths.source, '{"id":"a","a":"imported"}\n')
  await sheet.open()
  await sheet.write('old', 'older')
  // The state after SIGKILL: the write-ahead log exists, and the user deletes sheet.db alone.
  const [wal, shm] = ['-wal', '-shm'].map((suffix) => readFileSync(sheet.paths.database + suffix))
  await sheet.close()
  rmSync(sheet.paths.database)
  assert.ok(!existsSync(`${sheet.paths.database}-wal`))
  writeFileSync(`${sheet.paths.database}-wal`, wal ?? '')
  writeFileSync(`${sheet.paths.database}-shm`, shm ?? '')
  writeFileSync(sheet.paths.source, '{"id":"b","a":"imported"}\n')
  await sheet.session('new')
  const db = new DatabaseSync(sheet.paths.database, { readOnly: true })
  const ids = db
    .prepare('SELECT id FROM "$data"')
    .all()
    .map(({ id }) => id)
  const [check] = db.prepare('PRAGMA integrity_check').all()
  db.close()
  assert.deepEqual(ids, ['b', 'new'])
  assert.deepEqual({ ...check }, { integrity_check: 'ok' })
})

test('a sheet.db that is not a store is a RecordsError', async (t) => {
  const sheet = new Sheet(t)
  writeFileSync(sheet.paths.database, '')
  await assert.rejects(sheet.open(), RecordsError)
  rmSync(sheet.paths.database)
  sheet.sql('CREATE TABLE other (a)')
  await assert.rejects(sheet.open(), RecordsError)
  rmSync(sheet.paths.database)
  await sheet.session('1')
  sheet.sql('UPDATE "$sheet" SET schema_version = 99')
  await assert.rejects(sheet.open(), /later version/)
})
