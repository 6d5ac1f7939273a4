import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { suite, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { contractWith } from '../support/contract-with.ts'
import { initFrom, openUntilEnd, recordsOf, scratch } from '../support/init-files.ts'
import { makeWorkbook, worksheetXml } from '../support/make-workbook.ts'
import { runColophon } from '../support/run-colophon.ts'
import { inputFormatOf, type FileFormat } from '../../src/files/io/file-format.ts'
import { writeRecordFile } from '../../src/files/write-record-file.ts'
import { exportRecords } from '../../src/sheet/transfer/export-records.ts'
import { importRecords, type ImportOptions } from '../../src/sheet/transfer/import-records.ts'
import { initSheet } from '../../src/sheet/lifecycle/init-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { upsertFile, upsertStream } from '../../src/sheet/transfer/upsert-input.ts'

const CSV = 'zip_code,id,name.common,Größe (cm)\n01067,1,Ann,1.5\n01069,1,Bo,\n04103,2,,3\n'

const JSON_ROWS = [
  '{"zip_code":1067,"id":1,"name.common":"Ann","mixed":{"a":1}}',
  '{"id":1,"zip_code":1069,"name.common":null,"mixed":"x"}',
  '{"zip_code":4103,"id":2,"mixed":[1]}',
]

function cell(place: string, value: string): string {
  return `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`
}

async function workbook(): Promise<Buffer> {
  const rows = ['zip_code,id,name.common', '01067,1,Ann', '01069,1,Bo'].map((line, index) => {
    const cells = line.split(',').map((value, column) => cell(`${'ABC'[column]}${index + 1}`, value))
    return `<row r="${index + 1}">${cells.join('')}</row>`
  })
  return makeWorkbook({ 'xl/worksheets/sheet1.xml': worksheetXml(rows.join('')) })
}

/** A file whose columns have names that no field can have, as a contract with other names has them. */
async function parquet(): Promise<Buffer> {
  const { fields } = contractWith(
    '{name: zip_code, logicalType: string}',
    '{name: no, logicalType: integer}',
    '{name: name_common, logicalType: string}',
  )
  const columns = fields.slice(1).map((field) => ({
    ...field,
    name: { zip_code: 'zip_code', no: 'id', name_common: 'name.common' }[field.name] ?? field.name,
  }))
  const rows = [
    { zip_code: '01067', id: 1, 'name.common': 'Ann' },
    { zip_code: '01069', id: 1, 'name.common': null },
  ]
  const pages = Readable.from([Buffer.from(JSON.stringify(rows))])
  return buffer(writeRecordFile('parquet', { fields: columns, pages }))
}

const SHAPES: readonly (readonly [name: string, content: () => string | Uint8Array | Promise<Buffer>])[] = [
  ['data.csv', () => CSV],
  ['data.tsv', () => CSV.replaceAll(',', '\t')],
  ['data.csv.gz', () => gzipSync(CSV)],
  ['data.json', () => `[${JSON_ROWS.join(',')}]`],
  [
    'data.geojson',
    () =>
      JSON.stringify({
        type: 'FeatureCollection',
        features: JSON_ROWS.map((row, index) => ({
          'marine-id': 7 + index,
          properties: JSON.parse(row) as object,
        })),
      }),
  ],
  ['data.ndjson', () => JSON_ROWS.join('\n')],
  ['data.xlsx', workbook],
  ['data.parquet', parquet],
]

async function importFile(
  sheet: Sheet,
  path: string,
  options: Partial<ImportOptions> = {},
): ReturnType<typeof importRecords> {
  const format = inputFormatOf(path) ?? 'json'
  return importRecords(sheet, { path, name: basename(path) }, { format, actor: 'human:ann', ...options })
}

async function initAndOpen(
  t: TestContext,
  name: string,
  content: string | Uint8Array,
): Promise<{ sheet: Sheet; path: string; directory: string }> {
  const root = await scratch(t)
  const { directory } = await initFrom(root, [name, content])
  return { sheet: await openUntilEnd(t, directory), path: join(root, name), directory }
}

suite('a file that a sheet was made of', { concurrency: 2 }, () => {
  for (const [name, content] of SHAPES) {
    test(`${name} is imported again without a change, and so is every export of the sheet`, async (t) => {
      const { sheet, path } = await initAndOpen(t, name, await content())
      const before = await recordsOf(sheet)
      const { unchanged, faults, inserted, updated } = await importFile(sheet, path)
      assert.deepEqual([unchanged, inserted, updated, faults], [before.length, 0, 0, []])
      for (const format of ['csv', 'ndjson'] as const satisfies readonly FileFormat[]) {
        const query = { format, fields: null, filter: null, sort: null, raw: false }
        const file = join(await scratch(t), `out.${format}`)
        await writeFile(file, await buffer((await exportRecords(sheet, query)).bytes))
        const again = await importFile(sheet, file, { read: format === 'csv' ? { blank: 'empty' } : {} })
        assert.deepEqual([again.unchanged, again.faults], [before.length, []])
      }
    })
  }

  test('is imported by the command line', async (t) => {
    const root = await scratch(t)
    const [file, sheet] = [join(root, 'data.csv'), join(root, 'sheet')]
    await writeFile(file, CSV)
    assert.equal((await runColophon(['init', sheet, '--from', file])).code, 0)
    const { stdout, stderr } = await runColophon(['import', sheet, file, '--actor', 'human:ann'])
    assert.equal(stderr, '')
    const { inserted, updated, unchanged } = JSON.parse(stdout) as Record<string, number>
    assert.deepEqual([inserted, updated, unchanged], [0, 0, 3])
  })

  test('is upserted, as a file and as a stream', async (t) => {
    const { sheet, path } = await initAndOpen(t, 'data.csv', CSV)
    const before = await recordsOf(sheet)
    const options = { format: null, actor: 'human:ann' }
    assert.equal((await upsertFile(sheet, path, options)).inserted, 0)
    const ndjson =
      '{"zip_code":1067,"id":9,"name.common":"Anna"}\n{"id":1069,"original_id":1,"name_common":"Bo"}\n{"id":"01069","name_common":"Bob"}\n'
    await upsertStream(sheet, { stream: Readable.from([Buffer.from(ndjson)]), name: 'in' }, options)
    const [first, ...rest] = before
    assert.deepEqual(await recordsOf(sheet), [
      first,
      { ...rest[0], name_common: 'Bob' },
      rest[1],
      { ...first, id: '1067', original_id: 9, name_common: 'Anna', Grosse_cm: null },
      { ...first, id: '1069', original_id: 1, name_common: 'Bo', Grosse_cm: null },
    ])
  })

  test('works with the contract of the sheet in any place', async (t) => {
    const { sheet, path, directory } = await initAndOpen(t, 'data.csv', CSV)
    const copy = join(await scratch(t), 'copy')
    await initSheet(copy, {
      kind: 'contract',
      contract: { path: join(directory, 'contract.yaml'), name: 'contract.yaml' },
      schema: null,
      data: { file: { path, name: 'data.csv' }, format: 'csv' },
      key: null,
    })
    assert.deepEqual(await recordsOf(await openUntilEnd(t, copy)), await recordsOf(sheet))
  })
})

test('a file with the original name of a field and its name is refused, and so is an ambiguous one', async (t) => {
  const { sheet } = await initAndOpen(t, 'data.csv', CSV)
  const root = await scratch(t)
  const attempt = async (name: string, text: string, more: Partial<ImportOptions> = {}): Promise<unknown> => {
    await writeFile(join(root, name), text)
    return importFile(sheet, join(root, name), more)
  }
  const both =
    /two columns are the field "name_common": "name_common" and "name.common" \(an original name of it\)/
  const row = '{"zip_code":"9","id":"9","name_common":"x","name.common":"x"}'
  await assert.rejects(attempt('a.csv', 'zip_code,name_common,name.common\n1,x,y\n'), { message: both })
  await assert.rejects(attempt('a.ndjson', `{"zip_code":"8"}\n${row}`), {
    message: new RegExp(`^a\\.ndjson:2: ${both.source}`),
  })
  await assert.rejects(attempt('b.csv', 'id,name.common\n01067,x\n'), {
    message:
      'b.csv: the column "id" can be the field "id" or "original_id"; if it has the ids, use --key id, or rename it in the file',
  })
  const { updated } = (await attempt('b.csv', 'id,name.common\n01067,x\n', { key: 'id' })) as {
    updated: number
  }
  assert.equal(updated, 1)
  await assert.rejects(attempt('c.csv', 'zip_code,name.comon\n1,x\n'), {
    message:
      /column "name\.comon": the contract has no such field; was name_common \("name\.common"\) meant\?$/,
  })
  await assert.rejects(attempt('d.csv', 'name.common\nx\n'), {
    message: /^d\.csv has no column id, nor "zip_code", that identifies records; name another/,
  })
})

test('records that init numbered are numbered by an import on request only', async (t) => {
  const text = 'id,amount\n1,1.5\n1,1.5\n2,2.5\n'
  const { sheet, path } = await initAndOpen(t, 'data.csv', text)
  const before = await recordsOf(sheet)
  assert.deepEqual(
    before.map(({ id, original_id }) => [id, original_id]),
    [
      ['1', 1],
      ['2', 1],
      ['3', 2],
    ],
  )
  await assert.rejects(importFile(sheet, path), {
    message:
      'data.csv: the column "id" can be the field "id" or "original_id"; if it has the ids, use --key id, else --no-key, or rename it in the file',
  })
  const same = await importFile(sheet, path, { key: false })
  assert.deepEqual([same.unchanged, same.inserted, same.updated], [3, 0, 0])
  await writeFile(path, `${text}7,9.5\n`)
  assert.equal((await importFile(sheet, path, { key: false })).inserted, 1)
  await writeFile(path, 'amount\n1.5\n')
  await assert.rejects(importFile(sheet, path), {
    message:
      /^data\.csv has no column id, and the ids of this sheet are the numbers of the records .*; use --no-key to number/,
  })
  const other = await initAndOpen(t, 'other.csv', CSV)
  await assert.rejects(importFile(other.sheet, other.path, { key: false }), {
    message: /^the ids of this sheet are not the numbers of records .*; leave out --no-key$/,
  })
})

test('ids that are joined from several fields are joined again', async (t) => {
  const root = await scratch(t)
  const contract = join(root, 'their.yaml')
  await writeFile(
    contract,
    [
      'apiVersion: v3.1.0\nkind: DataContract\nid: x\nversion: 1.0.0\nschema:\n  - name: lines\n    properties:',
      '      - {name: order-no, physicalName: ord, businessName: Order, logicalType: string, primaryKey: true, primaryKeyPosition: 1}',
      '      - {name: line, logicalType: integer, primaryKey: true, primaryKeyPosition: 2}',
      '      - {name: text, logicalType: string}\n',
    ].join('\n'),
  )
  const path = join(root, 'lines.csv')
  await writeFile(path, 'order-no,line,text\nA,1,x\nA,2,y\n')
  const directory = join(root, 'sheet')
  await initSheet(directory, {
    kind: 'contract',
    contract: { path: contract, name: 'their.yaml' },
    schema: null,
    data: { file: { path, name: 'lines.csv' }, format: 'csv' },
    key: null,
  })
  const sheet = await openUntilEnd(t, directory)
  const text = await readFile(join(directory, 'contract.yaml'), 'utf8')
  assert.match(text, /property: originalName\n\s+value: order-no/)
  assert.match(text, /property: idFrom\n\s+value:\n\s+- order_no\n\s+- line/)
  assert.equal((await importFile(sheet, path)).unchanged, 2)
  await upsertFile(sheet, path, { format: null, actor: 'human:ann' })
  const ndjson = join(root, 'lines.ndjson')
  await writeFile(ndjson, '{"ord":"A","line":2,"text":"z"}\n{"Order":"B","line":1}\n')
  const result = await importFile(sheet, ndjson)
  assert.deepEqual([result.inserted, result.updated], [1, 1])
  assert.deepEqual(
    (await recordsOf(sheet)).map(({ id, text: value }) => [id, value]),
    [
      ['A:1', 'x'],
      ['A:2', 'z'],
      ['B:1', null],
    ],
  )
})
