import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import {
  copyBefore,
  crashImage,
  unexplained,
  writeImage,
  type Before,
} from '../../campaign/disk/crash-image.ts'
import { ERRORS, Faults } from '../../campaign/disk/faults.ts'
import { watchedFiles, whyNoLibrary } from '../../campaign/disk/files-library.ts'
import { readTrace, type Call } from '../../campaign/disk/trace.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { seededRandom } from '../../src/store/suite/support/random.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const PROGRAM = join(import.meta.dirname, 'write-process.ts')
const NUMBERS = 12
const IMAGES = 60

const skip = whyNoLibrary()

function newPlace(t: TestContext): string {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'colophon-crash-')))
  t.after(() => rmSync(place, { recursive: true }))
  mkdirSync(join(place, 'files'))
  writeFileSync(join(place, 'files', 'old.txt'), 'old')
  return place
}

/** A process that wrote to a directory, and what it was told at which length of its trace. */
interface Written {
  readonly directory: string
  readonly before: Before
  readonly calls: readonly Call[]
  /** For each number the length of the trace after its commit, and that after the end. */
  readonly told: readonly number[]
}

function write(place: string): Written {
  const directory = join(place, 'files')
  const before = copyBefore(directory, join(place, 'before'))
  const trace = join(place, 'trace')
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [PROGRAM, directory, trace, String(NUMBERS)],
    { encoding: 'utf8', env: { ...process.env, ...watchedFiles(directory, { trace }) } },
  )
  assert.equal(status, 0, stderr)
  return { directory, before, calls: readTrace(trace), told: stdout.trim().split('\n').map(Number) }
}

/** Makes images of random moments; returns what each has lost of what was acknowledged. */
function losses(place: string, { calls, before, told }: Written, syncs: boolean): readonly string[] {
  const random = seededRandom(7)
  return Array.from({ length: IMAGES }, (_, number): readonly string[] => {
    const at = random.pick(calls).end
    const image = join(place, `image-${number}`)
    const names = random.pick(['journal', 'subset'] as const)
    writeImage(crashImage(before, calls, { at, names, syncs, random }), before.copy, image)
    const known = told.filter((length) => length <= at).length
    const found = numbersIn(join(image, 'numbers.db'))
    const missing = Array.from({ length: Math.min(known, NUMBERS) }, (_unused, index) => index + 1)
      .filter((wanted) => !found.includes(wanted))
      .map((wanted) => `the number ${wanted}`)
    const text = readFileSync(join(image, 'old.txt'), 'utf8')
    return known > NUMBERS && text !== 'new' ? [...missing, 'the new file'] : missing
  }).flat()
}

/** Reads the numbers of a database, which may not be there, empty or damaged. */
function numbersIn(path: string): readonly number[] {
  const db = new DatabaseSync(path)
  try {
    return db
      .prepare('SELECT number FROM numbers')
      .all()
      .map(({ number }) => Number(number))
  } catch {
    return []
  } finally {
    db.close()
  }
}

test(
  'images of a power loss have everything that was synced, and those of a disk that lies about it do not',
  { skip },
  (t) => {
    const place = newPlace(t)
    const written = write(place)
    assert.equal(written.told.length, NUMBERS + 1)
    assert.equal(unexplained(written, written.calls), null)
    assert.deepEqual(losses(place, written, true), [])
    rmSync(place, { recursive: true })
    mkdirSync(place)
    const lying = newPlace(t)
    const lost = losses(lying, write(lying), false)
    assert.ok(
      lost.some((what) => what.startsWith('the number')),
      lost.join(),
    )
    assert.ok(lost.includes('the new file'), lost.join())
  },
)

test(
  'faults are those of the disk, at the calls that were chosen, in a directory that is watched',
  { skip },
  (t) => {
    const place = newPlace(t)
    const directory = join(place, 'files')
    for (const error of ERRORS) {
      const faults = new Faults(join(place, error))
      t.after(() => faults.close())
      const run = (program: string): string => {
        const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
          encoding: 'utf8',
          env: { ...process.env, ...watchedFiles(directory, { faults: faults.file }) },
        })
        return stdout + stderr
      }
      const path = JSON.stringify(join(directory, 'a.txt'))
      const writeAll = `for (const text of ['aa', 'bb', 'cc']) try { fs.appendFileSync(${path}, text) } catch (error) { console.log(-error.errno) }`
      writeFileSync(join(directory, 'a.txt'), '')
      faults.begin({ error, after: 1, once: true, half: false })
      const code = constants.errno[error]
      assert.equal(run(writeAll), `${code}\n`)
      assert.equal(readFileSync(join(directory, 'a.txt'), 'utf8'), 'aacc')
      faults.begin({ error, after: 1, once: false, half: true })
      assert.equal(run(writeAll), `${code}\n${code}\n`)
      assert.deepEqual([faults.calls > 0, faults.failed > 0, faults.syncFailed], [true, true, false])
      faults.end()
      assert.equal(run(writeAll), '')
    }
  },
)

test(
  'D34: the write-ahead log has its name on the disk before a line is added to provenance.jsonl',
  { skip },
  async (t) => {
    const directory = realpathSync(await writeSheet(t))
    await (await openSheet(directory)).close()
    const trace = join(directory, '..', `trace-${process.pid}`)
    t.after(() => rmSync(trace))
    const { status, stderr } = spawnSync(
      process.execPath,
      [
        join(import.meta.dirname, '..', '..', 'bin', 'colophon.js'),
        'upsert',
        directory,
        '--actor',
        'human:ann',
      ],
      {
        encoding: 'utf8',
        input: '{"id": "a", "title": "another"}\n',
        env: { ...process.env, ...watchedFiles(directory, { trace }) },
      },
    )
    assert.equal(status, 0, stderr)
    const calls = readTrace(trace)
    const ahead = calls.findIndex(({ kind, name }) => kind === 'create' && name === 'sheet.db-wal')
    const line = calls.findIndex(
      ({ kind, data }) => kind === 'write' && data.includes('"another"') && data.at(0) === 0x7b,
    )
    const synced = calls.findIndex(
      ({ kind, name }, index) => index > ahead && kind === 'sync' && name === '.',
    )
    assert.ok(ahead >= 0 && ahead < synced && synced < line, `${ahead}, ${synced}, ${line}`)
  },
)
