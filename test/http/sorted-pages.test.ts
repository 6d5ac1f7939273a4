import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runScenarios, startApp, type Scenario } from '../support/http-fixture.ts'

const PAGES: readonly Scenario[] = [
  ['sort=title', 'a b c'],
  ['sort=-title', 'c b a'],
  ['sort=%20-currency%20,%20title,', 'c b a'],
  ['sort=rate,-id', 'c b a'],
  ['sort=', 'a b c'],
  ['sort=-title&position=1', 'b a'],
  ['sort=-title&filter=id%20%3C%20%27c%27', 'b a'],
  ['position=0', 'a b c'],
  ['position=2', 'c'],
  ['position=3', ''],
  ['position=99999999999999999999', ''],
  ['position=1&filter=id%20%3E%20%27a%27', 'c'],
].map(([query = '', ids = '']) => ({
  name: `a page with ${query} has the records ${ids}`,
  request: { url: `/api/records?fields=id&${query}` },
  status: 200,
  body: {
    records: ids.split(' ').flatMap((id) => (id === '' ? [] : [{ id }])),
    format: 'json',
    limit: 50,
    next_cursor: null,
  },
}))

const REFUSALS: readonly Scenario[] = [
  ['sort=Title', /^unknown field "Title" \(did you mean "title"\?\); the contract has id, /],
  ['sort=--title', /^unknown field "-title"/],
  ['sort=-', /^unknown field ""/],
  ['sort=title,-title', /^sort names the field title twice/],
  ['position=-1', /^position must be an integer of at least 0, got -1/],
  ['position=x', /position/],
  ['position=1&cursor=x', /^position and cursor cannot be combined/],
].map(([query, message]) => ({
  name: `a page with ${String(query)} is refused`,
  request: { url: `/api/records?${String(query)}` },
  status: 400,
  error: ['ValidationError', message as RegExp],
}))

const PAST: readonly Scenario[] = [
  {
    name: 'an earlier page is sorted',
    request: { url: '/api/records?as_of=1&sort=-title&position=2&limit=1&fields=id' },
    status: 200,
    body: { records: [{ id: 'a' }], format: 'json', limit: 1, next_cursor: null, total: 3 },
  },
  {
    name: 'an earlier page with an SQL filter is refused',
    request: { url: '/api/records?as_of=1&filter=1' },
    status: 400,
    error: ['OperationError', /^filter and as_of cannot be combined: earlier states are filtered with where/],
  },
]

runScenarios('pages in the order of fields and from positions', [...PAGES, ...REFUSALS, ...PAST])

runScenarios('GET /api/summary', [
  {
    name: 'returns the number of records',
    request: { url: '/api/summary' },
    status: 200,
    body: { count: 3, fields: {} },
  },
  {
    name: 'summarizes a field of the records that match a filter',
    request: { url: '/api/summary?fields=currency,price&filter=price%20%3E%201' },
    status: 200,
    body: {
      count: 2,
      fields: {
        currency: {
          nulls: 0,
          distinct: 2,
          top: [
            { value: 'EUR', count: 1 },
            { value: 'USD', count: 1 },
          ],
        },
        price: {
          nulls: 0,
          histogram: { from: 1.5, to: 2, step: 0.025, counts: [1, ...Array<number>(18).fill(0), 1] },
        },
      },
    },
  },
  {
    name: 'refuses an unknown field',
    request: { url: '/api/summary?fields=nothing' },
    status: 400,
    error: ['ValidationError', /^unknown field "nothing"/],
  },
  {
    name: 'refuses a filter that is more than an expression',
    request: { url: '/api/summary?filter=1%3B%20DROP%20TABLE%20x' },
    status: 400,
    error: ['QueryError', /semicolon/],
  },
])

test('D11: a cursor is for one order: that of another is refused', async (t) => {
  const { app } = await startApp(t)
  const page = async (query: string): Promise<{ status: number; cursor: string; ids: string }> => {
    const response = await app.inject({ url: `/api/records?limit=1&fields=id&${query}` })
    const { records = [], next_cursor: cursor = '' } = response.json<{
      records?: { id: string }[]
      next_cursor?: string
    }>()
    return { status: response.statusCode, cursor, ids: records.map(({ id }) => id).join() }
  }
  const all = `filter=${encodeURIComponent('1 = 1')}`
  const orders = ['', 'sort=title', 'sort=-title', 'sort=title,id', `sort=title&${all}`, all]
  for (const order of orders) {
    const { cursor } = await page(order)
    for (const other of orders) {
      const next = await page(`${other}&cursor=${encodeURIComponent(cursor)}`)
      assert.equal(next.status, order === other ? 200 : 400, `${order} / ${other}`)
      if (order === other) assert.equal(next.ids, 'b')
    }
    const half = cursor.length >> 1
    const forged = cursor.slice(0, half) + (cursor[half] === 'A' ? 'B' : 'A') + cursor.slice(half + 1)
    assert.equal((await page(`${order}&cursor=${forged}`)).status, 400)
  }
})
