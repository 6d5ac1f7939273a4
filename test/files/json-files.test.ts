import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAll } from '../support/read-all.ts'
import { temporaryFile } from '../support/temporary-file.ts'

const RECORDS = [
  { id: 'a', list: [1, { x: null }] },
  { id: 'b', name: null },
]

test('JSON is an array of records, or a response of the service that contains one', async (t) => {
  for (const text of [
    JSON.stringify(RECORDS),
    JSON.stringify({ records: RECORDS, format: 'json', limit: 50, next_cursor: null }, null, 2),
    `\ufeff${JSON.stringify(RECORDS)}`,
  ]) {
    const { file, records } = await readAll(await temporaryFile(t, 'data.json', text), 'json')
    assert.deepEqual(records, RECORDS)
    assert.equal(file.fields, null)
  }
})

const FOUND: readonly (readonly [what: string, value: unknown, guess: string])[] = [
  ['GeoJSON', { type: 'FeatureCollection', bbox: [1, 2], features: RECORDS }, '"features"'],
  ['an answer with a list', { data: RECORDS, links: [], meta: { total: 2 } }, '"data"'],
  ['an answer with a list inside', { response: { found: 2, docs: RECORDS } }, '"response.docs"'],
  ['a name with a point', { 'a.b': { 'c/d': RECORDS } }, '"/a.b/c~1d"'],
  [
    'several lists',
    { one: [{ id: 'x' }], two: RECORDS, deep: { three: [...RECORDS, ...RECORDS] }, four: [1, 2, 3] },
    '"two"; there are "two" (2 items), "one" (1 item), "deep.three" (4 items)',
  ],
]

for (const [what, value, guess] of FOUND) {
  test(`the array of records in an object is found, and reported: ${what}`, async (t) => {
    for (const indent of [0, 2]) {
      const text = JSON.stringify(value, null, indent)
      const { file, records } = await readAll(await temporaryFile(t, 'data.json', text), 'json')
      assert.deepEqual(records, RECORDS)
      assert.deepEqual(file.guesses?.(), [`read the records of the array ${guess}`])
    }
  })
}

test('--records-at names the array, as members with points between them or as a JSON pointer', async (t) => {
  const text = JSON.stringify({ big: 'x'.repeat(1000), records: RECORDS, a: { 'b.c': [{ id: 'z' }] } })
  const source = await temporaryFile(t, 'data.json', text)
  const found = await readAll(source, 'json')
  assert.deepEqual([found.records, found.file.guesses?.()], [RECORDS, []])
  assert.deepEqual((await readAll(source, 'json', { recordsAt: '/a/b.c' })).records, [{ id: 'z' }])
  await assert.rejects(
    readAll(source, 'json', { recordsAt: 'a.b' }),
    /the file must be an object with an array of records at "a\.b"/,
  )
})

test('an object without an array of records, and several values in one file, are refused', async (t) => {
  const refused = async (text: string, fault: RegExp): Promise<void> =>
    assert.rejects(readAll(await temporaryFile(t, 'data.json', text), 'json'), { message: fault })
  await refused('{"a": [1, 2]}', /^data\.json: the file must be an array of records, or an object with one/)
  await refused('{"id": "a"}\n{"id": "b"}\n', /is NDJSON, to be read with --input-format ndjson/)
  await refused('"x"', /^data\.json:1, character 1: the file must be an array of records/)
})

test('members beside the records may be larger than any record', async (t) => {
  const text = `{"image": "${'x'.repeat(33 << 20)}", "items": [{"id": "a"}]}`
  const { records } = await readAll(await temporaryFile(t, 'data.json', text), 'json')
  assert.deepEqual(records, [{ id: 'a' }])
})

test('NDJSON is one record on each line, with or without a last line break', async (t) => {
  const text = `\ufeff${JSON.stringify(RECORDS[0])}\r\n\n${JSON.stringify(RECORDS[1])}`
  const { records, places } = await readAll(await temporaryFile(t, 'data.ndjson', text), 'ndjson')
  assert.deepEqual(records, RECORDS)
  assert.deepEqual(places, [1, 3])
})

test('a record of any size is in one batch, and batches end when they are large', async (t) => {
  const records = [
    { id: 'a', text: 'x'.repeat(5 << 20) },
    ...Array.from({ length: 2500 }, (_, n) => ({ id: `r${n}` })),
  ]
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  const { file, records: read } = await readAll(await temporaryFile(t, 'data.ndjson', text), 'ndjson')
  assert.deepEqual(read, records)
  const sizes: number[] = []
  for await (const batch of file.batches) sizes.push(batch.length)
  assert.deepEqual(sizes, [1, 1000, 1000, 500])
})

const FAULTS: readonly (readonly ['json' | 'ndjson', text: string, fault: RegExp])[] = [
  ['ndjson', '{"id":"a"}\n\n{"id":\n', /^data\.ndjson:3: not JSON: Unexpected end of JSON input$/],
  [
    'ndjson',
    '{"id":"a"}\n["b"]\n',
    /^data\.ndjson:2: a record must be a JSON object, got an array of 1 item$/,
  ],
  ['json', '[{"id":"a"},\n{"id":,}]', /^data\.json:2, record 2: not JSON: /],
  ['json', '[{"id":"a"},\n]', /^data\.json:2, record 2: not JSON: /],
  ['json', '[{"id":"a"},1]', /^data\.json:1, record 2: a record must be a JSON object, got 1$/],
  [
    'json',
    `[{"x":${'['.repeat(600)}${']'.repeat(600)}}]`,
    /^data\.json:1, record 1: nested more than 512 levels deep/,
  ],
]

for (const [format, text, fault] of FAULTS) {
  test(`${format} ${JSON.stringify(text.slice(0, 40))} is refused with its position`, async (t) => {
    const source = await temporaryFile(t, `data.${format}`, text)
    await assert.rejects(readAll(source, format), { type: 'ValidationError', message: fault })
  })
}

test('an endless line is refused before it fills the memory', async (t) => {
  const source = await temporaryFile(t, 'data.ndjson', Buffer.alloc(40 << 20, 'x'))
  await assert.rejects(readAll(source, 'ndjson'), /data\.ndjson:1: the record is longer than 32 MiB/)
  const json = await temporaryFile(
    t,
    'data.json',
    Buffer.concat([Buffer.from('["'), Buffer.alloc(40 << 20, 'x')]),
  )
  await assert.rejects(readAll(json, 'json'), /data\.json:1, record 1: the record is longer than 32 MiB/)
})
