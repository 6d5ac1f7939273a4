import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { InjectOptions } from 'fastify'
import {
  assertEnvelope,
  CSRF,
  listen,
  runScenarios,
  startApp,
  type TestApp,
} from '../support/http-fixture.ts'
import { exchange } from '../support/raw-client.ts'

const TRUSTING = { app: { trustedActorHeader: 'x-forwarded-user' } }
const ANN = { ...CSRF, 'x-forwarded-user': 'ann' }
const NOT_THERE =
  /^actor is required: the header x-forwarded-user, which names the actor, is missing; write through the reverse proxy/

const UPSERT = { method: 'POST', url: '/api/records', payload: { records: [{ id: 'a', price: 9 }] } } as const

/** Every request that writes, with an actor of its own where it can name one. */
const WRITES: readonly { readonly name: string; readonly request: InjectOptions }[] = [
  { name: 'POST /api/records', request: { ...UPSERT, payload: { ...UPSERT.payload, actor: 'agent:owner' } } },
  {
    name: 'DELETE /api/records',
    request: { method: 'DELETE', url: '/api/records?ids=a', headers: { 'x-svc-actor': 'agent:owner' } },
  },
  {
    name: 'POST /api/materialize',
    request: { method: 'POST', url: '/api/materialize', payload: { actor: 'agent:owner' } },
  },
  {
    name: 'POST /api/revert',
    request: {
      method: 'POST',
      url: '/api/revert',
      payload: { record_id: 'a', field: 'price', seq: 1, actor: 'agent:owner' },
    },
  },
  {
    name: 'POST /api/runs/{id}/cancel',
    request: { method: 'POST', url: '/api/runs/1/cancel', payload: { actor: 'agent:owner' } },
  },
  {
    name: 'POST /api/proposals',
    request: { method: 'POST', url: '/api/proposals', payload: { ids: ['a'], actor: 'agent:owner' } },
  },
  ...['accept', 'reject'].map((decision) => ({
    name: `POST /api/proposals/{id}/${decision}`,
    request: {
      method: 'POST',
      url: `/api/proposals/1/${decision}`,
      payload: { actor: 'agent:owner' },
    } as const,
  })),
]

function withHeaders(request: InjectOptions, headers: Readonly<Record<string, string>>): InjectOptions {
  return { ...request, headers: { ...request.headers, ...headers } }
}

async function provenance({ app }: TestApp, id: string, field: string): Promise<unknown> {
  const response = await app.inject(`/api/provenance?record_id=${id}&field=${field}`)
  return response.json<{ actor: string } | null>()?.actor
}

/** Further headers, which might name an actor other than the proxy's. */
const NO_PROXY: readonly (readonly [how: string, headers: Readonly<Record<string, string>>])[] = [
  ['nothing', {}],
  ['an empty header', { 'x-forwarded-user': '' }],
  ['underscores for hyphens', { x_forwarded_user: 'ann' }],
  ['the header of another proxy', { 'x-remote-user': 'ann' }],
  ['X-Svc-Actor', { 'x-svc-actor': 'ann' }],
]

test("a write that did not come through the proxy is refused, whatever the server's default actor is", async (t) => {
  const { app, takeFrames } = await startApp(t, { ...TRUSTING, sheet: { defaultActor: 'agent:default' } })
  for (const { name, request } of WRITES) {
    for (const [how, headers] of NO_PROXY) {
      const response = await app.inject(withHeaders(request, { ...CSRF, ...headers }))
      assert.equal(response.statusCode, 400, `${name} with ${how}`)
      assertEnvelope(response, 'ValidationError', NOT_THERE)
    }
  }
  assert.deepEqual(await takeFrames(), [])
})

const NO_ACTORS: readonly (readonly [actor: string, message: RegExp])[] = [
  [
    'x'.repeat(201),
    /^an actor must have at most 200 characters, and the header x-forwarded-user has such a one$/,
  ],
  ['tab\tbed', /^an actor must not contain control characters/],
  [Buffer.from('a\u0085b').toString('latin1'), /^an actor must not contain control characters/],
]

test("D39: the proxy's header must be a valid actor", async (t) => {
  const { app } = await startApp(t, TRUSTING)
  for (const { name, request } of WRITES) {
    for (const [actor, message] of NO_ACTORS) {
      const response = await app.inject(withHeaders(request, { ...CSRF, 'x-forwarded-user': actor }))
      assert.equal(response.statusCode, 400, name)
      assertEnvelope(response, 'ValidationError', message)
    }
  }
})

runScenarios('D36: the order of checks is the same: CSRF, shape, actor, version, permission, contract', [
  {
    name: 'CSRF is checked before the actor',
    request: UPSERT,
    options: TRUSTING,
    status: 403,
    error: ['PermissionDeniedError', /CSRF/],
  },
  ...[
    ['records of another kind', { ...UPSERT, payload: { records: 1 } }, /"records" must be an array/],
    [
      'an actor of another kind',
      { ...UPSERT, payload: { records: [], actor: 1 } },
      /"actor" must be a string/,
    ],
    ['an unknown member', { ...UPSERT, payload: { records: [], who: 1 } }, /unknown member/],
    ['no ids', { method: 'DELETE', url: '/api/records' }, /"ids" is required/],
    ['a run of another kind', { method: 'POST', url: '/api/materialize', payload: { force: 1 } }, /force/],
    ['half a cell', { method: 'POST', url: '/api/revert', payload: { field: 'x' } }, /must have either/],
  ].map(([name, request, message]) => ({
    name: `${String(name)} is checked before the actor`,
    request: withHeaders(request as InjectOptions, CSRF),
    options: TRUSTING,
    status: 400,
    error: ['ValidationError', message as RegExp] as const,
  })),
  {
    name: 'the actor is checked before the version',
    request: withHeaders(UPSERT, { ...CSRF, 'if-match': '"never"' }),
    options: TRUSTING,
    status: 400,
    error: ['ValidationError', NOT_THERE],
  },
  {
    name: 'the actor is checked before an invalid contract',
    request: withHeaders(UPSERT, CSRF),
    options: { ...TRUSTING, files: { contract: 'kind: Nonsense\n' } },
    status: 400,
    error: ['ValidationError', NOT_THERE],
  },
  {
    name: 'an invalid contract is reported to the authenticated user',
    request: withHeaders(UPSERT, ANN),
    options: { ...TRUSTING, files: { contract: 'kind: Nonsense\n' } },
    status: 500,
    error: ['ContractError', /./],
  },
])

test('reads need no actor, nor does a plan', async (t) => {
  const { app } = await startApp(t, TRUSTING)
  for (const url of [
    '/api/records',
    '/api/records/a',
    '/api/status',
    '/api/contract',
    '/api/runs',
    '/api/csrf',
  ]) {
    assert.equal((await app.inject(url)).statusCode, 200, url)
  }
  const plan = { method: 'POST', url: '/api/materialize', headers: CSRF, payload: { dry_run: true } } as const
  assert.equal((await app.inject(plan)).statusCode, 200)
})

test('the actor is the one that the proxy names, whatever the client sends, for every write', async (t) => {
  const running = await startApp(t, { ...TRUSTING, sheet: { defaultActor: 'agent:default' } })
  const { app, takeFrames } = running
  const asAnn = async (request: InjectOptions): Promise<Readonly<Record<string, unknown>>> => {
    const response = await app.inject(withHeaders(request, { 'x-svc-actor': 'agent:owner', ...ANN }))
    assert.equal(response.statusCode, 200, response.body)
    return response.json()
  }
  await asAnn({ ...UPSERT, payload: { ...UPSERT.payload, actor: 'agent:owner' } })
  assert.equal(await provenance(running, 'a', 'price'), 'ann')

  await asAnn({ method: 'POST', url: '/api/materialize', payload: { actor: 'agent:owner' } })
  assert.deepEqual(
    (await takeFrames()).map(({ actor }) => actor),
    ['ann', 'ann'],
  )
  assert.equal(await provenance(running, 'a', 'rate'), 'ann')

  const { seq } = (await app.inject('/api/provenance?record_id=a&field=price')).json<{ seq: number }>()
  const cell = { record_id: 'a', field: 'price', seq, actor: 'agent:owner' }
  await asAnn({ method: 'POST', url: '/api/revert', payload: cell })
  assert.equal(await provenance(running, 'a', 'price'), 'ann')
  const { run_id: revert } = await asAnn({
    method: 'POST',
    url: '/api/revert',
    payload: { run_id: '1', actor: 'agent:owner' },
  })
  const run = (await app.inject(`/api/runs/${String(revert)}`)).json<{ actor: string }>()
  assert.equal(run.actor, 'ann')

  await asAnn({ method: 'DELETE', url: '/api/records?ids=b' })
  assert.equal(await provenance(running, 'b', 'title'), 'ann')

  const proposal = {
    method: 'POST',
    url: '/api/proposals',
    payload: { ids: ['c'], actor: 'agent:owner' },
  } as const
  assert.equal((await asAnn(proposal))['proposed_by'], 'ann')
  const accept = {
    method: 'POST',
    url: '/api/proposals/1/accept',
    payload: { actor: 'agent:owner' },
  } as const
  const own = await app.inject(withHeaders(accept, ANN))
  assert.equal(own.statusCode, 403, 'whoever the client says it is, ann proposed it')
  const bob = await app.inject(withHeaders(accept, { ...ANN, 'x-forwarded-user': 'bob' }))
  assert.equal(bob.json<{ decided_by: string }>().decided_by, 'bob')
  assert.equal(await provenance(running, 'c', 'title'), 'bob')
})

/** A write of `owner_note`, which is for `agent:owner` alone. */
function note(forwarded: string, named: string): InjectOptions {
  const payload = { records: [{ id: 'a', owner_note: 'mine' }], actor: named }
  return { ...UPSERT, headers: { ...CSRF, 'x-forwarded-user': forwarded, 'x-svc-actor': named }, payload }
}

test('D7: the actor that the proxy names decides about permissions', async (t) => {
  const running = await startApp(t, TRUSTING)
  const { app } = running
  const spoofed = await app.inject(note('ann', 'agent:owner'))
  assert.equal(spoofed.statusCode, 403)
  assert.match(spoofed.body, /actor \\"ann\\" may not write it/)
  assert.equal((await app.inject(note('agent:owner', 'ann'))).statusCode, 200)
  assert.equal(await provenance(running, 'a', 'owner_note'), 'agent:owner')
})

test('a name in UTF-8 is read as UTF-8, and one in Latin-1 as Latin-1', async (t) => {
  const running = await startApp(t, TRUSTING)
  for (const encoding of ['utf8', 'latin1'] as const) {
    const forwarded = Buffer.from('Zoë', encoding).toString('latin1')
    await running.app.inject(withHeaders(UPSERT, { ...CSRF, 'x-forwarded-user': forwarded }))
    assert.equal(await provenance(running, 'a', 'price'), 'Zoë', encoding)
  }
})

/** The head of an upsert and what is in it, as bytes on a connection. */
function messageWith(headers: readonly string[]): string {
  const body = JSON.stringify({ records: [{ id: 'a', price: 7 }], actor: 'agent:owner' })
  const fixed = [
    'POST /api/records HTTP/1.1',
    'Host: localhost',
    `Cookie: ${CSRF.cookie}`,
    `X-CSRF-Token: ${CSRF['x-csrf-token']}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return `${[...fixed, ...headers].join('\r\n')}\r\n\r\n${body}`
}

async function sent(
  t: TestContext,
  headers: readonly string[],
): Promise<{ status: number; actor: unknown; body: string }> {
  const running = await startApp(t, TRUSTING)
  const { status, body } = await exchange(t, await listen(running.app), messageWith(headers))
  return { status, body, actor: await provenance(running, 'a', 'price') }
}

test('two headers are refused, in any case and with any values', async (t) => {
  for (const second of ['X-Forwarded-User: ann', 'x-FORWARDED-user: bo', 'X-Forwarded-User:']) {
    const { status, body } = await sent(t, ['X-Forwarded-User: ann', second])
    assert.equal(status, 400, second)
    assert.match(body, /"ValidationError","message":"the header x-forwarded-user occurs more than once/)
  }
})

test('the name of the header is case-insensitive, and has only hyphens', async (t) => {
  assert.equal((await sent(t, ['X-FORWARDED-USER: ann'])).actor, 'ann')
  const { status, actor } = await sent(t, ['X-Forwarded-User: ann', 'X_Forwarded_User: bo'])
  assert.deepEqual([status, actor], [200, 'ann'])
})

test('a trailer of the body is not a header', async (t) => {
  const running = await startApp(t, TRUSTING)
  const [head = '', body = ''] = messageWith([])
    .replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked')
    .split('\r\n\r\n')
  const chunked = `${head}\r\nTrailer: X-Forwarded-User\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Forwarded-User: ann\r\n\r\n`
  const { status, body: answer } = await exchange(t, await listen(running.app), chunked)
  assert.equal(status, 400)
  assert.match(answer, /actor is required/)
})

test('without the option the header means nothing', async (t) => {
  const running = await startApp(t)
  const { app } = running
  assert.equal(
    (await app.inject(withHeaders(UPSERT, ANN))).json<{ error: { message: string } }>().error.message,
    'actor is required',
  )
  await app.inject(note('ann', 'agent:owner'))
  assert.equal(await provenance(running, 'a', 'owner_note'), 'agent:owner')
})

test('D7: permissions are those of the actor that the proxy names, whichever actor is requested', async (t) => {
  const { app } = await startApp(t, TRUSTING)
  const ask = (headers: Readonly<Record<string, string>>) =>
    app.inject({ url: '/api/permissions?actor=agent:owner', headers })
  const { actor, write, fixed } = (await ask(ANN)).json<{ actor: string; write: string[]; fixed?: true }>()
  assert.deepEqual([actor, write.includes('owner_note'), fixed], ['ann', false, true])
  assertEnvelope(await ask({}), 'ValidationError', NOT_THERE)
})
