import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { ByteWriter, ParquetWriter, type ColumnSource } from 'hyparquet-writer'
import { parquetMetadata, type SchemaElement } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { WrittenNumber } from '../../src/contract/json/written-number.ts'
import { checkPages, type PageBudget } from '../../src/files/parquet/check-pages.ts'
import { openParquet } from '../../src/files/parquet/parquet-records.ts'
import { readParquetFile } from '../../src/files/parquet/read-parquet-file.ts'
import type { RawRecords } from '../../src/files/io/raw-records.ts'
import { readAll } from '../support/read-all.ts'
import { temporaryFile } from '../support/temporary-file.ts'

type Codec = 'UNCOMPRESSED' | 'SNAPPY' | 'GZIP' | 'ZSTD'

interface Column extends Omit<ColumnSource, 'name'> {
  readonly schema: Omit<SchemaElement, 'name'>
}

/** The bytes of a Parquet file as another program could have written it. */
function makeParquet(columns: Readonly<Record<string, Column>>, codec: Codec = 'SNAPPY', groups = 1): Buffer {
  const writer = new ByteWriter()
  const schema = Object.entries(columns).map(([name, column]) => ({ name, ...column.schema }))
  const file = new ParquetWriter({
    writer,
    codec,
    compressors: { GZIP: gzipSync, ZSTD: zstdCompressSync },
    schema: [{ name: 'root', num_children: schema.length }, ...schema],
  })
  const columnData = Object.entries(columns).map(([name, { schema: _schema, ...column }]) => ({
    name,
    ...column,
  }))
  for (let group = 0; group < groups; group += 1) void file.write({ columnData })
  void file.finish()
  return Buffer.from(writer.getBytes())
}

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' } as const

async function read(t: TestContext, bytes: Uint8Array): Promise<JsonObject[]> {
  return (await readAll(await temporaryFile(t, 'data.parquet', bytes), 'parquet')).records
}

test('columns of other programs become JSON values, dates and times with every digit', async (t) => {
  const optional = { repetition_type: 'OPTIONAL' } as const
  const timestamp = (unit: 'MILLIS' | 'MICROS' | 'NANOS') =>
    ({
      type: 'INT64',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit },
      ...optional,
    }) as const
  const [record] = await read(
    t,
    makeParquet({
      id: { data: ['a'], schema: { ...TEXT, repetition_type: 'REQUIRED' } },
      i32: { data: [-7], schema: { type: 'INT32', ...optional } },
      i64: { data: [2n ** 53n - 1n], schema: { type: 'INT64', ...optional } },
      huge: { data: [2n ** 53n], schema: { type: 'INT64', ...optional } },
      x: { data: [0.1], schema: { type: 'DOUBLE', ...optional } },
      nan: { data: [NaN], schema: { type: 'DOUBLE', ...optional } },
      yes: { data: [true], schema: { type: 'BOOLEAN', ...optional } },
      none: { data: [null], schema: TEXT },
      empty: { data: [''], schema: TEXT },
      day: { data: [-719528], schema: { type: 'INT32', converted_type: 'DATE', ...optional } },
      ms: { data: [1709210096789n], schema: timestamp('MILLIS') },
      us: { data: [-1n], schema: timestamp('MICROS') },
      ns: { data: [1709210096000000001n], schema: timestamp('NANOS') },
      time: { data: [45296789000n], schema: { type: 'INT64', converted_type: 'TIME_MICROS', ...optional } },
      json: { data: [{ a: [1, null] }], schema: { type: 'BYTE_ARRAY', converted_type: 'JSON', ...optional } },
    }),
  )
  assert.deepEqual(record, {
    id: 'a',
    i32: -7,
    i64: 9007199254740991,
    huge: new WrittenNumber('9007199254740992'),
    x: 0.1,
    nan: 'NaN',
    yes: true,
    none: null,
    empty: '',
    day: '0000-01-01',
    ms: '2024-02-29T12:34:56.789Z',
    us: '1969-12-31T23:59:59.999999Z',
    ns: '2024-02-29T12:34:56.000000001Z',
    time: '12:34:56.789',
    json: { a: [1, null] },
  })
})

test('decimals are read digit by digit: numbers if a double represents them, at any depth', async (t) => {
  const decimal = (type: 'INT32' | 'INT64' | 'FIXED_LEN_BYTE_ARRAY' | 'BYTE_ARRAY', scale: number) =>
    ({
      type,
      logical_type: { type: 'DECIMAL', precision: 38, scale },
      repetition_type: 'OPTIONAL',
      ...(type === 'FIXED_LEN_BYTE_ARRAY' ? { type_length: 16 } : {}),
    }) as const
  const bytes = (value: bigint): Uint8Array =>
    Buffer.from(BigInt.asUintN(128, value).toString(16).padStart(32, '0'), 'hex')
  const cents = Array.from({ length: 200 }, (_, index) => index - 100)
  const wide = 12345678901234567890123456789012345678n
  const records = await read(
    t,
    makeParquet({
      id: { data: cents.map((cent) => `id ${cent}`), schema: TEXT },
      i32: { data: cents, schema: decimal('INT32', 2) },
      i64: { data: cents.map(BigInt), schema: decimal('INT64', 2) },
      fixed: { data: cents.map((cent) => bytes(BigInt(cent))), schema: decimal('FIXED_LEN_BYTE_ARRAY', 2) },
      long: { data: cents.map((cent) => bytes(BigInt(cent))), schema: decimal('BYTE_ARRAY', 2) },
      wide: {
        data: cents.map((cent) => bytes(wide - BigInt(cent))),
        schema: decimal('FIXED_LEN_BYTE_ARRAY', 6),
      },
    }),
  )
  for (const [index, record] of records.entries()) {
    const number = Number((cents[index]! / 100).toFixed(2))
    for (const name of ['i32', 'i64', 'fixed', 'long']) assert.equal(record[name], number, name)
    const text = String(wide - BigInt(cents[index]!))
    assert.deepEqual(record['wide'], new WrittenNumber(`${text.slice(0, -6)}.${text.slice(-6)}`))
  }
})

test('nested decimals and times of pyarrow are read as those of columns are', async (t) => {
  const [first] = await read(t, await readFile(join(ELSEWHERE, 'nested-decimals.parquet')))
  assert.deepEqual(first, {
    key: 0.57,
    struct: { a: 0.57, list: [0.57, null] },
    map: { k: 0.57 },
    times: ['10:30:00.5'],
  })
})

for (const codec of ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD'] as const) {
  test(`row groups compressed as ${codec} are read one after the other`, async (t) => {
    const ids = Array.from({ length: 1500 }, (_, index) => `id ${index}`)
    const source = await temporaryFile(
      t,
      'data.parquet',
      makeParquet({ id: { data: ids, schema: TEXT } }, codec, 2),
    )
    const { records, places, file } = await readAll(source, 'parquet')
    assert.deepEqual(
      records.map(({ id }) => id),
      [...ids, ...ids],
    )
    assert.deepEqual([places[0], places.at(-1), file.progress()], [1, 3000, 1])
  })
}

const ELSEWHERE = join(import.meta.dirname, 'elsewhere')

for (const name of ['lz4-raw', 'delta-byte-array', 'delta-byte-array-v2']) {
  test(`a file that pyarrow wrote is read: ${name}`, async (t) => {
    const records = await read(t, await readFile(join(ELSEWHERE, `${name}.parquet`)))
    assert.deepEqual(
      records.map(({ id }) => id),
      Array.from({ length: 20 }, (_, index) => `id ${index}`),
    )
  })

  test(`any changed byte of ${name} leads to a read or a refusal, without a hang`, async (t) => {
    await spoilEachByte(t, await readFile(join(ELSEWHERE, `${name}.parquet`)))
  })
}

test('bytes that the file does not call text are base64, in lists too', async (t) => {
  assert.deepEqual(await read(t, await readFile(join(ELSEWHERE, 'binary.parquet'))), [
    { id: 'a', blob: '/wA=', blobs: ['/g=='] },
    { id: 'b', blob: 'YWJj', blobs: [] },
    { id: 'c', blob: null, blobs: null },
  ])
})

test('enums and BSON of other programs are text and bytes', async (t) => {
  const optional = { repetition_type: 'OPTIONAL' } as const
  const data = [Buffer.from('red')]
  const [record] = await read(
    t,
    makeParquet({
      colour: { data, schema: { type: 'BYTE_ARRAY', converted_type: 'ENUM', ...optional } },
      bson: { data, schema: { type: 'BYTE_ARRAY', converted_type: 'BSON', ...optional } },
    }),
  )
  assert.deepEqual(record, { colour: 'red', bson: 'cmVk' })
})

test('a page of DELTA_BYTE_ARRAY counts with the size of its decoded values', async () => {
  const bytes = await readFile(join(ELSEWHERE, 'delta-byte-array.parquet'))
  const column = parquetMetadata(new Uint8Array(bytes)).row_groups[0]?.columns[0]?.meta_data ?? assert.fail()
  const start = Number(column.data_page_offset)
  const chunk = new Uint8Array(bytes).buffer.slice(start, start + Number(column.total_compressed_size))
  const levels = { repetition: false, definition: true }
  const budget = { bytes: 10_000, values: 20 }
  checkPages(chunk, column, { name: 'data.parquet', budget, levels })
  const values = 'id 0'.length * 10 + 'id 10'.length * 10
  const spent = 10_000 - budget.bytes
  const page = parquetHeader({ view: new DataView(chunk), offset: 0 }).uncompressed_page_size
  assert.equal(spent, page + values)
  assert.throws(
    () =>
      checkPages(chunk, column, { name: 'data.parquet', budget: { bytes: spent - 1, values: 20 }, levels }),
    /write the file with smaller row groups/,
  )
})

test('a file that is not Parquet, or is truncated, is refused', async (t) => {
  const bytes = makeParquet({ id: { data: ['a'], schema: TEXT } })
  for (const part of [Buffer.from('PAR1'), Buffer.from('id,x\n1,2\n3,4\n5,6\n'), bytes.subarray(0, -9)]) {
    await assert.rejects(read(t, part), {
      type: 'ValidationError',
      message: /^data\.parquet is no Parquet file/,
    })
  }
  const wrong = Buffer.from(bytes)
  wrong.writeUInt32LE(0x7fffffff, wrong.length - 8)
  await assert.rejects(read(t, wrong), /what it says about itself is larger than possible/)
})

test('bytes that are not UTF-8 are refused', async (t) => {
  const data = [Buffer.from('ä', 'latin1')]
  await assert.rejects(read(t, makeParquet({ id: { data, schema: TEXT } })), {
    type: 'ValidationError',
    message: /^data\.parquet, column "id": it cannot be read as Parquet: /,
  })
})

test('any changed byte of a file leads to a read or a refusal, without a hang', async (t) => {
  const bytes = makeParquet({
    id: { data: Array.from({ length: 50 }, (_, index) => `id ${index % 7}`), schema: TEXT },
    n: {
      data: Array.from({ length: 50 }, (_, index) => index),
      schema: { type: 'INT32', repetition_type: 'OPTIONAL' },
    },
  })
  const refused = await spoilEachByte(t, bytes)
  assert.ok(refused > 100, `${refused} were refused`)
})

/** Reads a file once for each of its bytes, with another value there; returns how often it was refused. */
async function spoilEachByte(t: TestContext, bytes: Buffer): Promise<number> {
  const source = await temporaryFile(t, 'data.parquet', bytes)
  let refused = 0
  for (let at = 4; at < bytes.length - 4; at += 1) {
    const wrong = Buffer.from(bytes)
    wrong[at] = at % 2 === 0 ? 0xff : 0x7f
    await writeFile(source.path, wrong)
    try {
      // In this thread: one for each would take long.
      const file = await openParquet(source)
      for await (const _batch of file.batches()) continue
    } catch (error) {
      assert.equal((error as { type?: string }).type, 'ValidationError', `byte ${at}: ${String(error)}`)
      refused += 1
    }
  }
  return refused
}

test('a row group that exceeds the memory limit is refused, and the process continues', async (t) => {
  const data = Array.from({ length: 400_000 }, (_, index) => `text number ${index}`)
  const source = await temporaryFile(t, 'data.parquet', makeParquet({ id: { data, schema: TEXT } }))
  const file = await readParquetFile(source, { heapMiB: 16, deadlineMs: 60_000 }).catch(
    (error: unknown) => error,
  )
  await assert.rejects(
    async () => {
      if (file instanceof Error) throw file
      for await (const _batch of (file as RawRecords).batches) continue
    },
    { type: 'ValidationError', message: /^data\.parquet: a row group takes more than 16 MiB of memory/ },
  )
})

test('a row group that exceeds the time limit is refused', async (t) => {
  const source = await temporaryFile(t, 'data.parquet', makeParquet({ id: { data: ['a'], schema: TEXT } }))
  await assert.rejects(readParquetFile(source, { heapMiB: 256, deadlineMs: 0 }), {
    type: 'ValidationError',
    message: /^data\.parquet: a row group takes more than 0 s to read/,
  })
})

test('pages that claim more values than their column, or than fit, are refused before memory is allocated', () => {
  const bytes = makeParquet({ id: { data: ['a', null], schema: TEXT } }, 'UNCOMPRESSED')
  const metadata = parquetMetadata(new Uint8Array(bytes))
  const column = metadata.row_groups[0]?.columns[0]?.meta_data ?? assert.fail()
  const start = Number(column.data_page_offset)
  const chunk = new Uint8Array(bytes).buffer.slice(start, start + Number(column.total_compressed_size))
  const check = (num_values: bigint, budget: PageBudget): void =>
    checkPages(
      chunk,
      { ...column, num_values },
      { name: 'data.parquet', budget, levels: { repetition: false, definition: true } },
    )
  check(2n, { bytes: 1000, values: 2 })
  assert.throws(() => check(1n, { bytes: 1000, values: 2 }), /a column has more values than it states/)
  assert.throws(() => check(2n, { bytes: 1000, values: 1 }), /write the file with smaller row groups/)
  assert.throws(() => check(2n, { bytes: 1, values: 2 }), /write the file with smaller row groups/)
})
