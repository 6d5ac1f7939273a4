import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { BODY_VALUES } from '../../src/http/middleware/body-parser.ts'
import { PROPOSAL_BODY_LIMIT } from '../../src/http/routes/proposals.ts'
import { assertEnvelope, CSRF, runScenarios, startApp, type TestApp } from '../support/http-fixture.ts'

const AGENT = 'agent:writer'
const ANN = 'human:ann'

const post = (url: string, payload: object) => ({ method: 'POST' as const, url, headers: CSRF, payload })

const proposal = (payload: object) => post('/api/proposals', { actor: AGENT, ...payload })

const PRICE = proposal({ records: [{ id: 'a', title: 'Apple', price: 9 }], note: 'prices of May' })

async function proposed({ app }: TestApp): Promise<void> {
  assert.equal((await app.inject(PRICE)).statusCode, 200)
}

async function accepted(running: TestApp): Promise<void> {
  await proposed(running)
  const response = await running.app.inject(post('/api/proposals/1/accept', { actor: ANN }))
  assert.equal(response.statusCode, 200, response.body)
}

const price = async ({ app }: TestApp): Promise<unknown> =>
  (await app.inject('/api/records/a')).json<{ price: unknown }>().price

const MANY_ITEMS = Array.from({ length: BODY_VALUES + 1 }, () => 1)

const WAITING = {
  id: '1',
  kind: 'upsert',
  state: 'waiting',
  proposed_by: AGENT,
  note: 'prices of May',
  record_count: 1,
  decided_by: null,
  decided_at: null,
  reason: null,
}

/** A proposal without its time, which is one. */
function timeless(response: LightMyRequestResponse): object {
  const { proposed_at: at, ...rest } = response.json<{ proposed_at: string }>()
  assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  return rest
}

test('a proposal is made, read with its differences, accepted, and recorded in the provenance', async (t) => {
  const running = await startApp(t)
  const { app, takeFrames } = running
  const made = await app.inject(PRICE)
  assert.equal(made.statusCode, 200)
  assert.equal(made.headers['location'], '/api/proposals/1')
  assert.deepEqual(timeless(made), WAITING)
  assert.equal(await price(running), 1.5)

  const { headers } = await app.inject('/api/records/a')
  const shown = await app.inject('/api/proposals/1')
  assert.match(String(shown.headers['set-cookie']), /^svc_csrf=/)
  assert.deepEqual(timeless(shown), {
    ...WAITING,
    records: [
      {
        record_id: 'a',
        change: 'update',
        version: /\d+/.exec(String(headers['etag']))?.[0],
        moved: null,
        decision: null,
        fields: [{ field: 'price', was: 1.5, now: 1.5, proposed: 9, moved: false, decision: null }],
      },
    ],
    decisions: [],
  })

  const done = await app.inject(post('/api/proposals/1/accept', { actor: ANN }))
  const { decided_at: decidedAt, ...rest } = timeless(done) as { decided_at: string }
  assert.match(decidedAt, /Z$/)
  assert.deepEqual({ ...rest, decided_at: null }, { ...WAITING, state: 'accepted', decided_by: ANN })
  assert.equal(await price(running), 9)
  const entry = (await app.inject('/api/provenance?record_id=a&field=price')).json()
  assert.deepEqual(
    [entry.source, entry.actor, entry.proposed_by, entry.proposal, entry.previous],
    ['write', ANN, AGENT, '1', 1.5],
  )
  assert.deepEqual(await takeFrames(), [])
})

test('proposals are listed by state and pages, with the number of waiting ones', async (t) => {
  const { app } = await startApp(t)
  for (const id of ['a', 'b', 'c']) await app.inject(proposal({ ids: [id] }))
  await app.inject(post('/api/proposals/2/reject', { actor: ANN, reason: ' It is needed ' }))
  const list = async (query: string): Promise<{ ids: string[]; waiting: number; next: string | null }> => {
    const { proposals, waiting, next_cursor: next } = (await app.inject(`/api/proposals${query}`)).json()
    return { ids: proposals.map(({ id }: { id: string }) => id), waiting, next }
  }
  assert.deepEqual(await list(''), { ids: ['3', '2', '1'], waiting: 2, next: null })
  assert.deepEqual(await list('?state='), { ids: ['3', '2', '1'], waiting: 2, next: null })
  const first = await list('?state=waiting&limit=1')
  assert.deepEqual([first.ids, first.waiting], [['3'], 2])
  const second = await list(`?state=waiting&limit=1&cursor=${first.next}`)
  assert.deepEqual(second, { ids: ['1'], waiting: 2, next: null })
  const other = await app.inject(`/api/proposals?cursor=${first.next}`)
  assertEnvelope(other, 'ValidationError', /cursor was not issued/)
  const rejected = (await app.inject('/api/proposals?state=rejected')).json()
  assert.equal(rejected.proposals[0].reason, 'It is needed')
})

test('cells are decided, and the others wait', async (t) => {
  const running = await startApp(t)
  const { app } = running
  const records = [
    { id: 'a', price: 9, title: 'Other' },
    { id: 'b', price: 8 },
  ]
  assert.equal((await app.inject(proposal({ records }))).statusCode, 200)
  const cells = [{ record_id: 'a', fields: ['price'] }, { record_id: 'b' }]
  const part = await app.inject(post('/api/proposals/1/accept', { actor: ANN, cells }))
  assert.deepEqual([part.statusCode, part.json<{ state: string }>().state], [200, 'waiting'])
  assert.equal(await price(running), 9)
  const rejected = { actor: 'human:bob', reason: 'No', cells: [{ record_id: 'a', fields: ['title'] }] }
  const done = await app.inject(post('/api/proposals/1/reject', rejected))
  const { state, decided_by: by } = done.json<{ state: string; decided_by: string }>()
  assert.deepEqual([state, by], ['accepted', 'human:bob'])
  const { decisions, records: decided } = (await app.inject('/api/proposals/1')).json()
  assert.deepEqual(
    decisions.map(({ at: _, ...made }: { at: string }) => made),
    [
      { state: 'accepted', by: ANN, reason: null },
      { state: 'rejected', by: 'human:bob', reason: 'No' },
    ],
  )
  assert.deepEqual(
    decided[0].fields.map(({ field, decision }: Record<string, string>) => [field, decision]),
    [
      ['title', 'rejected'],
      ['price', 'accepted'],
    ],
  )
})

test('changed records are a 409 with the changes; the proposal keeps waiting, and shows them', async (t) => {
  const running = await startApp(t)
  const { app } = running
  await proposed(running)
  const write = post('/api/records', { actor: ANN, records: [{ id: 'a', price: 2, currency: 'GBP' }] })
  assert.equal((await app.inject(write)).statusCode, 200)
  const response = await app.inject(post('/api/proposals/1/accept', { actor: ANN }))
  assert.equal(response.statusCode, 409)
  assertEnvelope(response, 'OperationError', /record "a", field "price": was 1.5 then and is 2 now/)
  const { state, records } = (await app.inject('/api/proposals/1')).json()
  assert.deepEqual([state, records[0].moved], ['waiting', 'changed'])
  assert.deepEqual(records[0].fields, [
    { field: 'price', was: 1.5, now: 2, proposed: 9, moved: true, decision: null },
  ])
  assert.equal(await price(running), 2)
})

const both = /^the body must have either "records", to propose a write of them, or "ids"/

runScenarios('proposals that are refused', [
  {
    name: 'a value with more items than other bodies may have is checked against the contract',
    request: proposal({ records: [{ id: 'a', title: MANY_ITEMS }] }),
    status: 400,
    error: ['ValidationError', /title/],
  },
  ...(
    [
      ['neither records nor ids', {}, both],
      ['both', { records: [], ids: ['a'] }, both],
      ['records and a contract', { records: [], text: '' }, both],
      ['a contract as text and document', { document: {}, text: '' }, both],
      ['no derivation', { derivations: {} }, /either text/],
      ['ids of another kind', { ids: [1] }, /^"ids\[0\]" is 1; expected a string$/],
      ['no ids', { ids: [] }, /^ids is empty/],
      ['a record of another kind', { records: [1] }, /records\[0\]/],
      ['an unknown member', { records: [], why: 'x' }, /unknown body member "why"/],
      [
        'a note that is too long',
        { ids: ['a'], note: 'x'.repeat(2001) },
        /^"note" has 2001 characters; it may have 2000$/,
      ],
      ['a note with half a character', { ids: ['a'], note: '\ud800' }, /lone surrogates/],
      ['what the contract does not allow', { records: [{ id: 'a', price: 'x' }] }, /field "price"/],
    ] as const
  ).map(([name, payload, message]) => ({
    name,
    request: proposal(payload),
    status: 400,
    error: ['ValidationError', message] as const,
  })),
  {
    name: 'unchanged values',
    request: proposal({ records: [{ id: 'a', price: 1.5 }] }),
    status: 400,
    error: ['OperationError', /^there is nothing to propose: every record has these values already$/],
  },
  {
    name: 'the deletion of an unknown record',
    request: proposal({ ids: ['nobody'] }),
    status: 400,
    error: ['OperationError', /none of these records exists/],
  },
  {
    name: 'without a token',
    request: { ...PRICE, headers: {} },
    status: 403,
    error: ['PermissionDeniedError', /CSRF/],
  },
  {
    name: 'without an actor',
    request: post('/api/proposals', { ids: ['a'] }),
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
  {
    name: 'D36: the shape is checked before the actor',
    request: post('/api/proposals', { ids: [] }),
    status: 400,
    error: ['ValidationError', /^ids is empty/],
  },
  {
    name: 'a body beyond the limit',
    request: proposal({ records: [{ id: 'a', title: 'x'.repeat(PROPOSAL_BODY_LIMIT) }] }),
    status: 413,
    error: ['ValidationError', /^the body is larger than 8388608 bytes/],
  },
  {
    name: 'an invalid state',
    request: { url: '/api/proposals?state=open' },
    status: 400,
    error: ['ValidationError', /"state" is "open"; expected waiting, accepted or rejected$/],
  },
  {
    name: 'an invalid limit',
    request: { url: '/api/proposals?limit=0' },
    status: 400,
    error: ['ValidationError', /limit/],
  },
])

runScenarios('D7: a field that only its owner may write', [
  {
    name: 'can be proposed by any actor',
    request: proposal({ records: [{ id: 'a', owner_note: 'mine' }] }),
    status: 200,
  },
  {
    name: 'can be accepted by its owner',
    given: async ({ app }) =>
      void (await app.inject(proposal({ records: [{ id: 'a', owner_note: 'mine' }] }))),
    request: post('/api/proposals/1/accept', { actor: 'agent:owner' }),
    status: 200,
    then: async ({ app }) => {
      assert.equal((await app.inject('/api/records/a')).json<{ owner_note: string }>().owner_note, 'mine')
    },
  },
  {
    name: 'and by no other actor',
    given: async ({ app }) =>
      void (await app.inject(proposal({ records: [{ id: 'a', owner_note: 'mine' }] }))),
    request: post('/api/proposals/1/accept', { actor: ANN }),
    status: 403,
    error: ['PermissionDeniedError', /actor "human:ann" may not write it/],
  },
])

runScenarios('decisions that are refused', [
  {
    name: 'its own proposer cannot accept it',
    given: proposed,
    request: post('/api/proposals/1/accept', { actor: AGENT }),
    status: 403,
    error: [
      'PermissionDeniedError',
      /^actor "agent:writer" made proposal 1, and somebody else has to accept it$/,
    ],
    then: async (running) => assert.equal(await price(running), 1.5),
  },
  {
    name: 'accepting twice',
    given: accepted,
    request: post('/api/proposals/1/accept', { actor: 'human:bob' }),
    status: 409,
    error: ['OperationError', /^proposal 1 does not wait any more: "human:ann" accepted it at /],
  },
  {
    name: 'rejecting an accepted proposal',
    given: accepted,
    request: post('/api/proposals/1/reject', { actor: 'human:bob' }),
    status: 409,
    error: ['OperationError', /"human:ann" accepted it at /],
    then: async (running) => assert.equal(await price(running), 9),
  },
  ...(['accept', 'reject'] as const).flatMap((decision) => [
    {
      name: `${decision}: an unknown proposal`,
      request: post(`/api/proposals/7/${decision}`, { actor: ANN }),
      status: 404,
      error: ['SheetError', /^no proposal "7"$/] as const,
    },
    {
      name: `${decision}: no token`,
      request: { method: 'POST' as const, url: `/api/proposals/1/${decision}`, payload: { actor: ANN } },
      status: 403,
      error: ['PermissionDeniedError', /CSRF/] as const,
    },
    {
      name: `${decision}: no actor`,
      request: post(`/api/proposals/1/${decision}`, {}),
      status: 400,
      error: ['ValidationError', /^actor is required$/] as const,
    },
    {
      name: `${decision}: no cells`,
      given: proposed,
      request: post(`/api/proposals/1/${decision}`, { actor: ANN, cells: [] }),
      status: 400,
      error: ['ValidationError', /^cells is empty/] as const,
    },
    {
      name: `${decision}: no fields`,
      given: proposed,
      request: post(`/api/proposals/1/${decision}`, { actor: ANN, cells: [{ record_id: 'a', fields: [] }] }),
      status: 400,
      error: ['ValidationError', /^fields of record "a" is empty/] as const,
    },
    {
      name: `${decision}: a record that it does not have`,
      given: proposed,
      request: post(`/api/proposals/1/${decision}`, { actor: ANN, cells: [{ record_id: 'x' }] }),
      status: 404,
      error: ['SheetError', /^proposal 1 has no record "x"$/] as const,
    },
    {
      name: `${decision}: a field that it does not have`,
      given: proposed,
      request: post(`/api/proposals/1/${decision}`, {
        actor: ANN,
        cells: [{ record_id: 'a', fields: ['title'] }],
      }),
      status: 400,
      error: ['ValidationError', /does not change field "title" of record "a"$/] as const,
    },
    {
      name: `${decision}: an unknown member`,
      request: post(`/api/proposals/1/${decision}`, { actor: ANN, force: true }),
      status: 400,
      error: ['ValidationError', /unknown body member "force"/] as const,
    },
  ]),
  {
    name: 'GET of an unknown proposal',
    request: { url: '/api/proposals/x%2Fy' },
    status: 404,
    error: ['SheetError', /^no proposal "x\/y"$/],
  },
])

test('a change of the definition is proposed over HTTP, and waits like those of agents', async (t) => {
  const { app } = await startApp(t)
  const names = async (): Promise<readonly string[]> =>
    Object.keys((await app.inject('/api/records/a')).json<object>())
  const contract = (await app.inject('/api/contract/text')).json<{ text: string }>().text
  const text = contract.replace('name: price', 'name: cost')
  const formula = 'targets: [price]\nkind: sql\nexpression: "2.5"\n'
  for (const [change, number] of [
    [{ text, renamed: { price: 'cost' } }, 'contract.yaml'],
    [{ derivations: { 'price.yaml': formula } }, 'derivations/price.yaml'],
  ] as const) {
    const made = await app.inject(proposal({ ...change, note: 'Clearer.' }))
    const { id, kind, note } = made.json<{ id: string; kind: string; note: string }>()
    assert.deepEqual([made.statusCode, kind, note], [200, 'definition', 'Clearer.'], made.body)
    assert.equal(made.headers.location, `/api/proposals/${id}`)
    const { definition } = (await app.inject(`/api/proposals/${id}`)).json()
    assert.deepEqual(
      definition.files.map(({ path }: { path: string }) => path),
      [number],
    )
  }
  assert.ok((await names()).includes('price'), 'nothing has changed')
  for (const decision of ['accept', 'reject']) {
    const part = post(`/api/proposals/1/${decision}`, { actor: ANN, cells: [{ record_id: 'a' }] })
    assertEnvelope(await app.inject(part), 'OperationError', /is decided as a whole; leave the cells out/)
  }
  const own = await app.inject(post('/api/proposals/1/accept', { actor: AGENT }))
  assert.equal(own.statusCode, 403)
  const decided = await app.inject(post('/api/proposals/1/accept', { actor: ANN }))
  assert.equal(decided.statusCode, 200, decided.body)
  assert.ok((await names()).includes('cost'))
  const broken = await app.inject(post('/api/proposals/2/accept', { actor: ANN }))
  assert.match(broken.body, /derivations\/price\.yaml:1: .*price/)
})

test('D3: while the contract is broken, nothing is proposed or accepted', async (t) => {
  const { app } = await startApp(t, { files: { contract: 'kind: Nonsense\n' } })
  for (const request of [PRICE, post('/api/proposals/1/accept', { actor: ANN }), { url: '/api/proposals' }]) {
    assertEnvelope(await app.inject(request), 'ContractError', /./)
  }
})
