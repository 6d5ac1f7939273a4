import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Field } from '../contract/contract.ts'
import type { JsonObject } from '../contract/json/json.ts'
import {
  entryOfField,
  entryOfImport,
  formatCellLine,
  formatLine,
  formatRecordLine,
  parseLine,
  parseStored,
  wholeLine,
} from './log-line.ts'

const COMMON = { seq: 3, at: '2026-01-02T03:04:05.678Z', actor: 'human:ann' }

test('D33: a line is one line of JSON that can be read back', () => {
  const line = {
    ...COMMON,
    source: 'write',
    record_id: 'a\n"b',
    values: { text: 'line\nbreak \u2028\r', list: [1, null], __proto__field: {} },
    previous: { text: null, list: [], __proto__field: true },
  } as const
  const text = formatLine(line)
  assert.ok(!text.includes('\n') && !text.includes('\r'))
  assert.deepEqual(parseLine(text), line)
})

test('D33: the line of a computed cell has the common members and those of its kind', () => {
  const start = {
    ...COMMON,
    source: 'http',
    record_id: 'a\n"b}',
    field: 'label',
    value: { text: '}\n' },
    previous: null,
    input_hash: 'sha256:0',
    derivation: 'label.yaml',
    run_id: '1',
  }
  for (const added of [{}, { cached: false, url: 'http://h/\n}', more: [{}] }]) {
    const text = formatCellLine(start, JSON.stringify(added))
    assert.equal(text, JSON.stringify({ ...start, ...added }))
  }
})

test('a line without a positive integer seq, or that is not an object, is not a line of a log', () => {
  for (const text of [
    '',
    'x',
    'null',
    '[]',
    '7',
    '"seq"',
    '{}',
    '{"seq":"1"}',
    '{"seq":0}',
    '{"seq":-1}',
    '{"seq":1.5}',
    '{"seq":1e300}',
    '{"seq":1',
  ]) {
    assert.equal(parseLine(text), null, text)
  }
  assert.deepEqual(parseLine('{"seq":1}'), { seq: 1 })
})

test('D33: a line for a record has an entry for each field', () => {
  const line: JsonObject = {
    ...COMMON,
    source: 'write',
    record_id: 'a',
    values: { name: 'New', n: null },
    previous: { name: 'Old', n: 0 },
  }
  const common = { ...COMMON, source: 'write', record_id: 'a' }
  assert.deepEqual(entryOfField(line, 'name'), { ...common, field: 'name', value: 'New', previous: 'Old' })
  assert.deepEqual(entryOfField(line, 'n'), { ...common, field: 'n', value: null, previous: 0 })
  assert.equal(entryOfField(line, 'other'), null)
  for (const inherited of ['constructor', 'toString', '__proto__'])
    assert.equal(entryOfField(line, inherited), null)
})

test('fields called constructor and __proto__ are ordinary fields', () => {
  const line = parseLine(
    '{"seq":1,"values":{"constructor":1,"__proto__":2},"previous":{"constructor":null,"__proto__":{"a":1}}}',
  )
  assert.ok(line)
  assert.deepEqual(entryOfField(line, 'constructor'), {
    seq: 1,
    field: 'constructor',
    value: 1,
    previous: null,
  })
  assert.deepEqual(entryOfField(line, '__proto__'), {
    seq: 1,
    field: '__proto__',
    value: 2,
    previous: { a: 1 },
  })
})

test('D33: the line of a computed cell is its entry, for its field only', () => {
  const line: JsonObject = {
    ...COMMON,
    source: 'http',
    record_id: 'a',
    field: 'rate',
    value: 1,
    previous: null,
    cached: true,
  }
  assert.deepEqual(entryOfField(line, 'rate'), line)
  assert.equal(entryOfField(line, 'name'), null)
})

test('lines of an earlier log without some members are read as far as possible', () => {
  assert.deepEqual(entryOfField({ seq: 1, values: { a: 1 } }, 'a'), {
    seq: 1,
    field: 'a',
    value: 1,
    previous: null,
  })
  assert.equal(entryOfField({ seq: 1, values: 'x' }, 'a'), null)
  assert.equal(entryOfField({ seq: 1, source: 'import', file: 'records.jsonl' }, 'a'), null)
})

test('D33: an import line is an entry for each cell, with the file', () => {
  const line: JsonObject = { ...COMMON, source: 'import', file: 'records.jsonl', sha256: 'ab', records: 5 }
  assert.deepEqual(entryOfImport(line, { recordId: 'a', field: 'name', value: 'N', previous: null }), {
    ...COMMON,
    source: 'import',
    record_id: 'a',
    field: 'name',
    value: 'N',
    previous: null,
    file: 'records.jsonl',
  })
})

test('the line of a new record is recognized from its start, whatever the order and the names of its fields', () => {
  const fields = ['id', 'nested', 'previous', 'a"b,', 'empty'].map((name) => ({ name }) as Field)
  const change = {
    actor: 'human:ann',
    source: 'write',
    recordId: 'r,',
    proposal: null,
    previous: null,
  } as const
  const records: JsonObject[] = [
    { id: 'r,', nested: { previous: { a: null } }, previous: { id: ',' }, 'a"b,': [','], empty: '' },
    { 'a"b,': 1, empty: 'x', previous: null, nested: [], id: 'r,' },
  ]
  for (const values of records) {
    const { start, end } = formatRecordLine(COMMON, { ...change, fields, values })
    assert.ok(end.length > 0)
    assert.equal(wholeLine(start), start + end)
    assert.equal(wholeLine(start + end), start + end)
    assert.deepEqual(parseStored(start), parseLine(start + end))
    assert.deepEqual(parseStored(start + end), parseLine(start + end))
    const nothing = Object.fromEntries(fields.map(({ name }) => [name, null]))
    assert.deepEqual(parseLine(start + end), {
      ...COMMON,
      source: 'write',
      record_id: 'r,',
      values,
      previous: nothing,
    })
  }
  const [id, nested] = fields as [Field, Field]
  const some = formatRecordLine(COMMON, { ...change, fields: [nested, id], values: records[0] ?? {} })
  assert.equal(wholeLine(some.start), some.start + some.end)
  assert.deepEqual(parseLine(wholeLine(some.start))?.['previous'], { id: null, nested: null })
})

test('a complete line is unchanged', () => {
  const fields = ['id', 'note'].map((name) => ({ name }) as Field)
  const change = {
    actor: 'human:ann',
    recordId: 'r',
    proposal: null,
    fields,
    previous: () => 'before',
  } as const
  for (const [source, values] of [
    ['write', { id: 'r', note: 'n' }],
    ['delete', null],
  ] as const) {
    const { start, end } = formatRecordLine(COMMON, { ...change, source, values })
    assert.equal(end, '')
    assert.equal(wholeLine(start), start)
    assert.deepEqual(parseLine(start)?.['previous'], { id: 'before', note: 'before' })
  }
  for (const line of ['{"seq":1,"values":{"a":","}}', '{"seq":1} ', '']) assert.equal(wholeLine(line), line)
})
