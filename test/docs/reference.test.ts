import { DeletedAnswer } from '../../src/wire/records/deleted.ts'
import { EraseAnswer, EraseBody } from '../../src/wire/records/erasure.ts'
import { CellWritersAnswer, ReviewBody } from '../../src/wire/records/reviews.ts'
import { VERDICTS } from '../../src/store/stored-review.ts'
import { FILTER_STATES } from '../../src/store/cell-state.ts'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { ERROR_TYPES } from '../../src/errors/codes.ts'
import { QUEUE_BYTES, QUEUE_LIMIT } from '../../src/events/event-bus.ts'
import { createApp } from '../../src/http/app.ts'
import { ERROR_MEANINGS } from '../../src/http/docs/error-meanings.ts'
import { STATUS } from '../../src/http/response/render-error.ts'
import {
  CONNECTION_LIMIT,
  HEAD_LIMIT,
  HEADER_COUNT_LIMIT,
  HTTP_TIMES,
  URL_LIMIT,
} from '../../src/http/http-server.ts'
import { PROPOSAL_BODY_LIMIT } from '../../src/http/routes/proposals.ts'
import { TEXT_LIMIT } from '../../src/sheet/writes/proposals.ts'
import { PROPOSAL_LIMITS } from '../../src/store/stored-proposal.ts'
import { JSON_DEPTH_LIMIT } from '../../src/sheet/json-body.ts'
import { SECURITY_HEADERS } from '../../src/http/middleware/security-headers.ts'
import { STALLED_MS } from '../../src/http/response/event-streams.ts'
import * as postgres from '../../src/store/postgres/database/schema.ts'
import * as sqlite from '../../src/store/sqlite/database/schema.ts'
import { FileColumnsAnswer, ImportAnswer } from '../../src/wire/records/import.ts'
import { whereParameter } from '../../src/wire/schema/conditions.ts'
import { CsrfAnswer } from '../../src/wire/service/csrf.ts'
import { FailureGroupAnswer, FailuresAnswer } from '../../src/wire/runs/failures.ts'
import { CONNECTED_COMMENT, KEEPALIVE_COMMENT, WireFrame } from '../../src/wire/runs/materialize-frames.ts'
import {
  FailureAnswer,
  MaterializeAnswer,
  MaterializeBody,
  RunPlanAnswer,
} from '../../src/wire/runs/materialize.ts'
import { ProposalPlanAnswer } from '../../src/wire/definition/proposal-plan.ts'
import { ProposeBody } from '../../src/wire/definition/propose.ts'
import {
  ProposedCellsAnswer,
  AcceptProposalBody,
  PlanProposalBody,
  FieldDifferenceAnswer,
  ProposalAnswer,
  ProposalListAnswer,
  RecordDifferenceAnswer,
  RejectProposalBody,
} from '../../src/wire/records/proposals.ts'
import { ChartBody, ChartListAnswer } from '../../src/wire/records/charts.ts'
import { ViewBody, ViewListAnswer } from '../../src/wire/records/views.ts'
import { CheckpointAnswer, ProofAnswer } from '../../src/wire/records/log.ts'
import { ProvenanceEntryAnswer } from '../../src/wire/records/provenance.ts'
import { QueryAnswer, QueryBody } from '../../src/wire/records/query.ts'
import {
  DeleteRecordsAnswer,
  PositionAnswer,
  RecordListAnswer,
  UpsertRecordsAnswer,
  UpsertRecordsBody,
} from '../../src/wire/records/records.ts'
import { MomentAnswer } from '../../src/wire/records/moment.ts'
import { RevertAnswer, RevertBody } from '../../src/wire/runs/revert.ts'
import {
  CancelRunBody,
  RunAnswer,
  RunCellsFrame,
  RunFailuresAnswer,
  RunListAnswer,
  RunProgressFrame,
} from '../../src/wire/runs/runs.ts'
import {
  CellExplanationAnswer,
  CellFailureAnswer,
  CellReasonAnswer,
  TargetStatusAnswer,
} from '../../src/wire/runs/status.ts'
import { SheetFrame } from '../../src/wire/service/sheet-frame.ts'
import {
  ChangeAnswer,
  PutDerivationAnswer,
  HistoryAnswer,
  RevertChangeBody,
} from '../../src/wire/definition/change.ts'
import { PreviewAnswer, PreviewBody, RecordPreviewAnswer } from '../../src/wire/definition/preview.ts'
import {
  AddPropertyBody,
  ChangePropertyBody,
  ContractChangeAnswer,
  PutContractBody,
} from '../../src/wire/definition/contract-changes.ts'
import {
  DerivationAnswer,
  DerivationFileAnswer,
  DerivationListAnswer,
  PutDerivationBody,
} from '../../src/wire/definition/derivations.ts'
import { HealthAnswer } from '../../src/wire/service/health.ts'
import { PermissionsAnswer } from '../../src/wire/records/permissions.ts'
import { DialectAnswer } from '../../src/wire/records/sql.ts'
import { FieldSummaryAnswer, RecordGroupAnswer, SummaryAnswer } from '../../src/wire/records/summary.ts'
import { CSRF, listen } from '../support/http-fixture.ts'
import { code, codes, headings, readPage, section, tableOf, tables, type Table } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

const http = readPage('docs/reference/http.md')
const events = readPage('docs/reference/events.md')
const errors = readPage('docs/reference/errors.md')

/** The members of a schema that are compared. */
interface ObjectShape {
  readonly properties: Readonly<Record<string, unknown>>
  readonly required?: readonly string[] | undefined
}

interface Route {
  readonly method: HTTPMethods
  /** With `{id}` for a parameter. */
  readonly path: string
  readonly query: ObjectShape
}

/** The app and what it registers; `HEAD` comes with `GET`. */
async function openApp(
  t: TestContext,
): Promise<{ app: FastifyInstance; routes: ReadonlyMap<string, Route> }> {
  const app = createApp(await openTestSheet(t))
  onEnd(t, () => app.close())
  const routes = new Map<string, Route>()
  app.addHook('onRoute', ({ method, url, schema }) => {
    const path = url.replaceAll(/:(\w+)/g, '{$1}')
    for (const one of [method].flat().filter((name) => name !== 'HEAD')) {
      routes.set(`${one} ${path}`, { method: one, path, query: schema?.querystring as ObjectShape })
    }
  })
  await app.ready()
  return { app, routes }
}

/** The forms of a body as one table has them: a member of one form only is not required. */
function inOneTable({ anyOf }: { readonly anyOf: readonly ObjectShape[] }): ObjectShape {
  const properties = Object.assign({}, ...anyOf.map((form) => form.properties)) as ObjectShape['properties']
  const isAlwaysRequired = (name: string): boolean => anyOf.every(({ required }) => required?.includes(name))
  return { properties, required: Object.keys(properties).filter(isAlwaysRequired) }
}

/** What routes take and answer, as far as there are named members; `GET /api/contract` and records have none. */
const BODIES: Readonly<Record<string, ObjectShape>> = {
  'POST /api/records': UpsertRecordsBody,
  'PUT /api/contract': PutContractBody,
  'POST /api/contract/properties': AddPropertyBody,
  'PATCH /api/contract/properties/{name}': ChangePropertyBody,
  'PUT /api/derivations/{file}': PutDerivationBody,
  'POST /api/definition/revert': RevertChangeBody,
  'POST /api/derivations/preview': PreviewBody,
  'POST /api/query': QueryBody,
  'POST /api/materialize': MaterializeBody,
  'POST /api/runs/{id}/cancel': CancelRunBody,
  'POST /api/revert': inOneTable(RevertBody),
  'POST /api/reviews': ReviewBody,
  'POST /api/erase': EraseBody,
  'POST /api/proposals': inOneTable(ProposeBody),
  'POST /api/proposals/{id}/accept': AcceptProposalBody,
  'POST /api/proposals/{id}/plan': PlanProposalBody,
  'POST /api/proposals/{id}/reject': RejectProposalBody,
  'POST /api/views': ViewBody,
  'POST /api/charts': ChartBody,
}
const ANSWERS: Readonly<Record<string, ObjectShape>> = {
  'GET /api/csrf': CsrfAnswer,
  'GET /api/healthz': HealthAnswer,
  'GET /api/records': RecordListAnswer,
  'POST /api/records': UpsertRecordsAnswer,
  'DELETE /api/records': DeleteRecordsAnswer,
  'POST /api/query': QueryAnswer,
  'GET /api/position': PositionAnswer,
  'GET /api/sql': DialectAnswer,
  'GET /api/summary': SummaryAnswer,
  'GET /api/status': TargetStatusAnswer,
  'GET /api/status/{target}/{record_id}': CellExplanationAnswer,
  'GET /api/sheet/events': SheetFrame,
  'GET /api/derivations': DerivationListAnswer,
  'GET /api/derivations/{file}': DerivationFileAnswer,
  'PUT /api/contract': ContractChangeAnswer,
  'PUT /api/derivations/{file}': PutDerivationAnswer,
  'POST /api/derivations/preview': PreviewAnswer,
  'GET /api/definition/history': HistoryAnswer,
  'GET /api/definition/history/{id}': ChangeAnswer,
  'GET /api/permissions': PermissionsAnswer,
  'POST /api/materialize': MaterializeAnswer,
  'GET /api/runs': RunListAnswer,
  'GET /api/runs/{id}': RunAnswer,
  'GET /api/runs/{id}/failures': RunFailuresAnswer,
  'GET /api/provenance': ProvenanceEntryAnswer,
  'GET /api/history': MomentAnswer,
  'POST /api/import': ImportAnswer,
  'POST /api/import/columns': FileColumnsAnswer,
  'GET /api/deleted': DeletedAnswer,
  'POST /api/revert': RevertAnswer,
  'POST /api/erase': EraseAnswer,
  'GET /api/proposals': ProposalListAnswer,
  'GET /api/proposals/{id}': ProposalAnswer,
  'POST /api/proposals/{id}/plan': ProposalPlanAnswer,
  'GET /api/cells/proposed': ProposedCellsAnswer,
  'GET /api/cells/writers': CellWritersAnswer,
  'GET /api/failures': FailuresAnswer,
  'GET /api/log/checkpoint': CheckpointAnswer,
  'GET /api/log/proof': ProofAnswer,
  'GET /api/views': ViewListAnswer,
  'GET /api/charts': ChartListAnswer,
}

const indexOfRoutes = tableOf(http, 'Method and path').rows.map(([link, csrf]) => ({
  name: code(link),
  csrf,
}))

test('the HTTP reference lists exactly the routes, each with its section', async (t) => {
  const { routes } = await openApp(t)
  assert.deepEqual(indexOfRoutes.map(({ name }) => name).toSorted(), [...routes.keys()].toSorted())
  const titles = headings(http).map(({ title }) => title)
  const sections = titles.filter((title) => /^[A-Z]+ \//.test(title))
  assert.deepEqual(
    sections.toSorted(),
    [...routes.keys()].filter((name) => name !== 'GET /events').toSorted(),
  )
  assert.match(events, /^`GET \/events` is /m)
})

/** These answer without end. */
function isStream(route: string): boolean {
  return route === 'GET /events' || route === 'GET /api/sheet/events'
}

test('exactly the routes that the HTTP reference marks require a CSRF token', async (t) => {
  const { app, routes } = await openApp(t)
  for (const { name, csrf } of indexOfRoutes.filter((route) => !isStream(route.name))) {
    const { method, path } = routes.get(name) ?? assert.fail(name)
    const { statusCode } = await app.inject({
      method,
      url: path,
    })
    assert.equal(statusCode === 403 ? 'yes' : 'no', csrf, name)
  }
})

test('the HTTP reference lists exactly the query parameters of each route', async (t) => {
  const { routes } = await openApp(t)
  for (const [name, { query }] of routes) {
    const text = name === 'GET /events' ? events : section(http, name)
    const rows = tables(text).flatMap(({ head, rows: all }) => (head[0]?.startsWith('Parameter') ? all : []))
    const inSentences = [...text.matchAll(/\bparameter `(\w+)`/gi)].map(([, parameter = '']) => parameter)
    const documented = [...rows.map(([first]) => code(first)), ...inSentences].filter(
      (word) => word !== 'X-Svc-Actor',
    )
    assert.deepEqual(documented.toSorted(), Object.keys(query.properties).toSorted(), name)
    checkRequired(
      rows.filter(([first]) => first !== '`X-Svc-Actor`'),
      name,
      query,
    )
  }
})

/** Rows that say `yes` or `no` must say what the schema says; `ids` is a rule of its own (D15). */
function checkRequired(rows: Table['rows'], name: string, { required = [] }: ObjectShape): void {
  for (const [first, says] of rows) {
    if (says !== 'yes' && says !== 'no') continue
    const isRuled = name === 'DELETE /api/records' && code(first) === 'ids'
    const expected = required.includes(code(first)) || isRuled ? 'yes' : 'no'
    assert.equal(says, expected, `${name}: ${first}`)
  }
}

/** The tables of members in a section: of the body, which say what is required, and of the answer. */
function memberTables(name: string): { body: Table | undefined; answer: Table | undefined } {
  const found = tables(section(http, name)).filter(({ head }) => head[0] === 'Member')
  const [body, ...otherBodies] = found.filter(({ head }) => head.includes('Required'))
  const [answer, ...otherAnswers] = found.filter(({ head }) => !head.includes('Required'))
  assert.deepEqual([otherBodies, otherAnswers], [[], []], name)
  return { body, answer }
}

function membersOf(table: Table | undefined): string[] {
  return (table?.rows ?? []).map(([first]) => code(first)).toSorted()
}

for (const { name } of indexOfRoutes.filter((route) => route.name !== 'GET /events')) {
  test(`the members of body and answer of ${name} are those of the HTTP reference`, () => {
    const { body, answer } = memberTables(name)
    assert.deepEqual(membersOf(body), Object.keys(BODIES[name]?.properties ?? {}).toSorted(), 'body')
    assert.deepEqual(membersOf(answer), Object.keys(ANSWERS[name]?.properties ?? {}).toSorted(), 'answer')
    checkRequired(
      (body?.rows ?? []).map(([first, , says]) => [first ?? '', says ?? '']),
      name,
      BODIES[name] ?? { properties: {} },
    )
  })
}

test('the members of the summary of a field are those of the HTTP reference', () => {
  const table = tableOf(section(http, 'GET /api/summary'), 'Of a field')
  assert.deepEqual(membersOf(table), Object.keys(FieldSummaryAnswer.properties).toSorted())
})

test('the members of a group are those of the HTTP reference', () => {
  const table = tableOf(section(http, 'GET /api/summary'), 'Of a group')
  assert.deepEqual(membersOf(table), Object.keys(RecordGroupAnswer.properties).toSorted())
})

test('the members of a group of failures are those of the HTTP reference', () => {
  const table = tableOf(section(http, 'GET /api/failures'), 'Of a failure group')
  assert.deepEqual(membersOf(table), Object.keys(FailureGroupAnswer.properties).toSorted())
})

test("the members of a proposal's changes to a record, and to a field, are those of the HTTP reference", () => {
  const text = section(http, 'GET /api/proposals/{id}')
  const parts = { 'Of a record': RecordDifferenceAnswer, 'Of a field': FieldDifferenceAnswer }
  for (const [title, { properties }] of Object.entries(parts)) {
    assert.deepEqual(membersOf(tableOf(text, title)), Object.keys(properties).toSorted())
  }
})

test('the limits of proposals are those of the HTTP reference', () => {
  const text = section(http, 'POST /api/proposals')
  const { records, bytes, waiting, waitingBytes } = PROPOSAL_LIMITS
  for (const limit of [records, bytes, waiting, waitingBytes, PROPOSAL_BODY_LIMIT, TEXT_LIMIT]) {
    assert.match(text, new RegExp(` ${limit.toLocaleString('en')}[ .]`))
  }
})

test('the members of a derivation are those of the HTTP reference', () => {
  const table = tableOf(section(http, 'GET /api/derivations'), 'Of a derivation')
  assert.deepEqual(membersOf(table), Object.keys(DerivationAnswer.properties).toSorted())
})

test('the members of a record in a preview are those of the HTTP reference', () => {
  const table = tableOf(section(http, 'POST /api/derivations/preview'), 'Of a record')
  assert.deepEqual(membersOf(table), Object.keys(RecordPreviewAnswer.properties).toSorted())
})

test('every documented body or response belongs to a route', async (t) => {
  const { routes } = await openApp(t)
  for (const name of [...Object.keys(BODIES), ...Object.keys(ANSWERS)]) assert.ok(routes.has(name), name)
})

test('D33: provenance entries have the members that the HTTP reference lists for their origin', async (t) => {
  const { app } = await openApp(t)
  const { rows } = tableOf(section(http, 'GET /api/provenance'), 'Member')
  const expected = (...groups: readonly string[]): string[] =>
    rows
      .filter(([, , group = '']) => groups.includes(group))
      .map(([member]) => code(member))
      .toSorted()
  const entry = async (field: string): Promise<Record<string, unknown>> =>
    (await app.inject(`/api/provenance?record_id=a&field=${field}`)).json()
  const write = (method: 'POST' | 'DELETE', url: string, payload = {}): unknown =>
    app.inject({ method, url, payload, headers: { ...CSRF, 'x-svc-actor': 'user:ann' } })

  const imported = await entry('title')
  await write('POST', '/api/materialize', { actor: 'agent:run' })
  const computed = await entry('rate')
  await write('POST', '/api/revert', {
    actor: 'agent:run',
    record_id: 'a',
    field: 'rate',
    seq: computed['seq'],
  })
  const reverted = await entry('rate')
  await write('POST', '/api/records', { actor: 'user:ann', records: [{ id: 'a', price: 3 }] })
  const written = await entry('price')
  await write('DELETE', '/api/records?ids=a')
  const deleted = await entry('title')
  await write('POST', '/api/proposals', { actor: 'agent:writer', records: [{ id: 'b', price: 4 }] })
  await write('POST', '/api/proposals/1/accept', { actor: 'user:ann' })
  const accepted: Record<string, unknown> = (
    await app.inject('/api/provenance?record_id=b&field=price')
  ).json()
  await write('POST', '/api/materialize', {
    actor: 'agent:run',
    record_ids: ['b'],
    force: true,
    reuse_responses: true,
  })
  const reused: Record<string, unknown> = (await app.inject('/api/provenance?record_id=b&field=rate')).json()
  const found = [imported, computed, reverted, written, deleted, accepted, reused]
  assert.deepEqual(
    found.map(({ source }) => source),
    ['import', 'http', 'revert', 'write', 'delete', 'write', 'http'],
  )
  assert.deepEqual(
    found.map((members) => Object.keys(members).toSorted()),
    [
      expected('all', 'imports'),
      expected('all', 'derived cells', 'http'),
      expected('all', 'reverts'),
      expected('all'),
      expected('all'),
      expected('all', 'proposals'),
      expected('all', 'derived cells', 'http', 'kept responses'),
    ],
  )
})

test('the members of a failure are those of the HTTP reference', () => {
  const sentence = /A failure has .*?\./.exec(section(http, 'POST /api/materialize'))?.[0] ?? ''
  const members = codes(sentence).filter((word) => /^\w+$/.test(word))
  assert.deepEqual(members.toSorted(), Object.keys(FailureAnswer.properties).toSorted())
})

test('the reasons and the failure of a cell have the members that the HTTP reference names', () => {
  const text = section(http, 'GET /api/status/{target}/{record_id}')
  const parts = tableOf(text, '`part`').rows.map(([part]) => code(part))
  assert.deepEqual(
    parts,
    CellReasonAnswer.anyOf.map(({ properties }) => properties.part.const as string),
  )
  const members = CellReasonAnswer.anyOf.flatMap(({ properties }) => Object.keys(properties))
  const failure = tableOf(text, 'Member').rows.find(([member]) => code(member) === 'failure') ?? []
  for (const member of members) assert.ok(codes(text).includes(member), member)
  for (const member of Object.keys(CellFailureAnswer.properties)) {
    assert.ok(codes(failure[2] ?? '').includes(member), member)
  }
})

test('limits of requests are those of the HTTP reference', () => {
  const limits = new Map(
    tableOf(section(http, 'Limits'), 'Limit of').rows.map(([what, limit]) => [what, limit]),
  )
  assert.equal(limits.get('URL'), `${URL_LIMIT.toLocaleString('en')} bytes`)
  assert.equal(limits.get('request line and headers together'), `${HEAD_LIMIT.toLocaleString('en')} bytes`)
  assert.equal(limits.get('headers'), HEADER_COUNT_LIMIT.toLocaleString('en'))
  assert.equal(limits.get('connections'), CONNECTION_LIMIT.toLocaleString('en'))
  assert.equal(limits.get('arrays and objects inside each other'), `${JSON_DEPTH_LIMIT} levels of a body`)
  const { headersMs, bodyPace, requestMs, answerMs, idleMs } = HTTP_TIMES
  const pace = `${bodyPace.bytes.toLocaleString('en')} bytes in ${bodyPace.windowMs / 1000} seconds`
  assert.equal(limits.get('time for the headers to arrive'), `${headersMs / 1000} seconds`)
  assert.equal(limits.get('rate of an arriving body'), pace)
  assert.equal(limits.get('time for the whole request to arrive'), `${requestMs / 60_000} minutes`)
  assert.equal(
    limits.get('a response that is not read'),
    `${answerMs / 1000} to ${(2 * answerMs) / 1000} seconds`,
  )
  assert.equal(limits.get('an idle connection'), `${idleMs / 1000} seconds`)
})

test('the event reference lists exactly the kinds of frames and their members', () => {
  const frames = new Map(
    WireFrame.anyOf.map(({ properties }) => [properties.kind.const as string, properties]),
  )
  const kinds = headings(section(events, 'Frames')).map(({ title }) => title)
  assert.deepEqual(kinds.toSorted(), [...frames.keys()].toSorted())
  for (const [kind, properties] of frames) {
    const documented = tableOf(section(events, kind), 'Member').rows.map(([member]) => code(member))
    assert.deepEqual(documented, Object.keys(properties), kind)
  }
})

test('the frames of a run and their members are in the event reference', () => {
  const text = section(events, 'Frames of a run')
  const frames = { 'run.progress': RunProgressFrame, 'run.cells': RunCellsFrame }
  assert.deepEqual(
    headings(text).map(({ title }) => title),
    [...Object.keys(frames), 'run.end'],
  )
  for (const [kind, { properties }] of Object.entries(frames)) {
    const documented = tableOf(section(events, kind), 'Member').rows.map(([member]) => code(member))
    assert.deepEqual(documented, Object.keys(properties), kind)
  }
  const cell = /A cell has .*$/m.exec(text)?.[0] ?? ''
  const members = codes(cell).filter((word) => !['running', 'fresh', 'failed'].includes(word))
  assert.deepEqual(
    members.toSorted(),
    Object.keys(RunCellsFrame.properties.cells.items.properties).toSorted(),
  )
})

test('the members of a plan are those of the HTTP reference', () => {
  const text = section(http, 'The plan')
  const { targets, ...others } = RunPlanAnswer.properties
  const [cells = ''] = /^- `targets`: .*$/m.exec(text) ?? []
  const counts = Object.values(targets.patternProperties)[0]?.properties ?? {}
  for (const member of Object.keys(counts)) assert.ok(codes(cells).includes(member), member)
  for (const member of Object.keys(others)) assert.ok(codes(text).includes(member), member)
})

test('comments, queue and time limit of the stream are those of the event reference', () => {
  const said = codes(section(events, 'Framing'))
  for (const comment of [CONNECTED_COMMENT, KEEPALIVE_COMMENT])
    assert.ok(said.includes(comment.trim()), comment)
  const slow = section(events, 'Slow subscribers')
  assert.match(slow, new RegExp(`up to ${QUEUE_LIMIT} frames`))
  assert.match(slow, new RegExp(`\\b${QUEUE_BYTES / 1024 / 1024} MiB together`))
  const seconds = STALLED_MS / 1000
  assert.match(slow, new RegExp(`\\bafter ${seconds} to ${2 * seconds} seconds`))
})

test('the headers of the stream are those of the event reference', async (t) => {
  const { app } = await openApp(t)
  const port = await listen(app)
  const stop = new AbortController()
  onEnd(t, () => stop.abort())
  const { headers } = await fetch(`http://127.0.0.1:${port}/events`, { signal: stop.signal })
  const documented = tableOf(section(events, 'Framing'), 'Header').rows.map(([name, value = '']) => [
    code(name).toLowerCase(),
    codes(value)[0],
  ])
  const own = [...headers].filter(([name]) => !['date', 'set-cookie', 'transfer-encoding'].includes(name))
  assert.deepEqual(Object.fromEntries(documented), Object.fromEntries(own))
  assert.ok(headers.has('set-cookie'))
})

test('the headers of every response are those of the HTTP reference', () => {
  const { rows } = tableOf(
    section(http, 'Headers of every response').split('without exception')[1] ?? '',
    'Header',
  )
  const documented = rows.map(([name, value]) => [code(name).toLowerCase(), code(value)])
  assert.deepEqual(Object.fromEntries(documented), SECURITY_HEADERS)
})

test('the error reference lists exactly the error types and their status', () => {
  const [table] = tables(errors).filter(({ head }) => head[0] === 'Type')
  const meanings = (table?.rows ?? []).map(([type, , meaning]) => [code(type), meaning])
  assert.deepEqual(Object.fromEntries(meanings), ERROR_MEANINGS, 'as the page of the service says it')
  const documented = (table?.rows ?? []).map(([type, status]) => [code(type), Number(status)])
  assert.deepEqual(Object.fromEntries(documented), STATUS)
  assert.deepEqual(documented.map(([type]) => String(type)).toSorted(), [...ERROR_TYPES].toSorted())
  const others = tables(errors).flatMap(({ head, rows }) => {
    const column = head.findIndex((title) => title === 'Type' || title === '`error_type`')
    return rows.map((row) => code(row[column]))
  })
  for (const type of others) assert.ok(Object.hasOwn(STATUS, type), type)
})

test('the error types of failures are those of the error reference', () => {
  const derivations = section(readPage('docs/reference/derivations.md'), 'Failures')
  const rendered = tableOf(derivations, 'Reason').rows.map(([, , type]) => code(type))
  const documented = tableOf(section(errors, 'Failures'), '`error_type`').rows.map(([type]) => code(type))
  assert.deepEqual(new Set(documented), new Set(rendered))
})

test('the operators of conditions are those of the HTTP reference', () => {
  const rows = tableOf(section(http, 'GET /api/records'), 'Operator').rows
  const named = rows.flatMap(([first = '']) => codes(first))
  const described = codes((whereParameter as { readonly description?: string }).description ?? '')
  const others = new Set<string>([...FILTER_STATES, ...VERDICTS, 'filter', 'fields'])
  assert.deepEqual(
    named.toSorted(),
    described.filter((word) => /^[a-z_]+$/.test(word) && !others.has(word)).toSorted(),
  )
})

test('the changelog names the version of the stores', () => {
  const versions = `version ${sqlite.SCHEMA_VERSION} in \`sheet.db\` and ${postgres.SCHEMA_VERSION} in PostgreSQL`
  assert.ok(readPage('CHANGELOG.md').includes(versions), versions)
})
