import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import { test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { ProvenanceEntryAnswer } from '../../src/wire/records/provenance.ts'
import { StatusAnswer } from '../../src/wire/runs/status.ts'
import { contractText } from '../support/contract-with.ts'
import { countTurns } from '../support/count-turns.ts'
import { CSRF, runScenarios, startApp } from '../support/http-fixture.ts'

const materialize = {
  method: 'POST' as const,
  url: '/api/materialize',
  headers: CSRF,
  payload: { actor: 'agent:test' },
}

runScenarios('status and provenance', [
  {
    name: 'D32: an unknown target is an OperationError that names it',
    request: { url: '/api/status?targets=rate,title' },
    status: 400,
    error: ['OperationError', /"title"/],
  },
  {
    name: 'D35: a cell without entries is null',
    request: { url: '/api/provenance?record_id=a&field=rate' },
    status: 200,
    body: null,
  },
  {
    name: 'D35: a cell without entries has an empty history',
    request: { url: '/api/provenance?record_id=a&field=rate&history=true' },
    status: 200,
    body: [],
  },
  {
    name: 'D35: an unknown field is a ValidationError',
    request: { url: '/api/provenance?record_id=a&field=colour' },
    status: 400,
    error: ['ValidationError', /colour/],
  },
  {
    name: 'D35: a record that never existed is a SheetError',
    request: { url: '/api/provenance?record_id=nobody&field=rate' },
    status: 404,
    error: ['SheetError', /nobody/],
  },
  ...['/api/provenance?field=rate', '/api/provenance?record_id=&field=rate'].map((url) => ({
    name: `a missing record id is a ValidationError: ${url}`,
    request: { url },
    status: 400,
    error: ['ValidationError', /record_id/] as const,
  })),
  {
    name: 'a missing field is a ValidationError',
    request: { url: '/api/provenance?record_id=a' },
    status: 400,
    error: ['ValidationError', /^query parameter "field" is required; only with history=true/],
  },
  {
    name: 'a value of history other than true and false is a ValidationError',
    request: { url: '/api/provenance?record_id=a&field=rate&history=yes' },
    status: 400,
    error: ['ValidationError', /"history" is "yes"; expected true or false/],
  },
])

test('D32: the status of each target is keyed by its name and has every member', async (t) => {
  const { app } = await startApp(t)
  await app.inject(materialize)
  const status = (await app.inject({ url: '/api/status?targets=%20rate%20,rate,' })).json<{
    rate: Record<string, unknown>
  }>()
  const { last_at: lastAt, ...rest } = status.rate
  assert.match(String(lastAt), /Z$/)
  assert.deepEqual(rest, {
    derivation: 'rate.yaml',
    kind: 'http',
    total_records: 3,
    fresh: 2,
    stale: 0,
    missing: 0,
    failed: 1,
    overridden: 0,
    blocked: 0,
    ready: { missing: 0, stale: 0, failed: 1 },
    last_actor: 'agent:test',
    last_error: 'GET https://rates.example/XXX -> no stub response',
  })
  assert.ok(new Ajv().validate(StatusAnswer, status))
})

test('D33: a provenance entry is returned as in the log, the latest alone or all of them, oldest first', async (t) => {
  const { app } = await startApp(t)
  await app.inject(materialize)
  await app.inject({ ...materialize, payload: { actor: 'agent:again', force: true } })
  const url = '/api/provenance?record_id=a&field=rate'
  const latest = (await app.inject({ url: `${url}&history=false` })).json<Record<string, unknown>>()
  const history = (await app.inject({ url: `${url}&history=true` })).json<Record<string, unknown>[]>()
  assert.deepEqual(history.at(-1), latest)
  assert.equal(latest['actor'], 'agent:again')
  assert.equal(latest['url'], 'https://rates.example/EUR')
  assert.ok(history.length >= 1)
  const validate = new Ajv().compile(ProvenanceEntryAnswer)
  for (const entry of history) assert.ok(validate(entry), JSON.stringify(validate.errors))
})

test('D8: the contract is returned with its defaults and the derivation of each derived field', async (t) => {
  const { app } = await startApp(t)
  const response = await app.inject({ url: '/api/contract' })
  assert.equal(response.statusCode, 200)
  const contract = response.json<{ kind: string; schema: { properties: Record<string, unknown>[] }[] }>()
  assert.equal(contract.kind, 'DataContract')
  const rate = contract.schema[0]?.properties.find((property) => property['name'] === 'rate')
  assert.deepEqual(rate?.['derived'], { derivation: 'rate.yaml', kind: 'http', inputs: ['currency'] })
})

test('D3: with an invalid contract only /api/csrf and /events work; a fixed one applies at once', async (t) => {
  const { app } = await startApp(t, { files: { contract: 'kind: Nonsense\n' } })
  for (const url of ['/api/contract', '/api/records', '/api/records/a', '/api/status']) {
    const response = await app.inject({ url })
    assert.equal(response.statusCode, 500, url)
    assert.equal(response.json<{ error: { type: string } }>().error.type, 'ContractError')
  }
  assert.equal((await app.inject({ url: '/api/csrf' })).statusCode, 200)
})

test('D35: a long history has pages, the oldest entries first, each with a Link to the next', async (t) => {
  const { app } = await startApp(t)
  for (let price = 10; price < 17; price += 1) {
    const payload = { records: [{ id: 'b', price }], actor: 'human:ann' }
    await app.inject({ method: 'POST', url: '/api/records', headers: CSRF, payload })
  }
  const cell = '/api/provenance?record_id=b&field=price'
  const whole = await app.inject(`${cell}&history=true`)
  const entries = whole.json<{ seq: number; value: unknown }[]>()
  assert.deepEqual(
    entries.map(({ value }) => value),
    [2, 10, 11, 12, 13, 14, 15, 16],
  )
  assert.equal(whole.headers.link, undefined)
  const found: unknown[] = []
  let url: string | undefined = `${cell}&history=true&limit=3`
  for (let pages = 0; url !== undefined; pages += 1) {
    assert.ok(pages < 3)
    const page: LightMyRequestResponse = await app.inject(url)
    found.push(...page.json<unknown[]>())
    url = /^<(.*)>; rel="next"$/.exec(String(page.headers.link))?.[1]
  }
  assert.deepEqual(found, entries)
  const cursor = /cursor=([^&>]*)/.exec(
    String((await app.inject(`${cell}&history=true&limit=3`)).headers.link),
  )?.[1]
  const refused = [
    [`${cell}&limit=3`, /history=true/],
    [`${cell}&cursor=${cursor}`, /history=true/],
    [`${cell}&history=true&limit=0`, /limit must be/],
    [`${cell}&history=true&cursor=made-up`, /cursor was not issued/],
    [`/api/provenance?record_id=b&field=title&history=true&cursor=${cursor}`, /cursor was not issued/],
  ] as const
  for (const [asked, message] of refused) {
    const answer = await app.inject(asked)
    assert.equal(answer.statusCode, 400, asked)
    assert.match(answer.json<{ error: { message: string } }>().error.message, message)
  }
})

test('D35: the history of a record has the entries of all its fields, a line on one page', async (t) => {
  const { app } = await startApp(t)
  for (const change of [{ price: 10 }, { price: 11, title: 'Eleven' }, { title: 'Twelve' }]) {
    const payload = { records: [{ id: 'b', ...change }], actor: 'human:ann' }
    await app.inject({ method: 'POST', url: '/api/records', headers: CSRF, payload })
  }
  const history = '/api/provenance?record_id=b&history=true'
  const first = await app.inject(`${history}&limit=1`)
  // The record was created by one line.
  assert.ok(first.json<Entry[]>().length > 1)
  const pages = [first]
  for (let page = first; page.headers.link !== undefined; pages.push(page)) {
    page = await app.inject(/^<(.*)>; rel="next"$/.exec(String(page.headers.link))?.[1] ?? '')
  }
  const written = pages.slice(1).map((page) => page.json<(Entry & { field: string })[]>())
  assert.deepEqual(
    written.map((page) => page.map(({ field, value }) => [field, value])),
    [
      [['price', 10]],
      [
        ['title', 'Eleven'],
        ['price', 11],
      ],
      [['title', 'Twelve']],
    ],
  )
  const whole = (await app.inject(history)).json<unknown[]>()
  assert.deepEqual(
    pages.flatMap((page) => page.json<unknown[]>()),
    whole,
  )
  assert.equal((await app.inject('/api/provenance?record_id=nobody&history=true')).statusCode, 404)
})

test('D35: other requests are served while the provenance of huge values is read and sent', async (t) => {
  const contract = contractText(['{name: text, logicalType: string}', '{name: list, logicalType: array}'])
  const { app } = await startApp(t, { files: { contract, records: [], derivations: {} } })
  const text = 'é"😀'.repeat(100_000)
  const list = Array.from({ length: 200_000 }, (_, n) => n)
  for (const value of [list, [...list, 'again']]) {
    const payload = { records: [{ id: 'huge', text, list: value }], actor: 'human:ann' }
    const written = await app.inject({ method: 'POST', url: '/api/records', headers: CSRF, payload })
    assert.equal(written.statusCode, 200, written.body)
  }
  const expected = [
    ['text', [[text, null]]],
    [
      'list',
      [
        [list, null],
        [[...list, 'again'], list],
      ],
    ],
  ] as const
  for (const [field, values] of expected) {
    const url = `/api/provenance?record_id=huge&field=${field}`
    const latest = await countTurns(app.inject(url))
    const entry = latest.answer.json<Entry>()
    assert.deepEqual([entry.value, entry.previous], values.at(-1))
    assert.ok(latest.turns >= 40, `${latest.turns} turns`)
    const history = (await app.inject(`${url}&history=true&limit=1`)).json<Entry[]>()
    assert.deepEqual([history[0]?.value, history[0]?.previous], values[0])
  }
})

interface Entry {
  readonly value: unknown
  readonly previous: unknown
}
