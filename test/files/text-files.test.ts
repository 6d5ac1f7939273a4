import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { openBytes } from '../../src/files/io/file-bytes.ts'
import { inputFormatOf, type FileFormat } from '../../src/files/io/file-format.ts'
import type { ReadFileOptions } from '../../src/files/io/read-options.ts'
import { readAll } from '../support/read-all.ts'
import { temporaryFile } from '../support/temporary-file.ts'

interface Reading {
  readonly records: JsonObject[]
  readonly guesses: readonly string[]
}

async function read(
  t: TestContext,
  content: string | Buffer,
  { format = 'csv', ...options }: ReadFileOptions & { readonly format?: FileFormat } = {},
): Promise<Reading> {
  const { records, file } = await readAll(await temporaryFile(t, `data.${format}`, content), format, options)
  return { records, guesses: file.guesses?.() ?? [] }
}

/** Bytes in an encoding of one byte to a character. */
function bytesIn(label: string, text: string): Buffer {
  const table = new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))
  return Buffer.from(Array.from(text, (char) => table.indexOf(char)))
}

test('a file in latin-1 or windows-1252 is read, and the message shows a word of it', async (t) => {
  const text = 'id,name\na,plain\nb,"Zürich – Größe"\nc,5 €\n'
  const expected = [
    { id: 'a', name: 'plain' },
    { id: 'b', name: 'Zürich – Größe' },
    { id: 'c', name: '5 €' },
  ]
  const guesses = ['read as windows-1252, since it is not UTF-8: line 3 has "Zürich – Größe"']
  assert.deepEqual(await read(t, bytesIn('windows-1252', text)), { records: expected, guesses })
  const ndjson = expected.map((record) => JSON.stringify(record)).join('\n')
  assert.deepEqual((await read(t, bytesIn('windows-1252', ndjson), { format: 'ndjson' })).records, expected)
})

test('bytes that are not UTF-8 are found anywhere, and characters are not divided by chunks', async (t) => {
  const line = `${'ü'.repeat(9)},x\n`
  const lines = `id,name\n${line.repeat(20_000)}`
  const good = await read(t, lines)
  assert.deepEqual([good.records.length, good.guesses], [20_000, []])
  const late = Buffer.concat([
    Buffer.from(`id,name\n${'a,b\n'.repeat(100_000)}`),
    bytesIn('windows-1252', 'é,x\n'),
  ])
  const { records, guesses } = await read(t, late)
  assert.deepEqual(records.at(-1), { id: 'é', name: 'x' })
  assert.match(guesses[0] ?? '', /line 100002 has "é"$/)
})

test('other scripts are not taken for western languages, and are read if their encoding is named', async (t) => {
  const text = 'id,name\na,Привет мир\n'
  const bytes = bytesIn('windows-1251', text)
  await assert.rejects(read(t, bytes), {
    type: 'ValidationError',
    message: /^data\.csv:2: the file has bytes that are not UTF-8; name its encoding with --encoding/,
  })
  const { records, guesses } = await read(t, bytes, { encoding: 'windows-1251' })
  assert.deepEqual([records, guesses], [[{ id: 'a', name: 'Привет мир' }], []])
  const japanese = Buffer.from('69642c6e616d650a612c93fa967b0a', 'hex')
  await assert.rejects(read(t, japanese), /not UTF-8; name its encoding/)
  assert.deepEqual((await read(t, japanese, { encoding: 'Shift_JIS' })).records, [{ id: 'a', name: '日本' }])
})

test('a named encoding that does not fit, or is unknown, is refused', async (t) => {
  await assert.rejects(read(t, bytesIn('latin1', 'id\na\né\n'), { encoding: 'utf-8' }), {
    message: /^data\.csv:3: the file has bytes that are not UTF-8; save it again/,
  })
  await assert.rejects(read(t, 'id\n', { encoding: 'klingon' }), /the encoding "klingon" is not known/)
  await assert.rejects(read(t, 'PK', { format: 'xlsx', encoding: 'utf-8' }), {
    message: 'encoding is for csv, json, ndjson; the file is xlsx',
  })
})

test('UTF-16 is read with a byte order mark, as spreadsheets write it, and without', async (t) => {
  const text = 'id\tname\r\na\tÆrø; x\r\n'
  const records = [{ id: 'a', name: 'Ærø; x' }]
  assert.deepEqual(await read(t, Buffer.from(`\ufeff${text}`, 'utf16le')), { records, guesses: [] })
  const bare = Buffer.from(text, 'utf16le')
  assert.deepEqual(await read(t, bare), {
    records,
    guesses: ['read as UTF-16LE, since every other byte is zero'],
  })
  assert.deepEqual((await read(t, bare.swap16())).guesses, [
    'read as UTF-16BE, since every other byte is zero',
  ])
})

const SKIPPABLE = Buffer.from('502a4d1804000000deadbeef', 'hex')

test('text compressed with gzip or Zstandard is read, in one part or many', async (t) => {
  const text = Buffer.from(
    `id,name\n${Array.from({ length: 5000 }, (_, n) => `r${n},${'x'.repeat(n % 90)}`).join('\n')}`,
  )
  const [first, second] = [text.subarray(0, 7000), text.subarray(7000)]
  const packed: readonly Buffer[] = [
    gzipSync(text),
    Buffer.concat([gzipSync(first), gzipSync(second)]),
    zstdCompressSync(text),
    Buffer.concat([SKIPPABLE, zstdCompressSync(first), SKIPPABLE, zstdCompressSync(second)]),
  ]
  const plain = await read(t, text)
  for (const bytes of packed) {
    const source = await temporaryFile(t, 'data.csv', bytes)
    const { records, file } = await readAll(source, 'csv')
    assert.deepEqual(records, plain.records)
    assert.equal(file.progress(), 1)
  }
})

test('compressed text that is truncated or damaged is refused', async (t) => {
  const text = Buffer.from(`id\n${'a\n'.repeat(50_000)}`)
  for (const bytes of [
    gzipSync(text).subarray(0, -9),
    zstdCompressSync(text).subarray(0, -3),
    zstdCompressSync(text).subarray(0, 9),
    Buffer.concat([zstdCompressSync(text), Buffer.from('more')]),
    Buffer.from('28b52ffd09090909090909090909', 'hex'),
  ]) {
    await assert.rejects(read(t, bytes), {
      type: 'ValidationError',
      message: /^data\.csv: it cannot be decompressed as (?:gzip|zstd): /,
    })
  }
})

test('limits apply to decompressed bytes', async (t) => {
  for (const bytes of [gzipSync(Buffer.alloc(3 << 20)), zstdCompressSync(Buffer.alloc(3 << 20))]) {
    const { chunks } = await openBytes(await temporaryFile(t, 'data.csv', bytes), 2 << 20)
    const all = async (): Promise<void> => {
      for await (const _chunk of chunks) continue
    }
    await assert.rejects(all(), { message: 'data.csv: it is larger than 2 MiB once it is decompressed' })
  }
})

test("the ending of an input's name sets its format, compressed or not", () => {
  const formats = [
    'a.csv.gz',
    'A.TSV.ZST',
    'a.jsonl.gz',
    'a.geojson',
    'a.txt',
    'a.parquet',
    'a.parquet.gz',
    'a.gz',
  ]
  assert.deepEqual(formats.map(inputFormatOf), ['csv', 'csv', 'ndjson', 'json', 'csv', 'parquet', null, null])
})
