import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/run-command.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { temporaryDirectory } from '../support/temporary-file.ts'

const ANN = { env: { COLOPHON_ACTOR: 'human:ann' } }

test('an export can be imported in every format', async (t) => {
  const sheet = await writeSheet(t)
  const directory = await temporaryDirectory(t)
  for (const format of ['csv', 'tsv', 'json', 'ndjson', 'parquet', 'xlsx']) {
    const file = join(directory, `data.${format}`)
    assert.deepEqual(await runCommand(['export', sheet, file]), { code: 0, stdout: '', stderr: '' })
    const { code, stdout, stderr } = await runCommand(['import', sheet, file], ANN)
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(JSON.parse(stdout), {
      records: 3,
      inserted: 0,
      updated: 0,
      unchanged: 3,
      written: true,
      run_id: null,
      faults: [],
      fault_count: 0,
    })
  }
  // Nothing of how they were made is left beside them.
  assert.equal((await readdir(directory)).length, 6)
})

test('export writes some fields of some records to standard output', async (t) => {
  const sheet = await writeSheet(t)
  const args = ['--fields', 'id,price', '--filter', 'price > 1', '--sort', '-price']
  assert.deepEqual(await runCommand(['export', sheet, '-', '--format', 'csv', ...args]), {
    code: 0,
    stdout: 'id,price\r\nb,2\r\na,1.5\r\n',
    stderr: '',
  })
  assert.equal(
    (await runCommand(['export', sheet, ...args])).stdout,
    '{"id":"b","price":2}\n{"id":"a","price":1.5}\n',
  )
})

test('export writes tabs to a file that ends in .tsv, and the delimiter that --delimiter names', async (t) => {
  const sheet = await writeSheet(t)
  const file = join(await temporaryDirectory(t), 'data.tsv')
  const args = ['--fields', 'id,price', '--filter', "id = 'a'"]
  await runCommand(['export', sheet, file, ...args])
  assert.equal(await readFile(file, 'utf8'), 'id\tprice\r\na\t1.5\r\n')
  const { stdout } = await runCommand(['export', sheet, ...args, '--format', 'csv', '--delimiter', ';'])
  assert.equal(stdout, 'id;price\r\na;1.5\r\n')
  const wrong = await runCommand(['export', sheet, '--format', 'json', '--delimiter', 'tab'])
  assert.match(wrong.stderr, /delimiter applies to csv only; json has none/)
})

test('import reads standard input, and prints its effect with --dry-run', async (t) => {
  const sheet = await writeSheet(t)
  const input = 'id,title,price\na,Apple,9\nd,Date,1\n'
  const args = ['import', sheet, '-', '--input-format', 'csv', '--format', 'table']
  const dry = await runCommand([...args, '--dry-run'], { ...ANN, input })
  assert.deepEqual(dry, {
    code: 0,
    stdout: 'nothing was written; it would be 1 inserted, 1 updated, 0 unchanged\n',
    stderr: '',
  })
  const done = await runCommand(args, { ...ANN, input })
  assert.deepEqual([done.code, done.stdout], [0, '1 inserted, 1 updated, 0 unchanged (run 1)\n'])
})

test('errors go to standard error with file and line, nothing is written, and the exit code is 1', async (t) => {
  const sheet = await writeSheet(t)
  const file = join(await temporaryDirectory(t), 'bad.csv')
  await writeFile(file, 'id,title,price\nx,New,cheap\n')
  const { code, stdout, stderr } = await runCommand(['import', sheet, file], ANN)
  assert.equal(code, 1)
  assert.equal(stderr, `error: ${file}:2 (id "x"), field "price": "cheap" is not a number\n`)
  const { fault_count: count, written } = JSON.parse(stdout) as { fault_count: number; written: boolean }
  assert.deepEqual([count, written], [1, false])
})

test('export writes the runs of a sheet as events, and its log as one document', async (t) => {
  const sheet = await writeSheet(t)
  await runCommand(['import', sheet, '-', '--input-format', 'csv'], { ...ANN, input: 'id,title\nd,Date\n' })
  const args = ['export', sheet, '--format', 'openlineage', '--namespace', 'mine']
  const { code, stdout } = await runCommand(args)
  assert.equal(code, 0)
  assert.match(stdout, /^\{"eventType":"START",.*\n\{"eventType":"COMPLETE",.*"namespace":"mine".*\n$/)
  const file = join(await temporaryDirectory(t), 'prov.json')
  assert.equal((await runCommand(['export', sheet, file, '--format', 'prov-json'])).code, 0)
  const { entity } = JSON.parse(await readFile(file, 'utf8')) as { entity: object }
  assert.ok('sheet:value/d/title/2' in entity)
})

test('a failing export leaves the existing file unchanged', async (t) => {
  const sheet = await writeSheet(t)
  const directory = await temporaryDirectory(t)
  const file = join(directory, 'data.csv')
  await writeFile(file, 'mine')
  const failed = await runCommand(['export', sheet, file, '--filter', 'nope = 1'])
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /^error: .*nope.*\n$/)
  assert.equal(await readFile(file, 'utf8'), 'mine')
  const nowhere = await runCommand(['export', sheet, join(directory, 'none', 'data.csv')])
  assert.deepEqual(
    [nowhere.code, nowhere.stderr],
    [1, `error: ${join(directory, 'none', 'data.csv')} cannot be written: the directory does not exist\n`],
  )
  assert.deepEqual(await readdir(directory), ['data.csv'])
})

const WRONG: readonly (readonly [args: readonly string[], fault: RegExp])[] = [
  [
    ['import', 'SHEET', 'data.doc'],
    /the format of data\.doc cannot be told from its name; give it with --input-format/,
  ],
  [['import', 'SHEET', '-'], /the format of standard input is unknown; give it with --input-format/],
  [['import', 'SHEET', 'data.csv', '--input-format', 'pdf'], /Allowed choices are csv, json/],
  [['export', 'SHEET', 'data.txt'], /cannot be told from its name; give it with --format/],
  [
    ['export', 'SHEET', 'data.zip'],
    /cannot be told from its name, archive or datapackage; give it with --format/,
  ],
  [
    ['export', 'SHEET', 'data.zip', '--format', 'archive', '--fields', 'id'],
    /do not apply to archive, which has the whole sheet/,
  ],
  [
    ['export', 'SHEET', '--format', 'prov-json', '--filter', 'true'],
    /do not apply to prov-json, which has the whole provenance log/,
  ],
  [
    ['export', 'SHEET', '--format', 'csv', '--namespace', 'a'],
    /--namespace applies to openlineage, and the format is csv/,
  ],
]

for (const [args, fault] of WRONG) {
  test(`colophon ${args.join(' ')} is wrong usage`, async (t) => {
    const sheet = await writeSheet(t)
    const { code, stderr, stdout } = await runCommand(
      args.map((arg) => (arg === 'SHEET' ? sheet : arg)),
      ANN,
    )
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, fault)
  })
}

test('a missing file is reported in one line', async (t) => {
  const sheet = await writeSheet(t)
  assert.deepEqual(await runCommand(['import', sheet, 'none.csv'], ANN), {
    code: 1,
    stdout: '',
    stderr: 'error: none.csv: no such file\n',
  })
})

test('progress goes to standard error on request', async (t) => {
  const sheet = await writeSheet(t)
  const { stdout, code } = await runCommand(['export', sheet, '--format', 'csv', '--progress', 'plain'])
  assert.equal(code, 0)
  assert.match(stdout, /^id,/)
})
