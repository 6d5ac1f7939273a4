import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { contractWith } from '../../../../test/support/contract-with.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import { Connection } from '../database/connection.ts'
import { createStore, storePaths, type StorePaths } from './create-store.ts'

const STORE = {
  contract: contractWith(
    '{name: name, logicalType: string, required: true}',
    '{name: code, logicalType: string, unique: true}',
    '{name: area, logicalType: number, logicalTypeOptions: {minimum: 0}}',
    '{name: label, logicalType: string, required: true}',
  ),
  targets: [
    {
      field: 'label',
      derivation: 'label.yaml',
      sha256: '00',
      kind: 'http',
      inputs: ['name'],
      required: [],
      nonEmpty: [],
      text: 'label',
    },
  ],
  actor: 'system:import',
}

function pathsFor(t: TestContext): StorePaths {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-create-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return storePaths(directory)
}

/** Refused with a RecordsError with this message, and no half-made store is left. */
function refused(paths: StorePaths, message: RegExp, what: string): void {
  const before = readdirSync(join(paths.database, '..'))
  assert.throws(
    () => createStore(paths, STORE),
    (error) => {
      assert.ok(error instanceof RecordsError, `${what}: ${String(error)}`)
      assert.match(error.message, message)
      return true
    },
  )
  assert.deepEqual(readdirSync(join(paths.database, '..')), before)
}

test('D2: each kind of bad line stops the import, naming file, line and field', (t) => {
  const paths = pathsFor(t)
  const cases: [bad: string, message: RegExp][] = [
    ['{"id":"b","name":"B","area":"x"}', /^records\.jsonl:3: field "area": /],
    ['{"id":"b","name":"B","area":-1}', /^records\.jsonl:3: field "area": /],
    ['{"id":"b"}', /^records\.jsonl:3: field "name": /],
    ['{"id":"b","name":null}', /^records\.jsonl:3: field "name": /],
    ['{"name":"B"}', /^records\.jsonl:3: field "id": /],
    ['{"id":"b,c","name":"B"}', /^records\.jsonl:3: field "id": /],
    ['{"id":"b","name":"\\ud800"}', /^records\.jsonl:3: field "name": /],
    ['{"id":"b","name":"B","label":5}', /^records\.jsonl:3: field "label": /],
    ['{"id":"b","name":"B","colour":1}', /^records\.jsonl:3: field "colour": /],
    ['{"id":"b","name":"B","__proto__":1}', /^records\.jsonl:3: field "__proto__": /],
    ['{"id":"b","name":"B","constructor":1}', /^records\.jsonl:3: field "constructor": /],
    ['{"id":"a","name":"B"}', /^records\.jsonl:3: field "id": must be unique.*"a"/],
    ['{"id":"b","name":"B","code":"c"}', /^records\.jsonl:3: field "code": must be unique.*"c"/],
    ['{"id":"b","name":"B"', /^records\.jsonl:3: not JSON: [^()]+$/],
    ['["b"]', /^records\.jsonl:3: /],
    ['null', /^records\.jsonl:3: /],
  ]
  for (const [bad, message] of cases) {
    writeFileSync(paths.source, `{"id":"a","name":"A","code":"c"}\n\n${bad}\n{"id":"z","name":"Z"}\n`)
    refused(paths, message, bad)
  }
  writeFileSync(paths.source, Buffer.from('7b226964223a22ff227d0a', 'hex'))
  refused(paths, /^records\.jsonl:1: not valid UTF-8/, 'a byte that is no UTF-8')
})

test('D2: the last line needs no line break, and a byte order mark is ignored', (t) => {
  const paths = pathsFor(t)
  writeFileSync(paths.source, '\ufeff{"id":"a","name":"A"}\r\n\r\n{"id":"b","name":"B\u2028"}')
  createStore(paths, STORE)
  const db = new DatabaseSync(paths.database)
  t.after(() => db.close())
  const records = db.prepare('SELECT id, name FROM records').all()
  assert.deepEqual(
    records.map(({ id, name }) => [id, name]),
    [
      ['a', 'A'],
      ['b', 'B\u2028'],
    ],
  )
})

test('D2: an invalid line of a log is refused with its line number, except one that a crash cut off', (t) => {
  const paths = pathsFor(t)
  const [one, two] = [1, 2].map((seq) => JSON.stringify({ seq, record_id: 'x', values: {}, previous: {} }))
  const cases: [text: string, line: number][] = [
    [`${one}\n{"seq":2,\n${two}\n`, 2],
    [`${one}\n${one}\n`, 2],
    [`${two}\n${one}\n`, 2],
    [`${one}\n{}\n`, 2],
    [`[]\n${one}\n`, 1],
    [`${one}\n\n${two}\n`, 2],
  ]
  for (const [text, line] of cases) {
    writeFileSync(paths.log, text)
    refused(paths, new RegExp(`^provenance\\.jsonl:${line}: `), text)
  }
  for (const [text, lines] of [
    [`${one}\n${two}\n{"se`, 2],
    [`${one}\n${two}`, 2],
    ['', 0],
  ] as const) {
    writeFileSync(paths.log, text)
    createStore(paths, STORE)
    const db = new DatabaseSync(paths.database)
    assert.equal(db.prepare('SELECT line FROM "$provenance"').all().length, lines)
    db.close()
    rmSync(paths.database)
  }
})

test('D2: remains of an earlier attempt are no obstacle', (t) => {
  const paths = pathsFor(t)
  writeFileSync(`${paths.database}-new`, 'half a store')
  writeFileSync(paths.source, '{"id":"a","name":"A"}\n')
  createStore(paths, STORE)
  assert.deepEqual(readdirSync(join(paths.database, '..')).toSorted(), ['records.jsonl', 'sheet.db'])
})

test('D2: a store that is being created has no other file that a crash could leave behind', (t) => {
  const paths = pathsFor(t)
  const db = Connection.forBuilding(paths.database)
  t.after(() => db.close())
  db.exec('CREATE TABLE made (a); BEGIN; INSERT INTO made VALUES (1); UPDATE made SET a = 2')
  assert.deepEqual(readdirSync(join(paths.database, '..')), ['sheet.db'])
})
