import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_UNPACKED } from '../../src/files/io/file-bytes.ts'
import { FILE_FORMATS, FORMAT_FACTS } from '../../src/files/io/file-format.ts'
import { MAX_COLUMNS, MAX_RECORD_SIZE } from '../../src/files/io/file-limits.ts'
import { MAX_GROUP_BYTES, MAX_GROUP_VALUES } from '../../src/files/parquet/check-pages.ts'
import { PARQUET_LIMITS } from '../../src/files/parquet/read-parquet-file.ts'
import { GROUP_RECORDS } from '../../src/files/parquet/write-parquet.ts'
import { MAX_KEPT_PART, MAX_WORKSHEET } from '../../src/files/xlsx/workbook-archive.ts'
import { MAX_ROWS } from '../../src/files/xlsx/write-xlsx.ts'
import { MAX_CELL_LENGTH } from '../../src/files/xlsx/xlsx-text.ts'
import { LINEAGE_FACTS, LINEAGE_FORMATS } from '../../src/sheet/lineage/lineage-formats.ts'
import { JSON_DEPTH_LIMIT } from '../../src/sheet/json-body.ts'
import { code, codes, readPage, section, tableOf } from '../support/markdown.ts'

const page = readPage('docs/reference/files.md')
const MIB = 1 << 20

function grouped(number: number): string {
  return number.toLocaleString('en')
}

test('the reference lists exactly the formats of records, with their endings and content types', () => {
  const rows = tableOf(page, 'Format').rows.map(([format, endings, type]) => [
    code(format),
    codes(endings ?? ''),
    code(type),
  ])
  assert.deepEqual(
    rows,
    FILE_FORMATS.map((format) => [format, FORMAT_FACTS[format].endings, FORMAT_FACTS[format].contentType]),
  )
})

test('the reference lists exactly the formats of provenance, with their extensions and content types', () => {
  const { rows } = tableOf(section(page, 'Provenance for other tools'), 'Name')
  assert.deepEqual(
    rows.map(([format, , ending, type]) => [code(format), code(ending), code(type)]),
    LINEAGE_FORMATS.map((format) => [
      format,
      LINEAGE_FACTS[format].ending,
      LINEAGE_FACTS[format].contentType,
    ]),
  )
})

test('the limits of files are those of the reference', () => {
  const { rows } = tableOf(section(page, 'Import errors'), 'What')
  assert.deepEqual(
    rows.map(([, limit]) => limit),
    [
      `${MAX_RECORD_SIZE / MIB} MiB`,
      grouped(MAX_COLUMNS),
      `${JSON_DEPTH_LIMIT} levels`,
      `${MAX_KEPT_PART / MIB} MiB`,
      `${grouped(MAX_WORKSHEET / MIB)} MiB`,
      `${grouped(MAX_UNPACKED / MIB)} MiB`,
      `${grouped(MAX_GROUP_BYTES / MIB)} MiB`,
      grouped(MAX_GROUP_VALUES),
      `${grouped(PARQUET_LIMITS.heapMiB)} MiB, ${PARQUET_LIMITS.deadlineMs / 1000} s`,
    ],
  )
  assert.ok(
    section(page, 'XLSX').includes(
      `${grouped(MAX_ROWS - 1)} rows for records and a cell ${grouped(MAX_CELL_LENGTH)}`,
    ),
  )
  assert.ok(section(page, 'Parquet').includes(`at most ${grouped(GROUP_RECORDS)} records`))
})
