import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toBase64 } from './bytes.ts'
import { checkpointBody } from './checkpoint.ts'
import { checkProof, parseProof, type EntryProof } from './entry-proof.ts'
import { leafHash, parentHash } from './merkle.ts'
import { leafOfLine, NoteSigner, sha256, verifySignature } from './node-primitives.ts'

const PRIMITIVES = { sha256, verify: verifySignature }
const { signer } = NoteSigner.create('sheet.example')

const LINES = [
  '{"seq":1,"at":"t","actor":"a","source":"import","file":"records.jsonl","sha256":"00","records":2}',
  '{"seq":2,"at":"t","actor":"a","source":"write","record_id":"x","values":{"n":{"a":1,"b":[2]}},"previous":{"n":null}}',
  '{"seq":3,"at":"t","actor":"a","source":"http","record_id":"x","field":"name","value":"v","previous":null}',
]

/** Returns the proof of a line of a log of three lines. */
function proofOf(index: 0 | 1 | 2, cell: EntryProof['cell'], lines = LINES): EntryProof {
  const [one, two, three] = lines.map((line) => leafHash(sha256, Buffer.from(line))) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ]
  const left = parentHash(sha256, one, two)
  const body = checkpointBody({ origin: 'colophon/00', size: 3, root: parentHash(sha256, left, three) })
  const hashes = [[two, three], [one, three], [left]][index] as Uint8Array[]
  const line = lines[index] as string
  return { cell, seq: index + 1, line, index, hashes: hashes.map(toBase64), checkpoint: signer.sign(body) }
}

function check(
  proof: EntryProof,
  key = signer.key,
): { faults: readonly string[]; value: string | null; signature: string } {
  const read = parseProof(JSON.stringify(proof))
  assert.ok(read)
  const { faults, value, signature } = checkProof(PRIMITIVES, read, key)
  return { faults, value, signature }
}

const written = { record_id: 'x', field: 'n', value: { b: [2], a: 1 } }
const computed = { record_id: 'x', field: 'name', value: 'v' }

test('the proof of a value that is in its line holds', () => {
  assert.deepEqual(check(proofOf(1, written)), { faults: [], value: 'in the line', signature: 'signed' })
  assert.deepEqual(check(proofOf(2, computed)).faults, [])
  assert.deepEqual(check(proofOf(2, null)), { faults: [], value: null, signature: 'signed' })
})

test('a looked-up value is in its line', () => {
  const lines = LINES.with(2, (LINES[2] as string).replace('"http"', '"import"'))
  assert.deepEqual(check(proofOf(2, computed, lines)), {
    faults: [],
    value: 'in the line',
    signature: 'signed',
  })
})

test('the value of a record that an import created is in the line of several', () => {
  const rows = `"fields":["id","n","name"],"records":2,"rows":[["w",1,null],["x",{"a":1,"b":[2]},"v"]]`
  const line = `{"seq":2,"at":"t","actor":"a","source":"import","file":"people.csv","run_id":"1",${rows}}`
  const lines = LINES.with(1, line)
  assert.deepEqual(check(proofOf(1, written, lines)), {
    faults: [],
    value: 'in the line',
    signature: 'signed',
  })
  assert.deepEqual(check(proofOf(1, { ...written, value: 7 }, lines)).faults, [
    'The line has another value of the field "n": {"a":1,"b":[2]}.',
  ])
  assert.deepEqual(check(proofOf(1, { ...written, record_id: 'y' }, lines)).faults, [
    'The line is not about the record "y".',
  ])
  assert.deepEqual(check(proofOf(1, { ...written, field: 'other' }, lines)).faults, [
    'The line has no value of the field "other".',
  ])
})

test('an imported value is in the file whose hash is in the line', () => {
  assert.deepEqual(check(proofOf(0, computed)), {
    faults: [],
    value: 'in an imported file',
    signature: 'signed',
  })
})

test('Node.js hashes a line like a page', () => {
  for (const line of [...LINES, '', 'é\u{1f600}\u2028', '\0']) {
    assert.equal(toBase64(leafOfLine(line)), toBase64(leafHash(sha256, Buffer.from(line))))
  }
})

test('a proof of which any part was changed does not hold', () => {
  const proof = proofOf(1, written)
  const other = NoteSigner.create('sheet.example').signer
  const cases: readonly (readonly [EntryProof, RegExp])[] = [
    [{ ...proof, line: proof.line.replace('[2]', '[3]') }, /were changed/],
    [{ ...proof, index: 0 }, /were changed/],
    [{ ...proof, index: 3 }, /is no proof for line 4 of 3/],
    [{ ...proof, hashes: proof.hashes.toReversed() }, /were changed/],
    [{ ...proof, hashes: proof.hashes.slice(1) }, /It has 1 hashes/],
    [{ ...proof, seq: 3 }, /does not have the seq 3/],
    [
      { ...proof, cell: { ...written, value: { a: 1, b: [3] } } },
      /another value of the field "n": \{"a":1,"b":\[2\]\}/,
    ],
    [{ ...proof, cell: { ...written, record_id: 'y' } }, /not about the record "y"/],
    [{ ...proof, cell: { ...written, field: 'm' } }, /no value of the field "m"/],
    [
      { ...proof, checkpoint: proof.checkpoint.replace('colophon/00', 'colophon/01') },
      /signature of sheet.example is not/,
    ],
    [
      { ...proof, checkpoint: other.sign(proof.checkpoint.slice(0, proof.checkpoint.indexOf('\n\n') + 1)) },
      /no signature of the key/,
    ],
  ]
  for (const [changed, fault] of cases) {
    const { faults } = check(changed)
    assert.match(faults.join(' '), fault)
  }
})

test('a text that is no proof is none', () => {
  const proof = proofOf(1, written)
  const texts = [
    '',
    '[]',
    'null',
    ...Object.keys(proof)
      .filter((name) => name !== 'cell')
      .map((name) => JSON.stringify({ ...proof, [name]: null })),
    JSON.stringify({ ...proof, cell: {} }),
    JSON.stringify({ ...proof, index: 0.5 }),
    JSON.stringify({ ...proof, hashes: ['AA=='] }),
    JSON.stringify({ ...proof, checkpoint: 'x' }),
  ]
  for (const text of texts) assert.equal(parseProof(text), null, text)
})
