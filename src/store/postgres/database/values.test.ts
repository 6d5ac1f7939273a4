import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { contractText } from '../../../../test/support/contract-with.ts'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { LOGICAL_TYPES } from '../../../contract/contract.ts'
import { PostgresStore } from '../postgres-store.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'

const contract = parseContract(
  contractText(LOGICAL_TYPES.map((type) => `{name: ${type}_field, logicalType: ${type}}`)),
)
const fields = contract.fields.map(({ name }) => name)

const server = await startPostgres()
const store = await PostgresStore.open(server.freshUrl(), {
  definition: { contract, targets: [] },
  directory: null,
  actor: 'system:import',
  lockTimeoutMs: 5000,
  queryLimits: PATIENT_LIMITS,
  onSourceDiffers: () => undefined,
})
after(() => store.close())

let count = 0

/** Writes a record with these values, and answers with its JSON as a record, as one of a page, and as an input of a run. */
async function roundTrip(values: JsonObject): Promise<string[]> {
  const id = `r${(count += 1)}`
  const written = { id, ...values }
  await store.upsert({ body: { records: [written] }, defaultActor: 'human:ann', ifMatch: null })
  const names = Object.keys(written)
  const key = (await store.recordKeys([id])).get(id) ?? 0
  const page = await store.page({
    fields: names,
    limit: 1,
    after: { key: key - 1, values: [] },
    filter: null,
    sort: [],
    skip: 0,
  })
  const query = { targets: [], inputs: names, force: true, state: null, after: null, limit: 1, only: [key] }
  const [item] = await store.work(query)
  const plain = [String((await store.record(id, names))?.json), String(page.records).slice(1, -1)]
  const parsed = plain.map((text) => JSON.stringify(JSON.parse(text)))
  return [...parsed, JSON.stringify(item?.inputs), JSON.stringify(written)]
}

async function comesBack(values: JsonObject): Promise<void> {
  const forms = await roundTrip(values)
  for (const form of forms) assert.equal(form, forms.at(-1))
}

test('values of every type are read as they were written', async () => {
  await comesBack({
    string_field: 'x"\\\u2028\u0001\té\u{1f600}',
    integer_field: 9_007_199_254_740_991,
    number_field: 0.1,
    boolean_field: false,
    date_field: '2024-02-29',
    timestamp_field: '2024-03-10T14:22:35Z',
    time_field: '14:22:35.5+02:00',
    array_field: [1, 'x', null, [true]],
    object_field: { a: 1, b: { c: null } },
  })
  assert.equal(
    String((await store.record('r1', ['boolean_field', 'id']))?.json),
    '{"boolean_field":false,"id":"r1"}',
  )
})

const TIMESTAMPS = [
  '2024-03-10T14:22:35.120Z',
  '2024-03-10T14:22:35.000Z',
  '2024-03-10T14:22:35.000120Z',
  '2024-03-10T14:22:35.123400Z',
  '2024-03-10T14:22:35.1Z',
  '2024-03-10T14:22:35.1234567890123Z',
  '2024-03-10T14:22Z',
  '2024-03-10T14:22:35+02:00',
  '2024-03-10T14:22:35-00:00',
  '2016-12-31T23:59:60Z',
  '0000-01-01T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '0001-01-01T00:00:00.5Z',
  '9999-12-31T23:59:59.999999-23:59',
]

test('timestamps keep their offset and digits, and compare as moments', async () => {
  for (const text of TIMESTAMPS) await comesBack({ timestamp_field: text })
  const sql = "SELECT id FROM records WHERE timestamp_field = '2024-03-10T12:22:35Z'"
  await comesBack({ timestamp_field: '2024-03-10T14:22:35.000+02:00' })
  const { rows } = JSON.parse(String(await store.query({ sql, params: [] }))) as { rows: JsonObject[] }
  assert.deepEqual(
    rows.map(({ id }) => id),
    [`r${count - 7}`, `r${count}`],
  )
})

test('dates of year 0 are read as written', async () => {
  for (const text of ['0000-02-29', '0001-01-01', '9999-12-31']) await comesBack({ date_field: text })
})

test('objects keep the order of their keys, at any depth', async () => {
  const objects: JsonObject[] = [
    { b: 1, a: 2 },
    { a: { z: 1, y: [{ d: 1, c: 2 }] } },
    { aa: 1, b: 2 },
    { é: 1, zz: 2 },
    { '': null, '10': 1, '9': 2, b: 1 },
    {},
  ]
  for (const value of objects) await comesBack({ object_field: value, array_field: [value] })
})

test('numbers are exact, however large or small', async () => {
  for (const value of [1e308, 5e-324, 1e21, 0.1 + 0.2, -1.5e-7, 468, 2 ** 53])
    await comesBack({ number_field: value })
})

test('a new value replaces the old one, together with the text beside its column', async () => {
  await comesBack({ timestamp_field: '2024-03-10T14:22:35+02:00', object_field: { b: 1, a: 2 } })
  const id = `r${count}`
  const write = (values: JsonObject): Promise<unknown> =>
    store.upsert({ body: { records: [{ id, ...values }] }, defaultActor: 'human:ann', ifMatch: null })
  const read = async (): Promise<Record<string, JsonValue>> =>
    JSON.parse(String((await store.record(id, fields))?.json)) as Record<string, JsonValue>
  await write({ timestamp_field: '2025-01-01T00:00:00Z' })
  assert.equal((await read())['timestamp_field'], '2025-01-01T00:00:00Z')
  assert.equal(JSON.stringify((await read())['object_field']), '{"b":1,"a":2}')
  await write({ object_field: null })
  assert.equal((await read())['object_field'], null)
  assert.equal((await read())['timestamp_field'], '2025-01-01T00:00:00Z')
})
