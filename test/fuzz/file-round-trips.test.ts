import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { LOGICAL_TYPES, type LogicalType } from '../../src/contract/contract.ts'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { FILE_FORMATS, type FileFormat } from '../../src/files/io/file-format.ts'
import { exportRecords, type ExportQuery } from '../../src/sheet/transfer/export-records.ts'
import { importRecords } from '../../src/sheet/transfer/import-records.ts'
import type { ReadFileOptions } from '../../src/sheet/transfer/read-file-options.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import { contractText } from '../support/contract-with.ts'
import { fuzzRun } from '../support/fuzz.ts'
import { oddId, oddValue } from '../support/odd-records.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'
import { temporaryFile } from '../support/temporary-file.ts'

const ALL: Omit<ExportQuery, 'format'> = { fields: null, filter: null, sort: null, raw: false }

async function exported(sheet: Sheet, format: FileFormat, more: Partial<ExportQuery> = {}): Promise<Buffer> {
  return buffer((await exportRecords(sheet, { ...ALL, format, ...more })).bytes)
}

/** A contract with fields of every type, some twice and with odd names, and records that are hard to keep. */
function oddSheet(random: Random): { contract: string; records: JsonObject[] } {
  const names = ['constructor', 'select', '_', 'toString', 'Id2']
  const fields: [name: string, type: LogicalType][] = [
    ...LOGICAL_TYPES.map((type): [string, LogicalType] => [`f_${type}`, type]),
    ...names.map((name): [string, LogicalType] => [name, random.pick(LOGICAL_TYPES)]),
  ]
  const contract = contractText(fields.map(([name, type]) => `{name: ${name}, logicalType: ${type}}`))
  const records = Array.from({ length: 60 }, (_, number) =>
    Object.fromEntries([
      ['id', oddId(random, number)],
      ...fields.map(([name, type]) => [name, oddValue(random, type)] as const),
    ]),
  )
  return { contract, records }
}

/** An export has a pair of quotes for an empty text, most other programs for no value. */
function readOf(format: FileFormat): ReadFileOptions {
  return format === 'csv' ? { blank: 'empty' } : {}
}

const { count, random, again } = fuzzRun({ test: 1, fuzz: 50 })

for (let round = 0; round < count; round += 1) {
  const { contract, records } = oddSheet(random)
  for (const format of FILE_FORMATS) {
    test(`${format}: an export can be imported unchanged, for any values (round ${round}; ${again})`, async (t) => {
      const from = await openTestSheet(t, { contract, records, derivations: {} })
      const to = await openTestSheet(t, { contract, records: [], derivations: {} })
      const before = await exported(from, 'json')
      assert.deepEqual(JSON.parse(before.toString()), JSON.parse(JSON.stringify(records)))
      const file = await temporaryFile(t, `data.${format}`, await exported(from, format))
      const result = await importRecords(to, file, { format, actor: 'human:ann', read: readOf(format) })
      assert.deepEqual(result, {
        records: records.length,
        inserted: records.length,
        updated: 0,
        unchanged: 0,
        faults: [],
        faultCount: 0,
        written: true,
        preview: [],
        run: '1',
      })
      assert.equal((await exported(to, 'json')).toString(), before.toString())
      const second = await importRecords(to, file, { format, actor: 'human:ann', read: readOf(format) })
      assert.deepEqual([second.updated, second.unchanged], [0, records.length])
    })
  }
}

test('an export without the guard is imported unchanged without it, too', async (t) => {
  const { contract, records } = oddSheet(random)
  const from = await openTestSheet(t, { contract, records, derivations: {} })
  const to = await openTestSheet(t, { contract, records: [], derivations: {} })
  const file = await temporaryFile(t, 'data.csv', await exported(from, 'csv', { raw: true }))
  await importRecords(to, file, { format: 'csv', actor: 'human:ann', read: { raw: true, blank: 'empty' } })
  assert.equal((await exported(to, 'json')).toString(), (await exported(from, 'json')).toString())
})

test('a sheet without records can be exported and imported, with its columns if the format has them', async (t) => {
  const sheet = await openTestSheet(t, { records: [] })
  for (const format of FILE_FORMATS) {
    const file = await temporaryFile(t, `data.${format}`, await exported(sheet, format))
    const { records } = await importRecords(sheet, file, { format, actor: 'human:ann' })
    assert.equal(records, 0, format)
  }
})
