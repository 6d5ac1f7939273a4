import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { listRecords, type ListRecordsQuery } from '../../src/sheet/queries/list-records.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

interface Listed {
  readonly records: readonly JsonObject[]
  readonly ids: string
  readonly limit: number
  readonly nextCursor: string | null
}

async function list(sheet: Sheet, query: Partial<ListRecordsQuery> = {}): Promise<Listed> {
  const { records: text, ...rest } = await listRecords(sheet, query)
  const records = JSON.parse(String(text)) as JsonObject[]
  return { records, ids: records.map(({ id }) => String(id)).join(' '), ...rest }
}

const write = (sheet: Sheet, ...records: JsonObject[]): Promise<unknown> =>
  upsertRecords(sheet, { records, actor: 'user:ann' })

test('D12: a record has every field of the contract in its order, null without a value, or exactly the requested fields', async (t) => {
  const sheet = await openTestSheet(t)
  const apple = '{"id":"a","title":"Apple","price":1.5,"currency":"EUR","owner_note":null,"rate":null}'
  assert.equal(String((await getRecord(sheet, 'a', null)).json), apple)
  assert.equal(String((await listRecords(sheet, { limit: 1 })).records), `[${apple}]`)
  assert.equal(
    String((await getRecord(sheet, 'a', ['rate', 'title', 'id'])).json),
    '{"rate":null,"title":"Apple","id":"a"}',
  )
  assert.deepEqual((await list(sheet, { fields: ['currency'] })).records, [
    { currency: 'EUR' },
    { currency: 'USD' },
    { currency: 'XXX' },
  ])
  const unknown = {
    type: 'ValidationError',
    message:
      /^unknown fields "Title", "constructor" \(did you mean "title"\?\); the contract has id, title, /,
  }
  await assert.rejects(getRecord(sheet, 'a', ['id', 'Title', 'constructor']), unknown)
  await assert.rejects(list(sheet, { fields: ['Title', 'constructor'] }), unknown)
  for (const id of ['none', 'A', '', 'constructor', "a' OR '1'='1"]) {
    await assert.rejects(getRecord(sheet, id, null), { type: 'SheetError' })
  }
})

test('D10: limit is 50 by default, lowered to 10000, and refused if it is not a positive integer', async (t) => {
  const sheet = await openTestSheet(t, { records: [] })
  assert.deepEqual(await list(sheet), { records: [], ids: '', limit: 50, nextCursor: null })
  const records = Array.from({ length: 10_001 }, (_, index) => ({ id: `r${index}`, title: 'x' }))
  await write(sheet, ...records)
  const first = await list(sheet)
  assert.deepEqual([first.records.length, first.limit], [50, 50])
  for (const limit of [10_001, 1e300]) {
    const page = await list(sheet, { limit, fields: ['id'] })
    assert.deepEqual([page.records.length, page.limit], [10_000, 10_000])
    const rest = await list(sheet, { limit, cursor: page.nextCursor })
    assert.deepEqual([rest.ids, rest.nextCursor], ['r10000', null])
  }
  for (const limit of [0, -1, 1.5, NaN, Infinity]) {
    await assert.rejects(list(sheet, { limit }), {
      type: 'ValidationError',
      message: `limit must be an integer from 1 to 10000, got ${limit}`,
    })
  }
})

test('D11: a walk returns each record that exists throughout once, in creation order, whatever is added or removed', async (t) => {
  const sheet = await openTestSheet(t, {
    records: ['z', 'b', 'a', 'y', 'c'].map((id) => ({ id, title: id })),
  })
  const first = await list(sheet, { limit: 2 })
  assert.equal(first.ids, 'z b')
  await deleteRecords(sheet, { ids: ['z', 'b', 'a'], actor: 'user:ann' })
  await write(sheet, { id: 'b', title: 'again' }, { id: 'y', title: 'changed' }, { id: '0', title: 'new' })
  const second = await list(sheet, { limit: 2, cursor: first.nextCursor, fields: ['id'] })
  assert.equal(second.ids, 'y c')
  const third = await list(sheet, { limit: 2, cursor: second.nextCursor })
  assert.deepEqual([third.ids, third.nextCursor], ['b 0', null])
  // The same cursor gives what follows now, as often as it is used.
  await deleteRecords(sheet, { ids: ['y', 'c', 'b', '0'], actor: 'user:ann' })
  const rest = await list(sheet, { cursor: first.nextCursor })
  assert.deepEqual([rest.ids, rest.nextCursor], ['', null])
})

test('D11: there is a cursor exactly if more follows, for its filter and sheet only, and it cannot be forged', async (t) => {
  const sheet = await openTestSheet(t)
  for (const limit of [3, 4]) assert.equal((await list(sheet, { limit })).nextCursor, null)
  const { nextCursor: last } = await list(sheet, { limit: 2 })
  assert.deepEqual((await list(sheet, { limit: 1, cursor: last })).nextCursor, null)

  const other = await openTestSheet(t)
  const price = 'price > 1'
  const plain = (await list(sheet, { limit: 1 })).nextCursor ?? ''
  const filtered = (await list(sheet, { limit: 1, filter: price })).nextCursor ?? ''
  assert.equal((await list(sheet, { cursor: filtered, filter: price })).ids, 'b')
  assert.equal((await list(sheet, { cursor: plain })).ids, 'b c')
  const changed = [...plain].map(
    (character, index) => plain.slice(0, index) + (character === 'A' ? 'B' : 'A') + plain.slice(index + 1),
  )
  const forged = [
    '',
    '1',
    'null',
    `${plain}=`,
    `${plain}A`,
    plain.slice(1),
    plain.slice(0, -1),
    ` ${plain}`,
    filtered,
    ...changed,
  ]
  for (const cursor of forged) {
    await assert.rejects(
      list(sheet, { cursor }),
      { type: 'ValidationError', message: /^cursor was not issued/ },
      cursor,
    )
  }
  for (const filter of ['price > 1 ', 'price > 2', 'all', 'filter price > 1', '']) {
    await assert.rejects(list(sheet, { cursor: plain, filter }), { type: 'ValidationError' })
    await assert.rejects(list(sheet, { cursor: filtered, filter }), { type: 'ValidationError' })
  }
  await assert.rejects(list(sheet, { cursor: plain, filter: price }), { type: 'ValidationError' })
  await assert.rejects(list(other, { cursor: plain }), { type: 'ValidationError' })

  // D16: a filtered walk goes on with the same filter only, and sees each match once.
  const filter = "currency <> 'USD' OR 1 = 1"
  const first = await list(sheet, { limit: 1, filter })
  await write(sheet, { id: 'd', title: 'Date' })
  const second = await list(sheet, { limit: 2, filter, cursor: first.nextCursor })
  const third = await list(sheet, { limit: 2, filter, cursor: second.nextCursor })
  assert.deepEqual([first.ids, second.ids, third.ids, third.nextCursor], ['a', 'b c', 'd', null])
  await assert.rejects(list(sheet, { filter: 'price >' }), { type: 'QueryError' })
})

test('a cursor is bound to the condition as to the filter, and both apply', async (t) => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const sheet = await openTestSheet(t, { records: ids.map((id) => ({ id, title: `T${id}` })) })
  const where = JSON.stringify({ field: 'title', operator: 'not_equals', value: 'Tb' })
  const first = await list(sheet, { where, limit: 1 })
  assert.equal(first.ids, 'a')
  const { nextCursor: cursor } = first
  assert.equal((await list(sheet, { where, cursor, limit: 2 })).ids, 'c d')
  assert.equal((await list(sheet, { where, filter: "id > 'c'" })).ids, 'd e')
  const other = JSON.stringify({ field: 'title', operator: 'not_equals', value: 'Tc' })
  for (const query of [{}, { where: other }, { where, filter: "id > 'c'" }, { where, sort: ['id'] }]) {
    await assert.rejects(list(sheet, { ...query, cursor }), { type: 'ValidationError', message: /cursor/ })
  }
  await assert.rejects(list(sheet, { where, asOf: '0' }), {
    type: 'OperationError',
    message: 'where and as_of cannot be combined: only present records can be filtered',
  })
  await assert.rejects(list(sheet, { where: '{"field":"titel","operator":"empty"}' }), {
    type: 'ValidationError',
    message: /^unknown field "titel" \(did you mean "title"\?\); the contract has id, title/,
  })
})
