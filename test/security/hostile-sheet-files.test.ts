import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { takeRunLock } from '../../src/store/sqlite/database/run-lock.ts'
import { contractText } from '../support/contract-with.ts'
import { CSRF } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { ALL_BUT_CSRF, DERIVING, ServedDirectory, type Route } from '../support/served-directory.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

/** Stands for what a sheet has no business with, such as a password file. */
const SECRET = 'root:$6$salt$hash:19000:0:99999:7:::\n'

/** The operations that each file of a sheet stops if it is not a regular file (D3); those of the store stop reading records, too. */
const DEFINITIONS: readonly (readonly [name: string, broken: readonly Route[]])[] = [
  ['contract.yaml', ALL_BUT_CSRF],
  ['derivations/rate.yaml', DERIVING],
  ['transport.yaml', ['plan']],
]
const STORE_FILES = [
  'records.jsonl',
  'provenance.jsonl',
  'sheet.db',
  'sheet.db-wal',
  'sheet.db-shm',
  'sheet.db-lock',
  'sheet.db-lock-journal',
]

async function outside(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-outside-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'secret'), SECRET)
  return directory
}

/** A file or folder out of the way, and back. */
class Aside {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  static async take(path: string): Promise<Aside> {
    if (existsSync(path)) await rename(path, `${path}.aside`)
    return new Aside(path)
  }

  async putBack(): Promise<void> {
    await rm(this.#path, { force: true, recursive: true })
    if (existsSync(`${this.#path}.aside`)) await rename(`${this.#path}.aside`, this.#path)
  }
}

/** Everything that a file of a sheet can be but a file of the sheet. */
type Plant = (path: string, elsewhere: string) => Promise<void>
const PLANTS: Readonly<Record<string, readonly [plant: Plant, message: RegExp]>> = {
  'a link out of the sheet': [
    (path, elsewhere) => symlink(join(elsewhere, 'secret'), path),
    /is a symbolic link out of the sheet/,
  ],
  'a link to a device': [(path) => symlink('/dev/zero', path), /is a symbolic link out of the sheet/],
  'a link to nothing': [
    (path, elsewhere) => symlink(join(elsewhere, 'nothing'), path),
    /is a symbolic link that leads nowhere/,
  ],
  'a link to itself': [(path) => symlink(path, path), /cannot be read \(ELOOP\)/],
  'a pipe': [(path) => Promise.resolve(void execFileSync('mkfifo', [path])), /is a pipe/],
  'a directory': [(path) => mkdir(path).then(() => undefined), /is a directory/],
}

test('D3: a definition file that is a link out of the sheet, or not a regular file, is never read', async (t) => {
  const directory = await writeSheet(t)
  const elsewhere = await outside(t)
  const served = await ServedDirectory.open(t, directory)
  await served.assertSound()
  for (const [nth, [name, broken]] of DEFINITIONS.entries()) {
    for (const [index, [what, [plant, message]]] of Object.entries(PLANTS).entries()) {
      const aside = await Aside.take(join(directory, name))
      await plant(join(directory, name), elsewhere)
      await served.assertBroken(broken, new RegExp(`"ContractError","message":"${name} ${message.source}`))
      const logged = [served.logged]
      // A server that starts with such a file: once for each file and each plant.
      if (index % DEFINITIONS.length === nth) {
        const anew = await ServedDirectory.open(t, directory)
        await anew.assertBroken(broken, message)
        logged.push(anew.logged)
      }
      await aside.putBack()
      await served.assertSound()
      assert.ok(!logged.flat().join().includes('salt'), what)
    }
  }
  assert.deepEqual(readdirSync(elsewhere), ['secret'])
})

test('D3: a socket is not a definition file', async (t) => {
  const directory = await writeSheet(t)
  const server = createServer().listen(join(directory, 'transport.yaml'))
  onEnd(t, () => void server.close())
  const served = await ServedDirectory.open(t, directory)
  await served.assertBroken(['plan'], /transport\.yaml is a socket/)
})

test('D3: the folder of derivations may not be a link out of the sheet, nor a file', async (t) => {
  const directory = await writeSheet(t)
  const elsewhere = await outside(t)
  await writeFile(join(elsewhere, 'rate.yaml'), await readFile(join(directory, 'derivations', 'rate.yaml')))
  const served = await ServedDirectory.open(t, directory)
  const folder = join(directory, 'derivations')
  const plants: [plant: () => Promise<void>, message: RegExp][] = [
    [() => symlink(elsewhere, folder), /derivations is a symbolic link out of the sheet/],
    [() => symlink('..', folder), /derivations is a symbolic link out of the sheet/],
    [() => symlink('nowhere', folder), /derivations is a symbolic link that leads nowhere/],
    [() => symlink('derivations', folder), /derivations cannot be read \(ELOOP\)/],
    [() => writeFile(folder, ''), /derivations is not a folder/],
    [() => Promise.resolve(void execFileSync('mkfifo', [folder])), /derivations is not a folder/],
  ]
  for (const [plant, message] of plants) {
    const aside = await Aside.take(folder)
    await plant()
    await served.assertBroken(DERIVING, message)
    const anew = await ServedDirectory.open(t, directory)
    await anew.assertBroken(DERIVING, message)
    await aside.putBack()
    await served.assertSound()
  }
})

test('a link within the sheet is allowed, and so is one that leads to the sheet', async (t) => {
  const directory = await writeSheet(t)
  await mkdir(join(directory, 'parts'))
  for (const name of ['contract.yaml', 'derivations', 'records.jsonl']) {
    await rename(join(directory, name), join(directory, 'parts', name))
    await symlink(join('parts', name), join(directory, name))
  }
  await writeFile(join(directory, 'parts', 'log'), '')
  await symlink('parts/log', join(directory, 'provenance.jsonl'))
  const link = join(await outside(t), 'link')
  await symlink(directory, link)
  const served = await ServedDirectory.open(t, link)
  await served.assertSound()
  await writeOne(served)
  assert.match(readFileSync(join(directory, 'parts', 'log'), 'utf8'), /"title":"Avocado"/)
})

async function writeOne(served: ServedDirectory): Promise<void> {
  const { statusCode, body } = await served.app.inject({
    method: 'POST',
    url: '/api/records',
    headers: CSRF,
    payload: { records: [{ id: 'a', title: 'Avocado' }], actor: 'human:ann' },
  })
  assert.equal(statusCode, 200, body)
}

test('a store file that is a link out of the sheet, or not a regular file, is never opened; nothing is written elsewhere', async (t) => {
  // check-store-files.test.ts has each of them for each file.
  const plants = Object.values(PLANTS)
  for (const [index, name] of STORE_FILES.entries()) {
    const [plant, message] = plants[index % plants.length] ?? assert.fail()
    const directory = await writeSheet(t)
    const elsewhere = await outside(t)
    await rm(join(directory, name), { force: true })
    await plant(join(directory, name), elsewhere)
    const served = await ServedDirectory.open(t, directory)
    await assertRefused(served, new RegExp(`"ContractError","message":"${name} ${message.source}`))
    assert.equal(await readFile(join(elsewhere, 'secret'), 'utf8'), SECRET)
    assert.deepEqual(readdirSync(elsewhere), ['secret'])
    await rm(join(directory, name), { recursive: true })
    assert.equal((await served.app.inject('/api/records')).statusCode, 200)
  }
})

test('a lock that was planted after the start is not opened', async (t) => {
  const directory = await writeSheet(t)
  const elsewhere = await outside(t)
  const served = await ServedDirectory.open(t, directory)
  await served.assertSound()
  const lock = join(directory, 'sheet.db-lock')
  const run = { method: 'POST', url: '/api/materialize', headers: CSRF, payload: { actor: 'a:b' } } as const
  for (const target of ['secret', 'nothing']) {
    await rm(lock)
    await symlink(join(elsewhere, target), lock)
    const { statusCode, body } = await served.app.inject(run)
    assert.equal(statusCode, 500)
    assert.match(body, /"RecordsError","message":"sheet\.db-lock is not an empty file/)
  }
  assert.deepEqual(readdirSync(elsewhere), ['secret'])
  await rm(lock)
  assert.equal((await served.app.inject(run)).statusCode, 200)
})

/** A rollback journal that takes all pages but the first from its database. */
function cuttingJournal(): Buffer {
  const header = Buffer.alloc(512)
  Buffer.from('d9d505f920a163d7', 'hex').copy(header)
  header.writeUInt32BE(1, 16)
  header.writeUInt32BE(512, 20)
  header.writeUInt32BE(4096, 24)
  return header
}

test('a planted journal is not replayed', async (t) => {
  // That SQLite would is what the test rests on.
  const other = join(await outside(t), 'other.db')
  const db = new DatabaseSync(other)
  db.exec('CREATE TABLE a (b)')
  db.close()
  await writeFile(`${other}-journal`, cuttingJournal())
  const cut = new DatabaseSync(other)
  assert.throws(() => cut.prepare('SELECT * FROM a').all(), /malformed/)
  cut.close()

  const directory = await writeSheet(t)
  await (await openSheet(directory)).close()
  await writeFile(join(directory, 'sheet.db-journal'), cuttingJournal())
  const before = await readFile(join(directory, 'sheet.db'))
  const served = await ServedDirectory.open(t, directory)
  await assertRefused(served, /"ContractError","message":"sheet\.db-journal does not belong in a sheet/)
  assert.ok(before.equals(await readFile(join(directory, 'sheet.db'))))
  await rm(join(directory, 'sheet.db-journal'))
  await served.assertSound()
})

test('D31: a sheet is opened while its run lock is held, and with the journal of a killed run or a planted one', async (t) => {
  const directory = await writeSheet(t)
  await (await openSheet(directory)).close()
  const lock = join(directory, 'sheet.db-lock')
  const held = await takeRunLock(lock, 1000)
  assert.ok(existsSync(`${lock}-journal`))
  await (await ServedDirectory.open(t, directory)).assertSound()
  held.release()
  await writeFile(`${lock}-journal`, cuttingJournal())
  await (await ServedDirectory.open(t, directory)).assertSound()
  const again = await takeRunLock(lock, 1000)
  again.release()
  assert.equal((await stat(lock)).size, 0)
})

test('a lock file with contents is not a lock', async (t) => {
  const directory = await writeSheet(t)
  const lock = join(directory, 'sheet.db-lock')
  await writeFile(lock, 'x')
  const served = await ServedDirectory.open(t, directory)
  await assertRefused(served, /"ContractError","message":"sheet\.db-lock is not empty/)
  await rm(lock)
  await served.assertSound()
})

test('names in the folder of derivations that do not match a file, or that contain line breaks, are refused', async (t) => {
  const directory = await writeSheet(t)
  const folder = join(directory, 'derivations')
  const served = await ServedDirectory.open(t, directory)
  const names = [Buffer.from('a\nb.yaml'), Buffer.from([0x61, 0xff, ...Buffer.from('.yaml')])]
  for (const name of names) {
    const path = Buffer.concat([Buffer.from(`${folder}/`), name])
    await writeFile(path, '')
    await served.assertBroken(DERIVING, /derivations: the file name .*rename the file/)
    await rm(path)
  }
  // Hidden, of another ending, or long: not read, or read like any other.
  for (const name of ['..yaml', '.yaml', 'A.YAML', 'a.yml', `${'x'.repeat(250)}.yml`, 'yaml']) {
    await writeFile(join(folder, name), '[')
  }
  await served.assertSound()
  await writeFile(join(folder, `${'x'.repeat(250)}.yaml`), '[')
  await served.assertBroken(DERIVING, /derivations\/x{250}\.yaml:1: /)
})

/** Asserts that reading records is answered with this error, and that the server is there. */
async function assertRefused(served: ServedDirectory, fault: RegExp): Promise<void> {
  const { statusCode, body } = await served.app.inject('/api/records')
  assert.equal(statusCode, 500, body.slice(0, 300))
  assert.match(body, fault)
  assert.equal((await served.app.inject('/api/csrf')).statusCode, 200)
}

const FULL = contractText(['{name: title, logicalType: string}', '{name: rate, logicalType: string}'])

async function importing(t: TestContext, files: Record<string, string | Buffer>): Promise<ServedDirectory> {
  const directory = await writeSheet(t, { contract: FULL, derivations: {}, records: [] })
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content)
  return ServedDirectory.open(t, directory)
}

test('D2: an endless line is refused before it fills the memory', async (t) => {
  for (const name of ['records.jsonl', 'provenance.jsonl']) {
    const directory = await writeSheet(t)
    await writeFile(join(directory, name), '')
    await truncate(join(directory, name), 1024 * 1024 * 1024)
    const served = await ServedDirectory.open(t, directory)
    await assertRefused(
      served,
      new RegExp(`"RecordsError","message":"${name}:1: the line is longer than 128 MiB`),
    )
    await rm(join(directory, name))
    await writeFile(join(directory, 'records.jsonl'), '{"id": "a", "title": "Apple"}\n')
    await served.assertSound()
  }
})

test('D2: an invalid line of records is refused with its line number', async (t) => {
  const cases: [line: string | Buffer, message: RegExp][] = [
    ['['.repeat(100_000), /records\.jsonl:1: not JSON/],
    [
      `{"id": "a", "title": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      /records\.jsonl:1: nested more than 512 levels/,
    ],
    [`{"id": "a", "title": ${'['.repeat(200)}${']'.repeat(200)}}`, /field \\"title\\": an array of 1 item/],
    ['{"id": "a", "__proto__": {"title": "x"}}', /field \\"__proto__\\": the contract has no such field/],
    ['{"id": "a", "constructor": 1}', /field \\"constructor\\": the contract has no such field/],
    ['{"id": "a"}\n{"id": "a"}', /records\.jsonl:2: field \\"id\\": must be unique/],
    [`{"id": ${'9'.repeat(33)}}`, /records\.jsonl:1: field \\"id\\": 9{33} is not a string/],
    ['{"id": "a", "title": "\\u0000"}', /U\+0000/],
    [Buffer.from([0x7b, 0xff, 0x7d, 0x0a]), /records\.jsonl:1: not valid UTF-8/],
    ['\0'.repeat(1000), /records\.jsonl:1: not JSON/],
    [`{"id": "${'x'.repeat(1_000_000)}"}`, /longer than the 512 characters/],
  ]
  for (const [line, message] of cases) {
    const served = await importing(t, { 'records.jsonl': line })
    await assertRefused(served, new RegExp(`"RecordsError".*${message.source}`))
  }
})

test('D2: a log that no store wrote is kept unchanged, or refused with its line', async (t) => {
  const record = '{"id": "a", "title": "Apple"}\n'
  const refused: (string | Buffer)[] = [
    '{"seq": 0}\n',
    '{"seq": -1}\n',
    '{"seq": 1e300}\n',
    `{"seq": ${2 ** 53 - 1}}\n`,
    '{"seq": "1"}\n',
    '{"seq": 1.5}\n',
    '{"seq": 2}\n{"seq": 1}\n',
    '[]\n',
    `{"seq": 1, "value": ${'['.repeat(100_000)}\n`,
    `{"seq": 1, "value": ${'['.repeat(600)}${']'.repeat(600)}}\n`,
    Buffer.from([0x7b, 0xff, 0x0a]),
    '\0\n',
  ]
  for (const log of refused) {
    const served = await importing(t, { 'records.jsonl': record, 'provenance.jsonl': log })
    await assertRefused(served, /"RecordsError","message":"provenance\.jsonl:[12]: not /)
  }
  const kept = [
    '{"seq": 1}',
    '{"seq": 2, "at": 5, "actor": {}, "source": [], "record_id": "a", "field": "title"}',
    '{"seq": 3, "at": "9999", "record_id": "a", "values": {"title": {"__proto__": 1}}, "previous": 7}',
    '{"seq": 4, "at": "\\u0000", "record_id": "a", "values": {"__proto__": 1}, "previous": {"constructor": 1}}',
    `{"seq": 1000000, "record_id": "a", "field": "title", "value": "${'x'.repeat(1_000_000)}", "run_id": "999999999999999"}`,
    `{"seq": ${2 ** 52 - 1}, "record_id": "__proto__", "field": "__proto__"}`,
  ]
  const served = await importing(t, { 'records.jsonl': record, 'provenance.jsonl': `${kept.join('\n')}\n` })
  await served.assertSound()
  for (const url of [
    '/api/provenance?record_id=a&field=title&history=true',
    '/api/provenance?record_id=__proto__&field=title',
    '/api/records?as_of=2030-01-01T00:00:00Z',
    '/api/records/a?as_of=2000-01-01T00:00:00Z',
    '/api/runs',
  ]) {
    const { statusCode, body } = await served.app.inject(url)
    assert.ok(statusCode < 500, `${url}: ${body.slice(0, 200)}`)
  }
  await writeOne(served)
})

test('a log that was planted beside a store is detected by its line', async (t) => {
  const directory = await writeSheet(t)
  const first = await ServedDirectory.open(t, directory)
  await writeOne(first)
  await first.app.close()
  const log = join(directory, 'provenance.jsonl')
  await writeFile(log, '\0'.repeat(1000))
  // Longer than a line may be.
  await truncate(log, 160 * 1024 * 1024)
  const served = await ServedDirectory.open(t, directory)
  const { statusCode } = await served.app.inject('/api/records')
  assert.ok(statusCode === 200 || statusCode === 500)
  assert.equal((await served.app.inject('/api/csrf')).statusCode, 200)
})
