import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { locateRecord } from '../../src/sheet/queries/locate-record.ts'
import { listRecords, type ListRecordsQuery } from '../../src/sheet/queries/list-records.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

interface Listed {
  readonly records: readonly JsonObject[]
  readonly ids: string
  readonly limit: number
  readonly nextCursor: string | null
  readonly total?: number
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

test('an earlier state is filtered, sorted, counted and located as it was when it was the present one', async (t) => {
  const words = ['Apple', 'apple pie', 'Äpfel', '', 'Zebra', 'banana', 'Cherry', 'App 10', 'app 9']
  const records = Array.from({ length: 27 }, (_, index) => ({
    id: `r${index}`,
    title: words[index % words.length] ?? '',
    price: index % 5 === 0 ? null : (index * 7) % 11,
    currency: ['EUR', 'USD', null][index % 3] ?? null,
  }))
  const sheet = await openTestSheet(t, { records: [] })
  await write(sheet, ...records)
  await deleteRecords(sheet, { ids: ['r3', 'r4'], actor: 'user:ann' })
  const { store } = await sheet.current()
  const { last } = await store.history()
  const title = { field: 'title', operator: 'contains', value: 'APP' }
  const price = { field: 'price', operator: 'at_least', value: 4 }
  const euro = { field: 'currency', operator: 'any_of', value: ['EUR', null] }
  const lists = [
    { where: null, sort: null },
    { where: null, sort: ['-price', 'title'] },
    { where: JSON.stringify(title), sort: null },
    { where: JSON.stringify({ and: [price, { not: euro }] }), sort: ['title', '-currency'] },
    { where: JSON.stringify({ or: [title, euro] }), sort: ['-title'] },
    { where: '{"search":"10"}', sort: ['price'] },
  ]
  const readAll = async (query: Partial<ListRecordsQuery>): Promise<readonly JsonObject[]> => {
    const found: JsonObject[] = []
    for (let cursor: string | null = null; ;) {
      const page: Listed = await list(sheet, { ...query, cursor, limit: 7 })
      found.push(...page.records)
      if (page.nextCursor === null) return found
      cursor = page.nextCursor
    }
  }
  const before: (readonly JsonObject[])[] = []
  for (const query of lists) before.push(await readAll(query))
  await write(
    sheet,
    ...records.slice(5, 15).map(({ id }) => ({ id, title: 'Apple', price: 5, currency: null })),
  )
  await deleteRecords(sheet, { ids: ['r0', 'r7', 'r20'], actor: 'user:ann' })
  await write(sheet, { id: 'r0', title: 'App', price: 9 }, { id: 'new', title: 'apple', price: 1 })
  const asOf = String(last)
  for (const [index, query] of lists.entries()) {
    const expected = before[index] ?? []
    const what = JSON.stringify(query)
    assert.deepEqual(await readAll({ ...query, asOf }), expected, what)
    const from = await list(sheet, { ...query, asOf, position: 3, limit: 2 })
    assert.deepEqual(from.records, expected.slice(3, 5), what)
    const isPlain = query.where === null && query.sort === null
    assert.equal(from.total, isPlain ? undefined : expected.length, what)
    for (const id of ['r0', 'r7', 'r11', 'new', 'r3']) {
      const place = expected.findIndex((record) => record['id'] === id)
      const located = await locateRecord(sheet, { ...query, id, filter: null, asOf })
      assert.equal(located, place < 0 ? null : place, `${id} in ${what}`)
    }
  }
  const sort = ['price']
  const { nextCursor: cursor } = await list(sheet, { asOf, sort, limit: 2 })
  for (const query of [{ asOf }, { asOf, sort: ['-price'] }, { asOf: '0', sort }, { sort }])
    await assert.rejects(list(sheet, { ...query, cursor }), { type: 'ValidationError', message: /cursor/ })
  const changed = await listRecords(sheet, {
    asOf,
    sort: ['id'],
    fields: ['id', 'title'],
    limit: 3,
    changed: true,
  })
  assert.deepEqual(changed.changed, [null, [], ['title']])
  await assert.rejects(list(sheet, { asOf, where: '{"state":["fresh"]}' }), {
    type: 'OperationError',
    message: /^a condition on the states of cells cannot be combined with as_of/,
  })
  const stop = AbortSignal.abort(new Error('the client is gone'))
  await assert.rejects(listRecords(sheet, { asOf, sort: ['-title'] }, stop), /the client is gone/)
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
  await assert.rejects(list(sheet, { where: '{"field":"titel","operator":"empty"}' }), {
    type: 'ValidationError',
    message: /^unknown field "titel" \(did you mean "title"\?\); the contract has id, title/,
  })
})
