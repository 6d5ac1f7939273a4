import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { checkpointBody, formatNote, parseNotes } from '../../proof/checkpoint.ts'
import { RootHasher } from '../../proof/merkle.ts'
import { leafOfLine, NoteSigner, sha256 } from '../../proof/node-primitives.ts'
import { withoutValues } from '../../provenance/erased-line.ts'
import { parseLine } from '../../provenance/log-line.ts'
import { Differences } from './differences.ts'
import { verifyLog, type LogReport, type LogToVerify } from './verify-log.ts'

const directory = mkdtempSync(join(tmpdir(), 'colophon-verify-log-'))
after(() => rmSync(directory, { recursive: true }))

type Line = JsonObject | string

interface Verified extends LogReport {
  readonly found: readonly string[]
}

/** Verifies lines, whose seqs count from 1 unless they have one, with records. */
function verify(lines: readonly Line[], records: readonly Line[], more: Partial<LogToVerify> = {}): Verified {
  const differences = new Differences()
  const report = verifyLog(
    {
      lines: textsOf(lines).map((text) => ({ seq: null, text, line: parseLine(text) })),
      records: records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))),
      historyAfter: 0,
      source: null,
      checkpoints: { own: [], outside: [], key: null },
      ...more,
    },
    differences,
  )
  assert.equal(differences.count, differences.listed.length)
  const found = differences.listed.map(({ seq, recordId, field, message }) =>
    [...[seq, recordId, field].filter((part) => part !== null), message].join(' '),
  )
  return { ...report, found }
}

function textsOf(lines: readonly Line[]): string[] {
  return lines.map((line, index) =>
    typeof line === 'string' ? line : JSON.stringify({ seq: index + 1, at: '', actor: 'human:ann', ...line }),
  )
}

function nothing(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(values).map((name) => [name, null]))
}

function created(id: string, values: JsonObject = {}): JsonObject {
  const all = { id, ...values }
  return { source: 'write', record_id: id, values: all, previous: nothing(all) }
}

function written(id: string, values: JsonObject, previous: JsonObject): JsonObject {
  return { source: 'write', record_id: id, values, previous }
}

function deleted(id: string, previous: JsonObject): JsonObject {
  return {
    source: 'delete',
    record_id: id,
    values: nothing({ id, ...previous }),
    previous: { id, ...previous },
  }
}

function computed(id: string, field: string, value: JsonValue, previous: JsonValue): JsonObject {
  return {
    source: 'http',
    record_id: id,
    field,
    value,
    previous,
    input_hash: 'sha256:',
    derivation: 'a.yaml',
  }
}

function contract(change: JsonObject): JsonObject {
  return { source: 'contract', ...change }
}

test('the records are what the lines of the log leave', () => {
  const lines = [
    created('a', { n: 1, t: 'x' }),
    created('b', { n: 2 }),
    // As a look-up in a file writes it.
    { ...computed('a', 'rate', 0.5, null), source: 'import' },
    written('a', { n: null, t: 'y' }, { n: 1, t: 'x' }),
    { source: 'review', record_id: 'a', reviewed: 't', verdict: 'approved', value: 'y' },
    deleted('b', { n: 2 }),
    { ...created('b', { n: 2 }), source: 'revert', reverts: 6 },
    { source: 'revert', record_id: 'a', field: 'rate', value: null, previous: 0.5, reverts: 3 },
    written('b', { o: { b: 1, a: [2] } }, { o: null }),
  ]
  const records = [
    { id: 'a', n: null, t: 'y', rate: null, o: null },
    { id: 'b', n: 2, t: null, rate: null, o: { b: 1, a: [2] } },
  ]
  const { found, lines: count, lastSeq } = verify(lines, records)
  assert.deepEqual(found, [])
  assert.deepEqual([count, lastSeq], [9, 9])

  const [a, b] = records as readonly JsonObject[] as [JsonObject, JsonObject]
  const changed = (record: JsonObject, values: JsonObject): JsonObject => ({ ...record, ...values })
  const differences: [JsonObject[], string][] = [
    [[changed(a, { t: 'z' }), b], 'a t the log ends with "y", and the record has "z"'],
    [[changed(a, { t: null }), b], 'a t the log ends with "y", and the record has null'],
    [[changed(a, { rate: 0.5 }), b], 'a rate the log ends with null, and the record has 0.5'],
    [
      [a, changed(b, { o: { a: [2], b: 1 } })],
      'b o the log ends with an object, and the record has an object',
    ],
    [
      [{ id: 'a', n: null, rate: null, o: null }, b],
      'a t the log ends with "y", and the record has no such field',
    ],
    [[b], 'a is missing, and no line of the log has deleted it'],
    [[a], 'b is missing, and no line of the log has deleted it'],
    [[b, a], 'a comes after records that were created later'],
    [[a, b, changed(b, { id: 'c' })], 'c no line of the log has created it'],
    [[a, b, a], 'a is there twice'],
  ]
  for (const [other, difference] of differences) assert.deepEqual(verify(lines, other).found, [difference])
  assert.deepEqual(verify(lines, [JSON.stringify(a), '[]', JSON.stringify(b)]).found, [
    'number 2 is not a record: "[]"',
  ])
})

test('a line whose values before are not those of the lines before is named', () => {
  const first = [created('a', { n: 1 }), written('a', { n: 2 }, { n: 1 })]
  const differences: [Line[], string][] = [
    [
      [written('a', { n: 3 }, { n: 1 })],
      '3 a n the value before is 1 in this line, and 2 by the lines before',
    ],
    [[computed('a', 'n', 3, null)], '3 a n the value before is null in this line, and 2 by the lines before'],
    [[written('b', { n: 3 }, { n: null })], '3 b changes a record that does not exist'],
    [[created('a', { n: 3 })], '3 a creates a record that exists'],
    [
      [{ ...created('b', { n: 3 }), previous: { id: null, n: 1 } }],
      '3 b n creates a record, and "previous" is 1',
    ],
    [[deleted('a', { n: 1 })], '3 a n the value before is 1 in this line, and 2 by the lines before'],
    [[deleted('a', {})], '3 a n the value before is null in this line, and 2 by the lines before'],
    [
      [{ source: 'review', record_id: 'a', reviewed: 'n', verdict: null, value: 1 }],
      '3 a n the value before is 1 in this line, and 2 by the lines before',
    ],
    [[{ source: 'other' }], '3 is of no kind that this version knows'],
    [[{ source: 'other', record_id: 'a' }], '3 a is of no kind that this version knows'],
    [[contract({ renamed: 5 })], '3 is of no kind that this version knows'],
    [[contract({ restored: { n: 2 } })], '3 restores the field "n", and line 2 did not remove it'],
    [
      [{ source: 'import', file: 'x', sha256: 'x', records: 1 }],
      '3 an import that is not the first line of the store',
    ],
    [[{ ...written('a', { n: 3 }, { n: 2 }), seq: 4 }], '4 follows the line 2'],
    [[{ ...written('a', { n: 3 }, { n: 2 }), seq: 2 }], '2 follows the line 2'],
    [['not JSON'], 'line number 3 is not a line of a log'],
    [[`{"seq":3,"values":${'['.repeat(5000)}${']'.repeat(5000)}}`], 'line number 3 is not a line of a log'],
  ]
  for (const [lines, difference] of differences) {
    assert.equal(verify([...first, ...lines], [{ id: 'a', n: 2 }]).found[0], difference)
  }
})

test('a line that the store has under another seq is named', () => {
  const [text = ''] = textsOf([created('a')])
  const lines = [{ seq: 2, text, line: parseLine(text) }]
  const { found } = verify([], [{ id: 'a' }], { lines })
  assert.equal(found[0], '2 line number 1 has the seq 1, and the store has it as 2')
})

test('renamed, removed and restored fields keep their values', () => {
  const lines = [
    created('a', { x: 1, y: 2, z: 3 }),
    contract({ renamed: { x: 'y', y: 'x' }, removed: { z: { type: 'number' } } }),
    // A field of a former name is another.
    written('a', { z: 'new' }, { z: null }),
    contract({ renamed: { z: 'w' } }),
    contract({ restored: { z: 2 } }),
  ]
  const record = { id: 'a', x: 2, y: 1, z: 3, w: 'new' }
  assert.deepEqual(verify(lines, [record]).found, [])
  assert.deepEqual(verify(lines, [{ ...record, z: null }]).found, [
    'a z the log ends with 3, and the record has null',
  ])
  assert.deepEqual(verify(lines, [{ ...record, x: 1, y: 2 }]).found.length, 2)
})

test('a converted value is one that the conversion can have made', () => {
  const lines = (lost?: number): JsonObject[] => [
    created('a', { n: '12' }),
    created('b', { n: 'no number' }),
    contract({ converted: { n: { from: 'string', to: 'number', ...(lost !== undefined && { lost }) } } }),
    created('c', { n: 7 }),
  ]
  const found = (values: JsonValue[], lost?: number): readonly string[] =>
    verify(
      lines(lost),
      ['a', 'b', 'c'].map((id, index) => ({ id, n: values[index] ?? null })),
    ).found
  assert.deepEqual(found([12, null, 7]), [])
  assert.deepEqual(found([12, null, 7], 1), [])
  assert.deepEqual(found([13, null, 7], 1), ['a n the log ends with 12, and the record has 13'])
  assert.deepEqual(found([12, 5, 7], 1), ['b n the log ends with null, and the record has 5'])
  assert.deepEqual(found([12, null, null], 1), ['c n the log ends with 7, and the record has null'])
  // Only one fits no number.
  assert.deepEqual(found([null, null, 7], 1), ['a n the log ends with 12, and the record has null'])
  // The contract of that time can have refused a value, and a line of an earlier version does not say how many.
  assert.deepEqual(found([null, null, 7]), [])
  assert.deepEqual(found([null, null, 7], 2), [])
})

test('no more values are missing than conversions have lost', () => {
  const lines = [
    created('a', { n: '12' }),
    created('b', { n: '13' }),
    contract({ converted: { n: { from: 'string', to: 'number', lost: 1 } } }),
    contract({ converted: { n: { from: 'number', to: 'string', lost: 0 } } }),
  ]
  const records = (a: JsonValue, b: JsonValue): JsonObject[] => [
    { id: 'a', n: a },
    { id: 'b', n: b },
  ]
  const verified = verify(lines, records('12', null))
  assert.deepEqual([verified.found, verified.records.converted], [[], 2])
  assert.deepEqual(verify(lines, records(null, null)).found, [
    '4 n with the conversions before it, a value was lost of this field, and 2 are missing',
  ])
})

test('values from before a conversion are back where another one takes it back', () => {
  const lines = (more: JsonObject): JsonObject[] => [
    created('a', { n: '012' }),
    created('b', { n: 'no number' }),
    contract({ converted: { n: { from: 'string', to: 'number', lost: 1 } } }),
    contract({ converted: { n: { from: 'number', to: 'string', lost: 0, ...more } } }),
  ]
  const records = (a: JsonValue, b: JsonValue): JsonObject[] => [
    { id: 'a', n: a },
    { id: 'b', n: b },
  ]
  const found = (more: JsonObject, a: JsonValue, b: JsonValue): number =>
    verify(lines(more), records(a, b)).found.length
  assert.equal(found({ reverts: 3 }, '012', 'no number'), 0)
  assert.equal(found({ reverts: 3 }, '0012', 'no number'), 1)
  assert.equal(found({ reverts: 3 }, '12', 'no number'), 1)
  assert.equal(found({}, '12', null), 0)
  assert.equal(found({}, '012', 'no number'), 2)
  // A line of an earlier version does not say what it takes back.
  const earlier = lines({}).map(
    (line) => JSON.parse(JSON.stringify(line).replaceAll(/,"lost":\d/g, '')) as JsonObject,
  )
  assert.deepEqual(verify(earlier, records('012', 'no number')).found, [])
  assert.deepEqual(verify(earlier, records('12', null)).found, [])
})

test('arrays of any items can have been made of one value', () => {
  const lines = [
    created('a', { n: '5' }),
    contract({ converted: { n: { from: 'string', to: 'array', lost: 0 } } }),
  ]
  for (const value of [['5'], [5], [['5']]])
    assert.deepEqual(verify(lines, [{ id: 'a', n: value }]).found, [])
  for (const value of [['6'], [6], [], null])
    assert.equal(verify(lines, [{ id: 'a', n: value }]).found.length, 1)
})

test('imported values are compared with the imported file, or are not covered without it', () => {
  const file = [
    { id: 'a', n: 1 },
    { id: 'b', n: 2 },
    { id: 'c', n: 3 },
  ]
  const text = file.map((record) => `${JSON.stringify(record)}\n`).join('')
  const source = join(directory, 'records.jsonl')
  writeFileSync(source, text)
  const hash = createHash('sha256').update(text).digest('hex')
  const lines = [
    { source: 'import', file: 'records.jsonl', sha256: hash, records: 3 },
    written('b', { n: 5 }, { n: 2 }),
    deleted('c', { n: 3 }),
    created('d', { n: 4 }),
  ]
  const records = [
    { id: 'a', n: 1 },
    { id: 'b', n: 5 },
    { id: 'd', n: 4 },
  ]
  const known = verify(lines, records, { source })
  assert.deepEqual([known.found, known.unknownImport], [[], null])
  assert.deepEqual(verify(lines, [{ id: 'a', n: 2 }, ...records.slice(1)], { source }).found, [
    'a n the log ends with 1, and the record has 2',
  ])

  const without = verify(lines, records)
  assert.deepEqual(without.found, [])
  assert.equal(without.unknownImport?.sha256, hash)
  // Both cells of one record, and the id of the other is known.
  assert.deepEqual(without.records.imported, { records: 1, cells: 2 })
  const differences: [JsonObject[], string][] = [
    [
      [
        { id: 'a', n: 1 },
        { id: 'b', n: 6 },
        { id: 'd', n: 4 },
      ],
      'b n the log ends with 5, and the record has 6',
    ],
    [records.slice(1), '1 imported 1 records that no other line names, and there are 0'],
    [[...records, { id: 'e', n: 1 }], 'e no line of the log has created it'],
    [[{ id: 'd', n: 4 }, ...records.slice(0, 2)], 'a no line of the log has created it'],
    [[{ id: 'e', n: 4 }, ...records], '1 imported 1 records that no other line names, and there are 2'],
  ]
  for (const [other, difference] of differences) assert.equal(verify(lines, other).found[0], difference)

  const wrong = [{ ...lines[0], records: 2 } as JsonObject, ...lines.slice(1)]
  assert.equal(verify(wrong, records, { source }).found[0], '1 an import of 2 records, and its file has 3')
})

test('the lines of an imported log explain nothing of the present records', () => {
  const earlier = [created('x', { n: 1 }), { ...deleted('y', {}), seq: 5 }]
  const imported = { source: 'import', file: 'records.jsonl', sha256: '0', records: 0, seq: 6 }
  const lines = [...earlier, imported, { ...created('a', { n: 1 }), seq: 7 }]
  const { found, earlierLines } = verify(lines, [{ id: 'a', n: 1 }], { historyAfter: 5 })
  assert.deepEqual([found, earlierLines], [[], 2])
  const gone = verify(lines, [{ id: 'x', n: 1 }], { historyAfter: 5 }).found
  assert.deepEqual(gone, [
    'a is missing, and no line of the log has deleted it',
    '6 imported 0 records that no other line names, and there are 1',
  ])
})

test('a store cannot declare lines those of an earlier store', () => {
  const lines = [created('a'), created('b'), created('c')]
  const fault = 'and a store that takes over a log begins with an import of records'
  for (const historyAfter of [1, 2, 3]) {
    const { found } = verify(lines, [{ id: 'c' }].slice(0, 3 - historyAfter), { historyAfter })
    assert.ok(
      found.some((each) => each.endsWith(fault)),
      `${historyAfter}: ${found.join('; ')}`,
    )
  }
})

test('a line under another record than its own is named', () => {
  const differences = new Differences()
  const lines = [created('a'), created('b')].map((line, index) => {
    const text = JSON.stringify({ seq: index + 1, at: '', actor: 'human:ann', ...line })
    return { seq: index + 1, text, line: parseLine(text), owner: ['a', 'a'][index] as string }
  })
  const checkpoints = { own: [], outside: [], key: null }
  const records = ['{"id":"a"}', '{"id":"b"}']
  verifyLog({ lines, records, historyAfter: 0, source: null, checkpoints }, differences)
  assert.deepEqual(
    differences.listed.map(({ seq, message }) => [seq, message]),
    [[2, 'the store has it as a line of the record "a"']],
  )
})

test('a record whose text readers can take for other values is named', () => {
  const lines = [created('a', { o: { x: null }, z: 1 })]
  const fine = ['{"id":"a","o":{"x":null},"z":1}', '{"id":"a","z":1.0,"o":{ "x" : null }}']
  for (const text of fine) assert.deepEqual(verify(lines, [text]).found, [], text)
  for (const text of [
    '{"id":"a","o":{"x":1e999},"z":1}',
    '{"id":"a","o":{"x":9,"x":null},"z":1}',
    '{"id":"a","z":7,"o":{"x":null},"z":1}',
  ])
    assert.match(verify(lines, [text]).found.join(), /is not a record/, text)
})

test('a converted field that is no longer there is named', () => {
  const lines = [
    created('a', { n: '1', m: 1 }),
    contract({ converted: { n: { from: 'string', to: 'integer', lost: 0 } } }),
  ]
  assert.deepEqual(verify(lines, [{ id: 'a', n: 1, m: 1 }]).found, [])
  assert.deepEqual(verify(lines, [{ id: 'a', m: 1 }]).found, [
    'a n the log ends with 1, and the record has no such field',
  ])
})

test('a field can have been converted very often', () => {
  const conversions = Array.from({ length: 2000 }, (_, index) => {
    const [from, to] = index % 2 === 0 ? (['string', 'integer'] as const) : (['integer', 'string'] as const)
    return contract({ converted: { n: { from, to } } })
  })
  assert.deepEqual(verify([created('a', { n: '1' }), ...conversions], [{ id: 'a', n: '1' }]).found, [])
})

const LINES = [created('a', { n: 1 }), written('a', { n: 2 }, { n: 1 }), written('a', { n: 3 }, { n: 2 })]
const RECORDS = [{ id: 'a', n: 3 }]

function noteOf(lines: readonly Line[], origin = 'sheet.example', size = lines.length): string {
  const hasher = new RootHasher(sha256)
  for (const text of textsOf(lines)) hasher.add(leafOfLine(text))
  return formatNote(checkpointBody({ origin, size, root: hasher.root() }), [])
}

function withCheckpoints(own: string, outside = '', key: NoteSigner | null = null): Verified {
  const checkpoints = { own: parseNotes(own), outside: parseNotes(outside), key: key?.key ?? null }
  return verify(LINES, RECORDS, { checkpoints })
}

test('checkpoints cover the lines up to the last one that holds', () => {
  const { found, checkpoints } = withCheckpoints(
    noteOf(LINES.slice(0, 1)) + noteOf(LINES),
    noteOf(LINES.slice(0, 2)),
  )
  assert.deepEqual(found, [])
  assert.deepEqual(checkpoints, {
    own: 2,
    outside: 1,
    covered: { outside: 2, signed: null, own: 3 },
    unsigned: [],
  })
  assert.deepEqual(withCheckpoints(noteOf([])).found, [])
})

test('a checkpoint that is not one of the log is named', () => {
  const other = [LINES[0] as JsonObject, written('a', { n: 5 }, { n: 1 })]
  const [first = ''] = LINES.slice(0, 1).map((line) => noteOf([line]))
  const differences: [string, string, string][] = [
    [
      noteOf(other),
      '',
      "the sheet's checkpoint of size 2: the root hash is another, so that a line from number 1 to 2 was changed",
    ],
    [
      '',
      first + noteOf(other),
      'the given checkpoint of size 2: the root hash is another, so that a line from number 2 to 2 was changed',
    ],
    [
      '',
      noteOf([...LINES, ...LINES]),
      'the given checkpoint of size 6: the log has 3 lines, so that 3 lines were cut off',
    ],
    [
      noteOf([...LINES, created('b')]),
      '',
      "the sheet's checkpoint of size 4: the log has 3 lines, so that a line was cut off",
    ],
    [
      first,
      noteOf(LINES, 'other.example'),
      'the given checkpoint of size 3 is of the log "other.example", and this is "sheet.example"',
    ],
    ['x\n', '', 'the text number 1 of the checkpoints of the sheet is not a checkpoint'],
    ['', 'x\n', 'the text number 1 of the checkpoints of --checkpoint is not a checkpoint'],
    [noteOf(LINES) + first, '', "the sheet's checkpoint of size 1 comes after one of size 3"],
  ]
  for (const [own, outside, difference] of differences)
    assert.equal(withCheckpoints(own, outside).found[0], difference)
})

test('a checkpoint that the key has not signed covers nothing by it', () => {
  const { signer } = NoteSigner.create('sheet.example')
  const unsigned = noteOf(LINES)
  const signed = signer.sign(checkpointBody(parseNotes(noteOf(LINES.slice(0, 2)))[0]!))
  const { found, checkpoints } = withCheckpoints(signed + unsigned, '', signer)
  assert.deepEqual(found, [])
  assert.deepEqual([checkpoints.covered.signed, checkpoints.unsigned], [2, [3]])

  const forged = parseNotes(unsigned + signed.slice(signed.indexOf('—')))[0]
  assert.ok(forged)
  const given = { own: [forged], outside: [], key: signer.key }
  assert.deepEqual(verify(LINES, RECORDS, { checkpoints: given }).found, [
    'the sheet\'s checkpoint of size 3: the signature in the name of "sheet.example" is not one of that key',
  ])
  assert.deepEqual(
    withCheckpoints(signed, '', NoteSigner.create('sheet.example').signer).checkpoints.covered.signed,
    0,
  )
})

/** Returns lines without the values of a record in some of them, and the line that says so. */
function erasure(
  lines: readonly JsonObject[],
  {
    seqs,
    id,
    fields,
  }: { readonly seqs: readonly number[]; readonly id: string; readonly fields: readonly string[] },
): readonly Line[] {
  const erased = { recordId: id, isErased: (field: string) => fields.includes(field) }
  const texts = textsOf(lines).map((text, index) => {
    if (!seqs.includes(index + 1)) return text
    const left = withoutValues(text, erased)
    assert.ok(left)
    return left
  })
  const values = Object.fromEntries(fields.map((name) => [name, null]))
  return [...texts, { source: 'erase', record_id: id, lines: seqs, values, previous: values }]
}

test('erased values are not known, and the lines that had them are in the tree', () => {
  const lines = [
    created('a', { n: 1, t: 'x' }),
    written('a', { n: 2, t: 'y' }, { n: 1, t: 'x' }),
    computed('a', 'n', 3, 2),
    deleted('a', { n: 3, t: 'y' }),
    { ...created('a', { n: 3, t: 'y' }), source: 'revert', reverts: 4 },
  ]
  const hasher = new RootHasher(sha256)
  for (const text of textsOf(lines)) hasher.add(leafOfLine(text))
  const outside = parseNotes(formatNote(checkpointBody({ origin: 'o', size: 5, root: hasher.root() }), []))
  const whole = erasure(lines, { seqs: [1, 2, 3, 4, 5], id: 'a', fields: ['n'] })
  const checkpoints = { own: [], outside, key: null }
  const {
    found,
    erasedLines,
    checkpoints: report,
  } = verify(whole, [{ id: 'a', n: null, t: 'y' }], { checkpoints })
  assert.deepEqual([found, erasedLines, report.covered.outside], [[], 5, 5])
  // Other values are compared as ever, and a value after the erasure is known.
  assert.deepEqual(verify(whole, [{ id: 'a', n: 3, t: 'z' }]).found.length, 2)
  assert.deepEqual(
    verify([...whole, written('a', { n: 4 }, { n: null })], [{ id: 'a', n: 4, t: 'y' }]).found,
    [],
  )
})

test('a line that lacks values must be named by a later line', () => {
  const lines = [created('a', { n: 1 }), written('a', { n: 2 }, { n: 1 })]
  const all = erasure(lines, { seqs: [1, 2], id: 'a', fields: ['n'] })
  const named = all.at(-1) as JsonObject
  const [first = '', second = ''] = all
  assert.deepEqual(verify([first, second, { ...named, lines: [1] }], [{ id: 'a', n: null }]).found, [
    '2 lacks erased values, and no later line says who has erased them',
  ])
  assert.deepEqual(verify([first, second], [{ id: 'a', n: null }]).found.length, 2)
  const bad = String(first).replace(/"erased":"[^"]*"/, '"erased":"none"')
  assert.deepEqual(verify([bad, second, named], [{ id: 'a', n: null }]).found, [
    '1 has no hash in place of its erased values',
  ])
})

test('an erasure names no record of an imported file that is not at hand', () => {
  const imported = { source: 'import', file: 'records.jsonl', sha256: 'unknown', records: 2 }
  const lines = erasure([imported, deleted('a', { n: 1 })], { seqs: [2], id: 'a', fields: ['n'] })
  const { found, unknownImport } = verify(lines, [{ id: 'b', n: 2 }])
  assert.deepEqual([found, unknownImport?.records], [[], 1])
  const ofOther = { source: 'erase', record_id: 'b', lines: [], values: { n: null }, previous: { n: null } }
  assert.deepEqual(verify([...lines, ofOther], [{ id: 'b', n: null }]).found, [])
})
