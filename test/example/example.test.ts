import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { materialize, type MaterializeResult } from '../../src/sheet/runs/materialize.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { readProvenance } from '../../src/sheet/cells/read-provenance.ts'
import { readStatus } from '../../src/sheet/cells/read-status.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { exampleSheet, type ExampleSheet } from '../support/example.ts'
import { odcsFaults, odcsSchemaMissing } from '../support/odcs-schema.ts'

const RECORDS = 249
const CURRENCIES = 153

let example: ExampleSheet
let sheet: Sheet
let firstRun: MaterializeResult
let firstRequests: number

before(async () => {
  example = await exampleSheet()
  sheet = await openSheet(example.path)
  firstRun = await run()
  firstRequests = example.api.requests
})

after(async () => {
  await sheet.close()
  await example.cleanup()
})

test('the contract is valid by the standard it follows', { skip: odcsSchemaMissing }, async () => {
  assert.deepEqual(odcsFaults(parse(await readFile(join(example.path, 'contract.yaml'), 'utf8'))), [])
})

test('a run fills every derived field except where the data does not exist', () => {
  const base = `http://127.0.0.1:${example.api.port}`
  const { materialized, skipped, failures } = firstRun
  const errors = failures.map(({ recordId, field, error }) => `${recordId}.${field}: ${error}`).toSorted()
  assert.deepEqual(errors, [
    `BV.time_zones: GET ${base}/countries/BV/time-zones -> 404`,
    `HM.time_zones: GET ${base}/countries/HM/time-zones -> 404`,
    `SJ.area_text: POST ${base}/format-number -> 422`,
  ])
  // Skipped: three currency fields of Antarctica, the offsets of the two islands without time zones, and the traffic of six territories.
  assert.deepEqual({ materialized, skipped }, { materialized: 12 * RECORDS - 3 - 11, skipped: 11 })
})

test('equal requests are sent once', () => {
  // names, time zones, week and area: one for each record; the offsets are asked for each list of time zones.
  assert.equal(firstRequests, 4 * RECORDS + CURRENCIES + (RECORDS - 2))
})

test('a record has its derived values, with the types of the contract', async () => {
  const india = await record('IN')
  assert.deepEqual([india['name_de'], india['name_fr'], india['name_ja']], ['Indien', 'Inde', 'インド'])
  assert.deepEqual([india['currency_name'], india['currency_digits']], ['Indian Rupee', 2])
  assert.deepEqual(india['utc_offsets'], ['+05:30'])
  assert.equal(india['week_starts_on'], 'Sunday')
  assert.deepEqual([india['area'], india['area_text']], [3287590, '32,87,590'])
  assert.equal(india['area_sq_mi'], 1269345.6)
  assert.deepEqual([india['traffic_side'], (await record('FR'))['traffic_side']], ['left', 'right'])
  assert.equal((await record('SJ'))['area_sq_mi'], null)
})

test('provenance explains a computed cell and an imported one', async () => {
  const computed = (await provenance('AT', 'currency_name')) as Record<string, unknown>
  assert.equal(computed['value'], 'Euro')
  assert.equal(computed['actor'], 'agent:test')
  assert.equal(computed['derivation'], 'currency.yaml')
  assert.equal(computed['url'], `http://127.0.0.1:${example.api.port}/currencies/EUR`)
  const imported = (await provenance('AT', 'capital')) as Record<string, unknown>
  assert.deepEqual([imported['value'], imported['source']], ['Vienna', 'import'])
})

test('a second run makes calls only for failed cells', async () => {
  const earlier = example.api.requests
  const { materialized, skipped, failures } = await run()
  assert.deepEqual([materialized, skipped, failures.length], [0, 12 * RECORDS - 3, 3])
  assert.equal(example.api.requests - earlier, 3)
})

test('status reports the three failures and the missing cells', async () => {
  const status = await readStatus(sheet, null)
  const counts = Object.entries(status).map(([field, { fresh, failed, missing }]) => [
    field,
    [fresh, failed, missing],
  ])
  assert.deepEqual(Object.fromEntries(counts), {
    name_de: [RECORDS, 0, 0],
    name_fr: [RECORDS, 0, 0],
    name_ja: [RECORDS, 0, 0],
    currency_name: [RECORDS - 1, 0, 1],
    currency_symbol: [RECORDS - 1, 0, 1],
    currency_digits: [RECORDS - 1, 0, 1],
    time_zones: [RECORDS - 2, 2, 0],
    utc_offsets: [RECORDS - 2, 0, 2],
    week_starts_on: [RECORDS, 0, 0],
    area_text: [RECORDS - 1, 1, 0],
    area_sq_mi: [RECORDS, 0, 0],
    traffic_side: [RECORDS - 6, 0, 6],
  })
})

function run(): Promise<MaterializeResult> {
  return materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'agent:test' })
}

async function record(id: string): Promise<Record<string, unknown>> {
  return JSON.parse(String((await getRecord(sheet, id, null)).json)) as Record<string, unknown>
}

function provenance(recordId: string, field: string): Promise<unknown> {
  return readProvenance(sheet, { recordId, field })
}
