import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { API_NAME, API_VERSION, type RunningApi, startApi } from '../../examples/countries/api/server.mjs'

let api: RunningApi

before(async () => {
  api = await startApi({ port: 0 })
})

after(() => api.close())

test('GET / returns name, version and endpoints', async () => {
  const { status, body } = await ask('/')
  assert.equal(status, 200)
  assert.deepEqual([body.name, body.version], [API_NAME, API_VERSION])
  assert.ok((body.endpoints as string[]).includes('GET /currencies/{code}'))
})

const ANSWERS: { path: string; send?: unknown; answer: unknown }[] = [
  { path: '/currencies/JPY', answer: { code: 'JPY', name: 'Japanese Yen', symbol: '¥', digits: 0 } },
  {
    path: '/countries/CH/names?languages=de,fr',
    answer: { code: 'CH', names: { de: 'Schweiz', fr: 'Suisse' } },
  },
  { path: '/countries/NP/time-zones', answer: { code: 'NP', time_zones: ['Asia/Katmandu'] } },
  {
    path: '/countries/CH/week',
    answer: { code: 'CH', first_day: 'Monday', weekend: ['Saturday', 'Sunday'] },
  },
  {
    path: '/utc-offsets',
    send: { time_zones: ['Asia/Tokyo', 'America/St_Johns', 'Europe/London'], at: '2026-01-01T12:00:00Z' },
    answer: { utc_offsets: ['-03:30', '+00:00', '+09:00'] },
  },
  {
    path: '/utc-offsets',
    send: { time_zones: ['Europe/Zurich', 'Europe/Berlin'], at: '2026-07-01T12:00:00Z' },
    answer: { utc_offsets: ['+02:00'] },
  },
  {
    path: '/format-number',
    send: { number: 3287590, locale: 'und-IN' },
    answer: { locale: 'hi-IN', text: '32,87,590' },
  },
]

for (const { path, send, answer } of ANSWERS) {
  test(`${inWords(path, send)} succeeds`, async () => {
    assert.deepEqual(await ask(path, send), { status: 200, body: answer })
  })
}

const REFUSALS: { path: string; send?: unknown; status: number; error: string }[] = [
  { path: '/currencies/QQQ', status: 404, error: 'no currency "QQQ"' },
  { path: '/currencies/francs', status: 404, error: 'no currency "francs"' },
  { path: '/countries/ch/time-zones', status: 404, error: 'no country "ch"' },
  { path: '/countries/BV/time-zones', status: 404, error: 'no time zone is in use in "BV"' },
  { path: '/countries/CH/names', status: 400, error: 'say which languages: ?languages=de,fr' },
  { path: '/countries/CH/names?languages=d_e', status: 400, error: '"d_e" is no language tag' },
  { path: '/format-number', send: { number: null, locale: 'de' }, status: 422, error: '"number" is null' },
  { path: '/format-number', send: null, status: 400, error: 'the body is no JSON object' },
  { path: '/format-number', status: 405, error: '/format-number takes POST' },
  { path: '/nothing', status: 404, error: 'no /nothing here: GET / lists what there is' },
  { path: '/currencies/%ff', status: 400, error: '"%ff" is not percent-encoded UTF-8' },
]

for (const { path, send, status, error } of REFUSALS) {
  test(`${inWords(path, send)} is refused`, async () => {
    assert.deepEqual(await ask(path, send), { status, body: { error } })
  })
}

test('every request counts, refused ones too', async () => {
  const earlier = api.requests
  await ask('/currencies/CHF')
  await ask('/nothing')
  assert.equal(api.requests - earlier, 2)
})

test('a port in use is an error for the caller', async () => {
  await assert.rejects(startApi({ port: api.port }), { code: 'EADDRINUSE' })
})

function inWords(path: string, send: unknown): string {
  return send === undefined ? `GET ${path}` : `POST ${path} ${JSON.stringify(send)}`
}

async function ask(path: string, send?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const request = send === undefined ? {} : { method: 'POST', body: JSON.stringify(send) }
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, request)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
