import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../../src/http/app.ts'
import { CellExplanationAnswer } from '../../src/wire/runs/status.ts'
import { CSRF, runScenarios, startApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { openLookupSheet } from '../support/run-fixture.ts'

const NOTHING = {
  reasons: [],
  blocked_by: null,
  blocked_reason: null,
  waits_for: [],
  failure: null,
  entry: null,
}

const run = {
  method: 'POST' as const,
  url: '/api/materialize',
  headers: CSRF,
  payload: { actor: 'agent:run' },
}
const write = (...records: readonly object[]) => ({
  method: 'POST' as const,
  url: '/api/records',
  headers: CSRF,
  payload: { records, actor: 'agent:test' },
})

runScenarios('GET /api/status/{target}/{record_id}', [
  {
    name: 'a cell that was never computed is missing',
    request: { url: '/api/status/rate/a' },
    status: 200,
    body: { state: 'missing', ...NOTHING },
  },
  {
    name: 'D22: a blocked cell names its input',
    given: async ({ app }) => void (await app.inject(write({ id: 'a', currency: null }))),
    request: { url: '/api/status/rate/a' },
    status: 200,
    body: { ...NOTHING, state: 'blocked', blocked_by: 'currency', blocked_reason: 'input_empty' },
  },
  {
    name: 'D29: an unknown target is an OperationError that names it',
    request: { url: '/api/status/title/a' },
    status: 400,
    error: ['OperationError', /"title"; targets are rate/],
  },
  {
    name: 'an absent record is a SheetError that names it',
    request: { url: '/api/status/rate/nobody' },
    status: 404,
    error: ['SheetError', /"nobody"/],
  },
  {
    name: 'a query parameter is a ValidationError',
    request: { url: '/api/status/rate/a?history=true' },
    status: 400,
    error: ['ValidationError', /"history"/],
  },
  {
    name: 'another method is a 405',
    request: { method: 'DELETE', url: '/api/status/rate/a' },
    status: 405,
    error: ['OperationError', /GET/],
  },
  ...['/api/status/rate', '/api/status/rate/', '/api/status/rate/a/b'].map((url) => ({
    name: `${url} does not exist`,
    request: { url },
    status: 404,
    error: ['SheetError', /./] as const,
  })),
  {
    name: 'D3: an invalid derivation file is a ContractError',
    options: { files: { derivations: { 'rate.yaml': 'targets: 7' } } },
    request: { url: '/api/status/rate/a' },
    status: 500,
    error: ['ContractError', /rate\.yaml/],
  },
])

/** An explanation, held to its schema. */
async function explain(app: FastifyInstance, id: string): Promise<Record<string, unknown>> {
  const response = await app.inject({ url: `/api/status/rate/${encodeURIComponent(id)}` })
  assert.equal(response.statusCode, 200, response.body)
  const body = response.json<Record<string, unknown>>()
  const validate = new Ajv().compile(CellExplanationAnswer)
  assert.ok(validate(body), JSON.stringify(validate.errors))
  assert.deepEqual(Object.keys(body), Object.keys({ state: '', ...NOTHING }))
  return body
}

test('the explanation of a cell has the changes since its computation, and its failure', async (t) => {
  const { app } = await startApp(t)
  await app.inject(run)
  const entry = (await app.inject({ url: '/api/provenance?record_id=a&field=rate' })).json<unknown>()
  assert.deepEqual(await explain(app, 'a'), { state: 'fresh', ...NOTHING, entry })

  await app.inject(write({ id: 'a', currency: 'XXX' }))
  const reasons = [
    { part: 'input', field: 'currency', was: 'EUR', is: 'XXX' },
    { part: 'url', was: 'https://rates.example/EUR', is: 'https://rates.example/XXX' },
  ]
  assert.deepEqual(await explain(app, 'a'), { state: 'stale', ...NOTHING, reasons, entry })

  await app.inject(run)
  const { failure, ...rest } = await explain(app, 'a')
  assert.deepEqual(rest, {
    state: 'failed',
    reasons,
    blocked_by: null,
    blocked_reason: null,
    waits_for: [],
    entry,
  })
  const { at, ...why } = failure as { at: string }
  assert.match(at, /^\d{4}-.*Z$/)
  const error = 'GET https://rates.example/XXX -> no stub response'
  assert.deepEqual(why, { error, error_type: 'ServiceError', reason: 'no_stub_response' })
})

test('both versions of an edited derivation file are returned, with their texts', async (t) => {
  const lookups = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const app = createApp(lookups.sheet)
  onEnd(t, () => app.close())
  await lookups.run()
  const before = await readFile(join(lookups.directory, 'derivations', 'b.yaml'), 'utf8')
  const after = before.replace('{{ a }}', 'v2-{{ a }}')
  await lookups.edit('derivations/b.yaml', after)
  const { reasons } = (await app.inject('/api/status/b/1')).json<{ reasons: readonly object[] }>()
  assert.deepEqual(reasons[0], {
    part: 'derivation',
    was: sha256(before),
    is: sha256(after),
    was_text: before,
    is_text: after,
  })
})

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

test('D14: the cell of a record with any id can be requested by its encoded path', async (t) => {
  const ids = ['50%/a?b#c&d+e f', '...', '/', '%2F', '😀'.repeat(512), ':id', "it's*(1)!"]
  const { app } = await startApp(t, { files: { records: ids.map((id) => ({ id, title: 'Odd' })) } })
  for (const id of ids) {
    assert.equal((await explain(app, id))['blocked_by'], 'currency', id)
  }
})
