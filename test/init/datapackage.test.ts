import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPromise } from 'yauzl'
import { tableSchema } from '../../src/files/table-schema.ts'
import { parseContract } from '../../src/contract/odcs/parse-contract.ts'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { exportDatapackage, writeDatapackage } from '../../src/sheet/transfer/export-datapackage.ts'
import { initSheet } from '../../src/sheet/lifecycle/init-sheet.ts'
import { contractText } from '../support/contract-with.ts'
import { allBytes, openUntilEnd, recordsOf, scratch } from '../support/init-files.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const PROPERTIES = [
  '{name: title, logicalType: string, required: true, businessName: Title, description: What it is called, logicalTypeOptions: {minLength: 1, maxLength: 50, pattern: "^[A-Z]"}}',
  '{name: mail, logicalType: string, unique: true, logicalTypeOptions: {format: email, pattern: "@|x"}}',
  '{name: state, logicalType: string, quality: [{metric: invalidValues, arguments: {validValues: [open, done]}, mustBe: 0}]}',
  '{name: amount, logicalType: number, logicalTypeOptions: {minimum: 0, exclusiveMaximum: 100, multipleOf: 0.5}}',
  '{name: count, logicalType: integer}',
  '{name: paid, logicalType: boolean}',
  '{name: day, logicalType: date, logicalTypeOptions: {minimum: "2020-01-01"}}',
  '{name: at, logicalType: timestamp}',
  '{name: clock, logicalType: time}',
  '{name: tags, logicalType: array, logicalTypeOptions: {minItems: 1, maxItems: 3, uniqueItems: true}}',
  '{name: place, logicalType: object, logicalTypeOptions: {maxProperties: 2}}',
  '{name: rate, logicalType: number, required: true}',
]

const RECORDS = [
  {
    id: 'a',
    title: 'A=SUM(A1)',
    mail: 'a@x.example',
    state: 'open',
    amount: 1.5,
    count: 3,
    paid: true,
    day: '2024-01-01',
    at: '2024-01-01T10:00Z',
    clock: '10:30',
    tags: ['x', 'y "z"'],
    place: { city: 'Bern, BE' },
  },
  { id: 'b', title: 'B\nb' },
]

const DERIVATION = 'targets: [rate]\ninputs: [title]\nkind: http\nurl: https://a.example/\nresponse_path: r\n'

test('a contract becomes a Table Schema that accepts everything that the contract accepts', () => {
  const contract = parseContract(contractText(PROPERTIES))
  const schema = tableSchema(contract, new Set(['rate']))
  assert.deepEqual(schema['primaryKey'], ['id'])
  assert.deepEqual(schema['missingValues'], [''])
  assert.deepEqual(schema['fields'], [
    { name: 'id', type: 'string', constraints: { required: true, unique: true } },
    {
      name: 'title',
      type: 'string',
      title: 'Title',
      description: 'What it is called',
      constraints: { required: true, minLength: 1, maxLength: 50, pattern: '^[A-Z]' },
    },
    {
      name: 'mail',
      type: 'string',
      format: 'email',
      constraints: { unique: true, pattern: String.raw`^[\s\S]*?(?:@|x)[\s\S]*$` },
    },
    { name: 'state', type: 'string', constraints: { enum: ['open', 'done'] } },
    { name: 'amount', type: 'number', constraints: { minimum: 0, exclusiveMaximum: 100 } },
    { name: 'count', type: 'integer' },
    { name: 'paid', type: 'boolean' },
    { name: 'day', type: 'date', constraints: { minimum: '2020-01-01' } },
    { name: 'at', type: 'datetime', format: 'any' },
    { name: 'clock', type: 'time', format: 'any' },
    { name: 'tags', type: 'array', constraints: { minLength: 1, maxLength: 3 } },
    { name: 'place', type: 'object', constraints: { maxLength: 2 } },
    { name: 'rate', type: 'number' },
  ])
})

test('a data package has the records with their types, and overwrites nothing', async (t) => {
  const root = await scratch(t)
  const directory = await writeSheet(t, {
    contract: contractText(PROPERTIES),
    records: RECORDS,
    derivations: { 'rate.yaml': DERIVATION },
  })
  const sheet = await openUntilEnd(t, directory)
  const target = join(root, 'package')
  await writeDatapackage(sheet, target)
  assert.deepEqual(readdirSync(target).toSorted(), ['contract.yaml', 'datapackage.json', 'records.csv'])
  const descriptor = JSON.parse(readFileSync(join(target, 'datapackage.json'), 'utf8')) as JsonObject
  assert.equal(descriptor['$schema'], 'https://datapackage.org/profiles/2.0/datapackage.json')
  assert.deepEqual([descriptor['name'], descriptor['version']], ['sample', '1.0.0'])
  const [data, contract] = descriptor['resources'] as readonly JsonObject[]
  const csv = readFileSync(join(target, 'records.csv'))
  assert.deepEqual(
    [data?.['path'], data?.['bytes'], data?.['hash']],
    ['records.csv', csv.length, `sha256:${createHash('sha256').update(csv).digest('hex')}`],
  )
  assert.equal(contract?.['path'], 'contract.yaml')
  await assert.rejects(writeDatapackage(sheet, target), {
    type: 'SheetError',
    message: /has a file datapackage\.json already/,
  })
})

test('a zipped data package has the same files, which become the same sheet again', async (t) => {
  const root = await scratch(t)
  const directory = await writeSheet(t, {
    contract: contractText(PROPERTIES.slice(0, -1)),
    records: RECORDS,
    derivations: {},
  })
  const sheet = await openUntilEnd(t, directory)
  const path = join(root, 'package.zip')
  await writeFile(path, await allBytes(exportDatapackage(sheet)))
  const zip = await openPromise(path, { autoClose: true })
  const files = new Map<string, string>()
  for await (const entry of zip.eachEntry()) {
    files.set(entry.fileName, String(await allBytes(await zip.openReadStreamPromise(entry))))
  }
  assert.deepEqual([...files.keys()], ['datapackage.json', 'contract.yaml', 'records.csv'])
  await assert.rejects(
    initSheet(
      join(root, 'x'),
      { kind: 'archive', file: { path, name: 'package.zip' }, maxBytes: 1e9 },
      { actor: null },
    ),
    { type: 'ValidationError', message: /is a data package: unpack it/ },
  )
  assert.ok(!existsSync(join(root, 'x')))
  await writeFile(join(root, 'records.csv'), files.get('records.csv') ?? '')
  await writeFile(join(root, 'contract.yaml'), files.get('contract.yaml') ?? '')
  await initSheet(
    join(root, 'again'),
    {
      kind: 'contract',
      contract: { path: join(root, 'contract.yaml'), name: 'contract.yaml' },
      schema: null,
      key: null,
      data: { file: { path: join(root, 'records.csv'), name: 'records.csv' }, format: 'csv' },
    },
    { actor: null },
  )
  const again = await openUntilEnd(t, join(root, 'again'))
  assert.deepEqual(await recordsOf(again), await recordsOf(sheet))
})
