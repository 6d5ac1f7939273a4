import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../contract/json/json.ts'
import { parseContract } from '../contract/odcs/parse-contract.ts'
import { contractText } from '../../test/support/contract-with.ts'
import {
  ImportedRecords,
  linePartsOf,
  linesOfRecords,
  partsOf,
  type ImportedRecord,
} from './imported-records.ts'
import { isImportLine, parseLine } from './log-line.ts'

const { fields } = parseContract(
  contractText([
    '{name: a, logicalType: string}',
    '{name: constructor, logicalType: string}',
    '{name: n, logicalType: number}',
  ]),
)

function imported(
  values: JsonObject & { readonly id: string },
  more: Partial<ImportedRecord> = {},
): ImportedRecord {
  return {
    actor: 'human:ann',
    source: 'write',
    recordId: values.id,
    fields: fields.filter(({ name }) => Object.hasOwn(values, name)),
    values,
    previous: null,
    proposal: null,
    run: '7',
    file: 'people.csv',
    ...more,
  }
}

function begin(first: ImportedRecord): ImportedRecords {
  const records = new ImportedRecords({ seq: 3, at: '2026-01-01T00:00:00.000Z' }, first)
  assert.ok(records.add(first))
  return records
}

function textOf(records: ImportedRecords): string {
  const { start, end } = linePartsOf(records.text())
  return start + end
}

test('a line of records stands for a line of each, with the fields that have a value', () => {
  const records = begin(imported({ id: 'x', a: 'A', n: 0 }))
  assert.ok(records.add(imported({ id: 'y', a: '' })))
  assert.ok(records.add(imported({ id: 'z', n: 2.5 }, { values: { n: 2.5, id: 'z' } })))
  const text = textOf(records)
  assert.equal(
    text,
    '{"seq":3,"at":"2026-01-01T00:00:00.000Z","actor":"human:ann","source":"import","file":"people.csv","run_id":"7",' +
      '"fields":["id","a","n"],"records":3,"rows":[["x","A",0],["y","",null],["z",null,2.5]]}',
  )
  const line = parseLine(text) ?? {}
  assert.equal(isImportLine(line), false)
  const common = { seq: 3, at: '2026-01-01T00:00:00.000Z', actor: 'human:ann', source: 'import' }
  const ofFile = { ...common, file: 'people.csv', run_id: '7' }
  assert.deepEqual(linesOfRecords(line), [
    {
      ...ofFile,
      record_id: 'x',
      values: { id: 'x', a: 'A', n: 0 },
      previous: { id: null, a: null, n: null },
    },
    { ...ofFile, record_id: 'y', values: { id: 'y', a: '' }, previous: { id: null, a: null } },
    { ...ofFile, record_id: 'z', values: { id: 'z', n: 2.5 }, previous: { id: null, n: null } },
  ])
})

test('a record of another run, actor or file, or with another field, needs another line', () => {
  const records = begin(imported({ id: 'x', a: 'A' }))
  for (const other of [
    imported({ id: 'y', a: 'A' }, { run: '8' }),
    imported({ id: 'y', a: 'A' }, { actor: 'human:bob' }),
    imported({ id: 'y', a: 'A' }, { file: 'other.csv' }),
    imported({ id: 'y', constructor: 'C' }),
  ])
    assert.equal(records.add(other), false)
  assert.equal(linesOfRecords(parseLine(textOf(records)) ?? {}).length, 1)
})

test('a member that every object inherits is no value', () => {
  const records = begin(imported({ id: 'x', constructor: 'C' }))
  assert.ok(records.add(imported({ id: 'y' })))
  const values = linesOfRecords(parseLine(textOf(records)) ?? {}).map((line) =>
    JSON.stringify(line['values']),
  )
  assert.deepEqual(values, ['{"id":"x","constructor":"C"}', '{"id":"y"}'])
})

test('a line has at most 128 records, and fewer where they are long', () => {
  const add = (records: ImportedRecords, a: string): number => {
    let count = 1
    while (records.add(imported({ id: `r${count}`, a }))) count += 1
    return count
  }
  assert.equal(add(begin(imported({ id: 'r0', a: 'short' })), 'short'), 128)
  assert.equal(add(begin(imported({ id: 'r0', a: 'x'.repeat(10_000) })), 'x'.repeat(10_000)), 3)
})

test('a line is divided where its rows begin, whatever its values are', () => {
  const odd = ',"rows":[[1]]}'
  for (const text of [
    textOf(begin(imported({ id: odd, a: `"${odd}` }, { file: `${odd}.csv` }))),
    '{"seq":1,"source":"import", "rows": [["x"]]}',
    '{"seq":1,"source":"import","fields":["id"],"rows":[["x"]],"written_at":"t"}',
  ]) {
    const parts = partsOf(text)
    const { start, end } = linePartsOf(parts)
    assert.equal(start + end, text)
    assert.ok(parseLine(parts.start))
  }
})

test('other lines are returned as they are, and a row without an id has none', () => {
  for (const line of [
    { seq: 1, source: 'import', file: 'records.jsonl', records: 2 },
    { seq: 1, source: 'write', fields: ['id'], rows: [['x']] },
    { seq: 1, source: 'import', fields: 'id', rows: [['x']] },
  ])
    assert.deepEqual(linesOfRecords(line), [line])
  assert.deepEqual(linesOfRecords({ seq: 1, source: 'import', fields: ['id'], rows: [7, []] }), [
    { seq: 1, source: 'import', record_id: null, values: {}, previous: {} },
  ])
})
