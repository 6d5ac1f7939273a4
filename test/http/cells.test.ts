import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CSRF, runScenarios, startApp } from '../support/http-fixture.ts'

runScenarios('GET /api/cells', [
  {
    name: 'D32: returns the state of each derived cell of existing records',
    request: { url: '/api/cells?ids=b,a,nobody' },
    status: 200,
    body: { a: { rate: 'missing' }, b: { rate: 'missing' } },
  },
  {
    name: 'refuses an empty list of records',
    request: { url: '/api/cells?ids=,' },
    status: 400,
    error: ['ValidationError', /^ids is required/],
  },
  {
    name: 'refuses too many records',
    request: { url: `/api/cells?ids=${Array.from({ length: 1001 }, (_, index) => index).join()}` },
    status: 400,
    error: ['ValidationError', /^ids names 1001 records; at most 1000/],
  },
  {
    name: 'refuses a field that is not derived',
    request: { url: '/api/cells?ids=a&targets=rate,title' },
    status: 400,
    error: ['OperationError', /"title"/],
  },
])

test('D32: the state of a cell follows the writes', async (t) => {
  const { app } = await startApp(t, {
    files: {
      derivations: {
        'rate.yaml':
          'targets: [rate]\ninputs: [currency]\nkind: http\nurl: https://rates.example/{{ currency }}\nresponse_path: rate\n',
        'note.yaml':
          'targets: [owner_note]\ninputs: [title]\nkind: http\nurl: https://notes.example/{{ title }}\nresponse_path: note\n',
      },
    },
  })
  const states = async (query: string): Promise<unknown> => (await app.inject(`/api/cells?${query}`)).json()
  const write = (payload: object): Promise<unknown> =>
    app.inject({ method: 'POST', url: '/api/records', headers: CSRF, payload })
  await write({ actor: 'agent:owner', records: [{ id: 'a', owner_note: 'mine' }] })
  await write({ actor: 'agent:owner', records: [{ id: '__proto__', title: 'x' }] })
  assert.deepEqual(await states('ids=a&targets=rate'), { a: { rate: 'missing' } })
  assert.deepEqual(await states('ids=a'), { a: { owner_note: 'overridden', rate: 'missing' } })
  const odd = (await app.inject('/api/cells?ids=__proto__&targets=rate')).body
  assert.equal(odd, '{"__proto__":{"rate":"blocked"}}')
})

runScenarios('GET /api/cells/proposed', [
  {
    name: 'returns the cells for which proposals wait, those of the newest first',
    given: async ({ app }) => {
      for (const change of [
        { records: [{ id: 'a', title: 'Other', price: 3 }] },
        { ids: ['b', 'a'] },
        { records: [{ id: 'a', title: 'x'.repeat(20_000), price: 2 }] },
      ]) {
        const payload = { actor: 'agent:a', ...change }
        await app.inject({ method: 'POST', url: '/api/proposals', headers: CSRF, payload })
      }
      const cells = [{ record_id: 'a', fields: ['price'] }]
      const payload = { actor: 'human:ann', cells }
      await app.inject({ method: 'POST', url: '/api/proposals/1/reject', headers: CSRF, payload })
    },
    request: { url: '/api/cells/proposed?ids=a,nobody' },
    status: 200,
    body: {
      cells: [
        { record_id: 'a', field: 'title', proposal: '3', proposed_by: 'agent:a' },
        { record_id: 'a', field: 'price', proposal: '3', proposed_by: 'agent:a', value: 2 },
        { record_id: 'a', field: null, proposal: '2', proposed_by: 'agent:a', value: null },
        { record_id: 'a', field: 'title', proposal: '1', proposed_by: 'agent:a', value: 'Other' },
      ],
    },
  },
  {
    name: 'refuses an empty list of records',
    request: { url: '/api/cells/proposed?ids=,' },
    status: 400,
    error: ['ValidationError', /^ids is required/],
  },
])

runScenarios('GET /api/cells/writers', [
  {
    name: 'returns who has written the present values, of all writers or of some',
    given: async ({ app }) => {
      for (const [actor, record] of [
        ['agent:a', { id: 'w', title: 'One', price: 1 }],
        ['human:ann', { id: 'w', price: 2 }],
      ] as const) {
        const payload = { actor, records: [record] }
        await app.inject({ method: 'POST', url: '/api/records', headers: CSRF, payload })
      }
    },
    request: { url: '/api/cells/writers?ids=w,nobody&by=agent:*,user:*&by_run=7' },
    status: 200,
    body: {
      cells: [
        { record_id: 'w', field: 'id', actor: 'agent:a', run_id: null },
        { record_id: 'w', field: 'title', actor: 'agent:a', run_id: null },
      ],
    },
  },
  {
    name: 'refuses an empty list of records',
    request: { url: '/api/cells/writers?ids=,' },
    status: 400,
    error: ['ValidationError', /^ids is required/],
  },
])

runScenarios('GET /api/permissions', [
  {
    name: 'D7: returns the fields that an actor may write',
    request: { url: '/api/permissions?actor=user:ann' },
    status: 200,
    body: { actor: 'user:ann', write: ['id', 'title', 'price', 'currency'], delete: true },
  },
  {
    name: 'D7: returns the fields that only one actor may write',
    request: { url: '/api/permissions?actor=agent:owner' },
    status: 200,
    body: { actor: 'agent:owner', write: ['id', 'title', 'price', 'currency', 'owner_note'], delete: true },
  },
  {
    name: 'requires an actor',
    request: { url: '/api/permissions?actor=' },
    status: 400,
    error: ['ValidationError', /^actor is required/],
  },
  {
    name: 'D39: refuses an invalid actor',
    request: { url: '/api/permissions?actor=%00' },
    status: 400,
    error: ['ValidationError', /control characters/],
  },
])

test('GET /api/derivations returns each file with its targets, inputs and hosts', async (t) => {
  const { app } = await startApp(t)
  const { derivations } = (await app.inject('/api/derivations')).json<{ derivations: { text: string }[] }>()
  assert.equal(derivations.length, 1)
  const { text, ...rest } = derivations[0]!
  assert.match(text, /^targets: \[rate\]\ninputs: \[currency\]/)
  assert.deepEqual(rest, {
    file: 'rate.yaml',
    kind: 'http',
    targets: ['rate'],
    inputs: ['currency'],
    hosts: ['rates.example:443'],
  })
})
