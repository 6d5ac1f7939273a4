import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../contract/json/json.ts'
import { isEqual } from '../proof/merkle.ts'
import { leafOfLine } from '../proof/node-primitives.ts'
import { isSameLine, withoutValues, type ErasedValues } from './erased-line.ts'

/** The field `old` had the name `a` up to line 4. */
const A_OF_X: ErasedValues = {
  recordId: 'x',
  isErased: (field, seq) => (seq <= 4 ? field === 'a' : field === 'old'),
}
const ALL_OF_X: ErasedValues = { recordId: 'x', isErased: () => true }

function without(line: JsonObject, erased = A_OF_X): unknown {
  const text = JSON.stringify(line)
  const left = withoutValues(text, erased)
  if (left === null) return null
  assert.ok(isEqual(leafOfLine(left), leafOfLine(text)))
  assert.ok(isSameLine(left, text) && isSameLine(text, left))
  const { erased: hash, ...rest } = JSON.parse(left) as JsonObject
  assert.ok(left.startsWith(`{"seq":${Number(line['seq'])},"erased":${JSON.stringify(hash)},`))
  return rest
}

const WRITTEN = { at: 't', actor: 'ann', source: 'write', record_id: 'x' }

test('a line has null in place of erased values, and names their fields', () => {
  const line = { seq: 1, ...WRITTEN, values: { id: 'x', a: 1, b: 2 }, previous: { id: null, a: null, b: 0 } }
  assert.deepEqual(without(line), {
    ...line,
    values: { id: 'x', a: null, b: 2 },
    erased_fields: ['a'],
  })
  assert.deepEqual(without(line, ALL_OF_X), {
    ...line,
    values: { id: 'x', a: null, b: null },
    previous: { id: null, a: null, b: null },
    erased_fields: ['a', 'b'],
  })
  // By the name of its time.
  assert.equal(without({ ...line, seq: 5 }), null)
  assert.deepEqual(
    without({
      seq: 5,
      ...WRITTEN,
      source: 'delete',
      values: { old: null },
      previous: { old: 1 },
      kept: { c: 1 },
    }),
    {
      seq: 5,
      ...WRITTEN,
      source: 'delete',
      values: { old: null },
      previous: { old: null },
      erased_fields: ['old'],
    },
  )
})

test('of a computed cell the counts of its call stay, and no text that can repeat an input', () => {
  const cell = {
    seq: 2,
    at: 't',
    actor: 'runner',
    source: 'ai',
    record_id: 'x',
    field: 'a',
    value: 'v',
    previous: null,
    input_hash: 'sha256:0',
    derivation: 'a.yaml',
    run_id: '1',
    cached: false,
    url: 'http://h/secret',
    steps: [{ url: 'secret' }],
    tokens: { input: 3, output: 4 },
    status: 200,
  }
  const { url: _url, steps: _steps, ...kept } = cell
  const { input_hash: _hash, ...emptied } = { ...kept, value: null }
  assert.deepEqual(without(cell), { ...emptied, erased_fields: ['a'] })
  assert.deepEqual(without({ ...cell, field: 'b' }), { ...kept, field: 'b', erased_fields: [] })
})

test('reviews and proposals lose their values and notes', () => {
  const review = {
    seq: 3,
    ...WRITTEN,
    source: 'review',
    reviewed: 'a',
    verdict: 'flagged',
    note: 'n',
    value: 1,
  }
  assert.deepEqual(without(review), { ...review, note: null, value: null, erased_fields: ['a'] })
  const proposal = { seq: 3, ...WRITTEN, source: 'proposal', proposed: { a: 1 }, present: { a: 2, b: 3 } }
  assert.deepEqual(without(proposal), {
    ...proposal,
    proposed: { a: null },
    present: { a: null, b: 3 },
    erased_fields: ['a'],
  })
})

test('of imported records only those of one lose values', () => {
  const line = {
    seq: 1,
    at: 't',
    actor: 'ann',
    source: 'import',
    file: 'f.csv',
    run_id: '1',
    fields: ['id', 'a', 'b'],
    records: 2,
    rows: [
      ['x', 1, 2],
      ['y', 1, 2],
    ],
  }
  assert.deepEqual(without(line), { ...line, rows: [['x', null, 2], line.rows[1]] })
  assert.equal(without({ ...line, rows: [['y', 1, 2]] }), null)
})

test('values are erased from a line again and again', () => {
  const line = { seq: 1, ...WRITTEN, values: { a: 1, b: 2 }, previous: { a: null, b: null } }
  const once = withoutValues(JSON.stringify(line), A_OF_X) ?? ''
  assert.equal(withoutValues(once, A_OF_X), null)
  const twice = withoutValues(once, ALL_OF_X) ?? ''
  assert.ok(isEqual(leafOfLine(twice), leafOfLine(JSON.stringify(line))))
  assert.deepEqual((JSON.parse(twice) as JsonObject)['erased_fields'], ['a', 'b'])
})

test('a line of another record, or of none, is not changed', () => {
  for (const line of [
    { seq: 1, ...WRITTEN, record_id: 'y', values: { a: 1 }, previous: { a: null } },
    { seq: 1, at: 't', actor: 'ann', source: 'import', file: 'records.jsonl', sha256: '', records: 2 },
    { seq: 1, at: 't', actor: 'ann', source: 'contract', renamed: { a: 'b' } },
  ])
    assert.equal(without(line, ALL_OF_X), null)
})
