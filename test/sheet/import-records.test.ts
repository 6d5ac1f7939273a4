import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { OperationError } from '../../src/errors/service-error.ts'
import {
  ImportDeclined,
  importRecords,
  type ImportOptions,
  type ImportProgress,
} from '../../src/sheet/transfer/import-records.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { startMaterialize } from '../../src/sheet/runs/materialize.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'
import { contractText } from '../support/contract-with.ts'
import { makeWorkbook, worksheetXml } from '../support/make-workbook.ts'
import { temporaryFile } from '../support/temporary-file.ts'

async function importCsv(
  t: TestContext,
  sheet: Sheet,
  text: string,
  options: Partial<ImportOptions> = {},
): ReturnType<typeof importRecords> {
  const source = await temporaryFile(t, 'data.csv', text)
  return importRecords(sheet, source, { format: 'csv', actor: 'human:ann', ...options })
}

async function recordsOf(sheet: Sheet, ...fields: string[]): Promise<JsonObject[]> {
  return JSON.parse((await listRecords(sheet, { fields })).records.toString()) as JsonObject[]
}

test('an import inserts new records, updates changed ones, and skips equal ones', async (t) => {
  const sheet = await openTestSheet(t)
  const { run, ...result } = await importCsv(t, sheet, 'id,title,price\na,Apple,1.5\nb,Bean,3\nd,Date,4\n')
  assert.equal(run, '1')
  assert.deepEqual(result, {
    preview: [],
    records: 3,
    inserted: 1,
    updated: 1,
    unchanged: 1,
    faults: [],
    faultCount: 0,
    written: true,
  })
  assert.deepEqual(await recordsOf(sheet, 'id', 'price', 'currency'), [
    { id: 'a', price: 1.5, currency: 'EUR' },
    { id: 'b', price: 3, currency: 'USD' },
    { id: 'c', price: 0.25, currency: 'XXX' },
    { id: 'd', price: 4, currency: null },
  ])
})

test('an empty cell clears a value, unless empty ones are kept; a missing column changes nothing', async (t) => {
  const sheet = await openTestSheet(t)
  const kept = await importCsv(t, sheet, 'id,price\na,\n', { keepEmpty: true })
  assert.deepEqual([kept.updated, kept.unchanged], [0, 1])
  await importCsv(t, sheet, 'id,price\na,\n')
  assert.deepEqual((await recordsOf(sheet, 'id', 'price', 'title'))[0], {
    id: 'a',
    price: null,
    title: 'Apple',
  })
})

test('a file with errors is not written at all, and each error has its position', async (t) => {
  const sheet = await openTestSheet(t)
  const result = await importCsv(
    t,
    sheet,
    'id,title,price,owner_note\nx,"two\nlines",1,\na,Apple,cheap,\n,Nobody,1,\ny,,1,mine\nz,Zest,2,\n',
  )
  assert.deepEqual(
    result.faults.map(({ place, id, field }) => [place, id, field]),
    [
      ['data.csv:4', 'a', 'price'],
      ['data.csv:5', null, 'id'],
      ['data.csv:6', 'y', 'owner_note'],
      ['data.csv:6', 'y', 'title'],
    ],
  )
  assert.match(result.faults[0]?.message ?? '', /^"cheap" is not a number$/)
  assert.match(
    result.faults[2]?.message ?? '',
    /^actor "human:ann" may not write it; it is editable by agent:owner$/,
  )
  assert.deepEqual([result.written, result.faultCount], [false, 4])
  assert.equal((await recordsOf(sheet, 'id')).length, 3)
})

test('each JSON error on one line has the number of its record', async (t) => {
  const sheet = await openTestSheet(t)
  const source = await temporaryFile(
    t,
    'data.json',
    '[{"id":"a","price":1},{"id":"b","price":"x"},{"id":"c","price":"y"}]',
  )
  const { faults } = await importRecords(sheet, source, { format: 'json', actor: 'human:ann' })
  assert.deepEqual(
    faults.map(({ place }) => place),
    ['data.json:1, record 2', 'data.json:1, record 3'],
  )
})

test('guesses are reported before anything is written, and nothing is if they are wrong', async (t) => {
  const sheet = await openTestSheet(t)
  const told: string[] = []
  const options = { onGuess: (guess: string) => told.push(guess), confirm: () => Promise.resolve(false) }
  await assert.rejects(importCsv(t, sheet, '# list\nid,title\nd,Date\n', options), ImportDeclined)
  assert.deepEqual(told, ['passed over 1 line above the table: "# list"'])
  assert.equal((await recordsOf(sheet, 'id')).length, 3)
  // Without a guess, nobody is asked.
  assert.equal((await importCsv(t, sheet, 'id,title\nd,Date\n', options)).inserted, 1)
})

test('a file is written as it was checked, although it changes before that', async (t) => {
  const sheet = await openTestSheet(t)
  const source = await temporaryFile(t, 'data.csv', 'id,title,price\na,First,NA\nn,New,2\n')
  const confirm = async (): Promise<boolean> => {
    await writeFile(source.path, 'id,title,price\na,Changed,7\n')
    return true
  }
  const result = await importRecords(sheet, source, { format: 'csv', actor: 'human:ann', confirm })
  assert.deepEqual([result.records, result.inserted, result.updated], [2, 1, 1])
  const found = await recordsOf(sheet, 'id', 'title', 'price')
  assert.deepEqual(
    [found[0], found.at(-1)],
    [
      { id: 'a', title: 'First', price: null },
      { id: 'n', title: 'New', price: 2 },
    ],
  )
})

test('a formula without a value in the file keeps the value of the field', async (t) => {
  const sheet = await openTestSheet(t)
  const text = (place: string, value: string): string =>
    `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`
  const rows =
    `<row r="1">${text('A1', 'id')}${text('B1', 'price')}</row>` +
    `<row r="2">${text('A2', 'a')}<c r="B2"><f>1+1</f><v/></c></row><row r="3">${text('A3', 'b')}</row>`
  const workbook = await makeWorkbook({ 'xl/worksheets/sheet1.xml': worksheetXml(rows) })
  const source = await temporaryFile(t, 'data.xlsx', workbook)
  await importRecords(sheet, source, { format: 'xlsx', actor: 'human:ann' })
  assert.deepEqual(
    (await recordsOf(sheet, 'price')).map(({ price }) => price),
    [1.5, null, 0.25],
  )
})

test('the ids can be in a column with another name', async (t) => {
  const sheet = await openTestSheet(t)
  const { inserted } = await importCsv(t, sheet, 'No,title\nx,X\n', { key: 'No' })
  assert.equal(inserted, 1)
  const json = await temporaryFile(t, 'data.ndjson', '{"No":7,"title":"Seven"}\n')
  await importRecords(sheet, json, { format: 'ndjson', actor: 'human:ann', key: 'No' })
  assert.deepEqual(
    (await recordsOf(sheet, 'id')).map(({ id }) => id),
    ['a', 'b', 'c', 'x', '7'],
  )
  await assert.rejects(importCsv(t, sheet, 'nr,title\nx,X\n', { key: 'No' }), {
    message: 'data.csv has no column "No" for the key; it has "nr", "title"',
  })
  await assert.rejects(
    importCsv(t, sheet, 'No,id\nx,X\n', { key: 'No' }),
    /two columns are the field "id": "No" \(the key\) and "id"/,
  )
})

test('a dry run reports the effect of an import, and writes nothing', async (t) => {
  const sheet = await openTestSheet(t)
  const { store } = await sheet.current()
  const before = await store.history()
  const result = await importCsv(t, sheet, 'id,title,price\na,Apple,1.5\nb,Bean,3\nd,Date,4\n', {
    dryRun: true,
  })
  assert.deepEqual([result.inserted, result.updated, result.unchanged, result.written], [1, 1, 1, false])
  assert.deepEqual(await store.history(), before)
  assert.equal((await store.status()).total, 3)
})

test('all errors are counted and up to a hundred are listed', async (t) => {
  const sheet = await openTestSheet(t)
  const lines = Array.from({ length: 2500 }, (_, index) => `n${index},Title,x\n`).join('')
  const { faults, faultCount, records } = await importCsv(t, sheet, `id,title,price\n${lines}`)
  assert.deepEqual([faults.length, faultCount, records], [100, 2500, 2500])
})

test('without the check, records before an invalid one are written, and the message has the position', async (t) => {
  const sheet = await openTestSheet(t)
  const lines = Array.from(
    { length: 1500 },
    (_, index) => `n${index},Title,${index === 1200 ? 'x' : 1}\n`,
  ).join('')
  await assert.rejects(importCsv(t, sheet, `id,title,price\n${lines}`, { check: false }), {
    type: 'ValidationError',
    message:
      'data.csv:1202 (id "n1200"), field "price": "x" is not a number; the 1000 records up to data.csv:1001 are ' +
      'stored, and none after them; import the file again to continue',
  })
  assert.equal((await (await sheet.current()).store.status()).total, 1003)
})

test('one value of a unique field in two records of a file stops the import at the second', async (t) => {
  const contract = contractText(['{name: code, logicalType: string, unique: true}'])
  const sheet = await openTestSheet(t, { contract, records: [], derivations: {} })
  const lines = Array.from({ length: 5100 }, (_, index) => `n${index},${index === 5050 ? 7 : index}\n`).join(
    '',
  )
  await assert.rejects(importCsv(t, sheet, `id,code\n${lines}`), {
    type: 'ValidationError',
    message:
      /^data\.csv:5052 \(id "n5050"\), field "code": must be unique, but record "n7" .* the 5000 records up to data\.csv:5001 are stored/,
  })
})

test('D7: anyone may import a derived field with its present value or none, and another value only with permission', async (t) => {
  const sheet = await openTestSheet(t)
  const run = await startMaterialize(sheet, {
    targets: null,
    recordIds: null,
    force: false,
    only: null,
    limit: null,
    maxCalls: null,
    maxCost: null,
    actor: 'agent:run',
  })
  await run.done
  const same = await importCsv(t, sheet, 'id,title,rate\na,Apple,1\nb,Bean,\n')
  assert.deepEqual([same.unchanged, same.faultCount], [2, 0])
  assert.deepEqual((await recordsOf(sheet, 'rate')).slice(0, 2), [{ rate: 1 }, { rate: 0.9 }])
  const other = await importCsv(t, sheet, 'id,title,rate\na,Apple,2\n')
  assert.deepEqual(
    other.faults.map(({ place, field }) => [place, field]),
    [['data.csv:2', 'rate']],
  )
  assert.match(other.faults[0]?.message ?? '', /it is derived, so materialize computes it/)
})

const HEADERS: readonly (readonly [text: string, fault: RegExp])[] = [
  ['id,titel\n', /^data\.csv, column "titel": the contract has no such field; was title meant\?$/],
  ['title,price\n', /^data\.csv has no column id that identifies/],
]

for (const [text, fault] of HEADERS) {
  test(`the header ${JSON.stringify(text)} is refused before anything is read`, async (t) => {
    const sheet = await openTestSheet(t)
    await assert.rejects(importCsv(t, sheet, text), { type: 'ValidationError', message: fault })
  })
}

test('JSON is imported as written: null clears, an absent member keeps its value', async (t) => {
  const sheet = await openTestSheet(t)
  const source = await temporaryFile(
    t,
    'data.ndjson',
    '{"id":"a","price":null}\n{"id":"b","title":"Big bean"}\n',
  )
  await importRecords(sheet, source, { format: 'ndjson', actor: 'human:ann' })
  assert.deepEqual((await recordsOf(sheet, 'title', 'price')).slice(0, 2), [
    { title: 'Apple', price: null },
    { title: 'Big bean', price: 2 },
  ])
})

test('a number that would lose digits is an error with its text, in every text format', async (t) => {
  const sheet = await openTestSheet(t)
  const row = ['1234567890123456781', '0.1234567890123456789', '9007199254740993.5']
  const files = {
    csv: `id,price\n${row.map((price, index) => `d${index},${price}\n`).join('')}`,
    json: `[${row.map((price, index) => `{"id":"d${index}","price":${price}}`).join(',')}]`,
    ndjson: row.map((price, index) => `{"id":"d${index}","price":${price}}\n`).join(''),
  } as const
  for (const format of ['csv', 'json', 'ndjson'] as const) {
    const source = await temporaryFile(t, `data.${format}`, files[format])
    const { faults, written } = await importRecords(sheet, source, { format, actor: 'human:ann' })
    assert.equal(written, false)
    const shown = faults.flatMap(({ field, message }) => (field === 'price' ? [message.split(' ')[0]] : []))
    assert.deepEqual(shown, row, format)
  }
})

test('a number of a file is exact in each notation that a double represents', async (t) => {
  const sheet = await openTestSheet(t)
  await importCsv(t, sheet, 'id,price\na,0.10000000000000001\nb,1e-06\nc,1152921504606847000\n')
  assert.deepEqual(
    (await recordsOf(sheet, 'price')).map(({ price }) => price),
    [0.1, 1e-6, 1152921504606847000],
  )
})

const EVERYDAY = {
  contract: contractText([
    '{name: day, logicalType: date}',
    '{name: at, logicalType: timestamp}',
    '{name: n, logicalType: number}',
  ]),
  records: [],
  derivations: {},
}

test('dates, times and numbers in common notations are read if their column is unambiguous', async (t) => {
  const sheet = await openTestSheet(t, EVERYDAY)
  const csv = [
    'id,day,at,n',
    'a,03/04/2024,2024-01-01 10:30:00,"1,234"',
    'b,31/12/2024,03/04/2024 2:05 PM,"1,234.5"',
    'c,2024-01-01 00:00:00,12/31/2024,.5',
    'd,Jun 12 1998,2024-01-01,NA',
  ]
  const notes: string[] = []
  await importCsv(t, sheet, csv.join('\n'), { onGuess: (guess) => notes.push(guess) })
  assert.deepEqual(notes, ['field "n": "NA" in line 5: read as no value'])
  assert.deepEqual(await recordsOf(sheet, 'day', 'at', 'n'), [
    { day: '2024-04-03', at: '2024-01-01T10:30:00Z', n: 1234 },
    { day: '2024-12-31', at: '2024-03-04T14:05:00Z', n: 1234.5 },
    { day: '2024-01-01', at: '2024-12-31T00:00:00Z', n: 0.5 },
    { day: '1998-06-12', at: '2024-01-01T00:00:00Z', n: null },
  ])
})

test('an ambiguous column is refused, unless the order of dates is given', async (t) => {
  const sheet = await openTestSheet(t, EVERYDAY)
  const csv = 'id,day,n\na,03/04/2024,"1,234"\nb,05/06/2024,950\n'
  const notes: string[] = []
  const { faults } = await importCsv(t, sheet, csv, { onGuess: (guess) => notes.push(guess) })
  assert.deepEqual(notes, [
    'field "day": "03/04/2024" in line 2 may be 2024-04-03 or 2024-03-04; tell with --date-order dmy or mdy',
    'field "n": "1,234" in line 2 may be 1234 or 1.234',
  ])
  assert.deepEqual(
    faults.map(({ place, field, message }) => [place, field, message]),
    [
      ['data.csv:2', 'day', '"03/04/2024" is not a date (YYYY-MM-DD)'],
      ['data.csv:2', 'n', '"1,234" is not a number'],
      ['data.csv:3', 'day', '"05/06/2024" is not a date (YYYY-MM-DD)'],
    ],
  )
  await importCsv(t, sheet, 'id,day\na,03/04/2024\n', { read: { dateOrder: 'mdy' } })
  assert.deepEqual(await recordsOf(sheet, 'day'), [{ day: '2024-03-04' }])
  await importCsv(t, sheet, 'id,day\na,31/12/2024\nb,03/04/2024\n', { read: { dateOrder: 'mdy' } })
  assert.deepEqual(await recordsOf(sheet, 'day'), [{ day: '2024-12-31' }, { day: '2024-04-03' }])
})

test('a timestamp at midnight is a date, others are not', async (t) => {
  const sheet = await openTestSheet(t, EVERYDAY)
  const source = await temporaryFile(
    t,
    'data.json',
    '[{"id":"a","day":"2024-01-01T00:00:00Z"},{"id":"b","day":"2024-01-01T00:00:01Z"}]',
  )
  const { faults } = await importRecords(sheet, source, { format: 'json', actor: 'human:ann' })
  assert.deepEqual(
    faults.map(({ id, field }) => [id, field]),
    [['b', 'day']],
  )
})

test('numbers and booleans of a file with types are texts if the contract says string', async (t) => {
  const sheet = await openTestSheet(t)
  const content = '[{"id":7,"title":1.5},{"id":1234567890123456781,"title":true}]'
  const source = await temporaryFile(t, 'data.json', content)
  await importRecords(sheet, source, { format: 'json', actor: 'human:ann' })
  assert.deepEqual((await recordsOf(sheet, 'id', 'title')).slice(-2), [
    { id: '7', title: '1.5' },
    { id: '1234567890123456781', title: 'true' },
  ])
})

test('a cancelled import ends between two batches, and reports its progress', async (t) => {
  const sheet = await openTestSheet(t)
  const lines = Array.from({ length: 6000 }, (_, index) => `n${index},Title\n`).join('')
  const stop = new AbortController()
  const seen: ImportProgress[] = []
  await assert.rejects(
    importCsv(t, sheet, `id,title\n${lines}`, {
      signal: stop.signal,
      onProgress: (progress) => {
        seen.push(progress)
        if (progress.phase === 'write' && progress.records === 5000) stop.abort(new OperationError('stopped'))
      },
    }),
    { type: 'OperationError', message: /^stopped; the 5000 records up to data\.csv:5001 are stored/ },
  )
  assert.equal((await (await sheet.current()).store.status()).total, 5003)
  assert.deepEqual(
    seen.map(({ phase, records }) => [phase, records]),
    [...[1000, 2000, 3000, 4000, 5000, 6000].map((records) => ['check', records]), ['write', 5000]],
  )
  assert.ok(seen.every(({ share }) => share >= 0 && share <= 1))
})

test('without an actor nothing is read', async (t) => {
  const sheet = await openTestSheet(t)
  await assert.rejects(importCsv(t, sheet, 'id\n', { actor: null }), { message: 'actor is required' })
})
