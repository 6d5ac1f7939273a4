import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { readProvenance } from '../../src/sheet/cells/read-provenance.ts'
import { listRunFailures } from '../../src/sheet/runs/read-runs.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { lookup, openLookupSheet, openRunSheet } from '../support/run-fixture.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

test('D26, H7: each failure has its text and type, the other cells are computed, and old values stay', async (t) => {
  const records = [
    'good',
    'status',
    'redirect',
    'text',
    'nothing',
    'missing',
    'inherited',
    'broken',
    '..',
  ].map((a) => ({ id: a === '..' ? 'dots' : a, a }))
  const run = await openLookupSheet(t, records)
  run.api.answer('/b/status', { json: { value: 'old' } })
  await run.run({ recordIds: ['status'] })
  run.api.answer('/b/status', { json: { value: 'not this' }, status: 503 })
  run.api.answer('/b/redirect', { json: { value: 'not this' }, status: 304 })
  run.api.answer('/b/text', { text: '<html>' })
  run.api.answer('/b/nothing', { text: '', status: 204 })
  run.api.answer('/b/missing', { json: { other: 1 } })
  run.api.answer('/b/inherited', { json: 'value' })
  run.api.answer('/b/broken', { breaks: true })

  const result = await run.run({ force: true })
  assert.deepEqual(Object.fromEntries(result.failures.map(({ recordId, error }) => [recordId, error])), {
    status: `GET ${run.api.url}/b/status -> 503`,
    redirect: `GET ${run.api.url}/b/redirect -> 304`,
    text: `GET ${run.api.url}/b/text -> malformed JSON`,
    nothing: `GET ${run.api.url}/b/nothing -> malformed JSON`,
    missing: `GET ${run.api.url}/b/missing -> no "value" in the response`,
    inherited: `GET ${run.api.url}/b/inherited -> no "value" in the response`,
    broken: `GET ${run.api.url}/b/broken -> connection closed`,
    dots: `GET ${run.api.url}/b/.. -> a value makes the path segment "..", which would lead to another path`,
  })
  for (const { field, errorType } of result.failures)
    assert.deepEqual([field, errorType], ['b', 'ServiceError'])
  assert.deepEqual([result.materialized, result.skipped], [1, 0])
  assert.equal(await run.value('good', 'b'), '<good>')
  assert.equal(await run.value('status', 'b'), 'old')
  assert.equal(run.api.calls()['GET /b/..'], undefined)
  assert.deepEqual(await run.counts('b'), { fresh: 1, failed: 8 })

  run.api.answer('/b/missing', { json: { value: 'there now' } })
  const again = await run.run({ recordIds: ['missing', 'good'] })
  assert.deepEqual([again.materialized, again.skipped, again.failures], [1, 1, []])
  assert.deepEqual(await run.counts('b'), { fresh: 2, failed: 7 })
})

test('the body of an error response is kept with the failure of the run and of the cell, and removed with it', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'silent' },
  ])
  const unknown = '{"error": "unknown company ü"}'
  run.api.answer('/b/x', { text: unknown, status: 404 })
  run.api.answer('/b/silent', { text: '', status: 404 })
  const { failures } = await run.run()
  // D26: the envelope is as it was.
  assert.deepEqual(Object.keys(failures[0] ?? {}), ['recordId', 'field', 'error', 'errorType', 'reason'])
  const { store } = await run.sheet.current()
  const [last] = await store.runs({ before: null, limit: 1 })
  assert.ok(last)
  const page = await listRunFailures(run.sheet, last.id, { limit: null, cursor: null })
  const said = page.failures.map(({ recordId, responseBody }) => [recordId, responseBody])
  assert.deepEqual(
    new Map(said as [string, unknown][]),
    new Map([
      ['1', unknown],
      ['2', undefined],
    ]),
  )
  assert.equal((await explainCell(run.sheet, 'b', '1')).failure?.responseBody, unknown)
  run.api.answer('/b/x', { json: { value: 'found' } })
  await run.run()
  assert.equal((await explainCell(run.sheet, 'b', '1')).failure, null)
})

test('a page of failures has at most 1 MiB of responses, and the next page continues', async (t) => {
  const ids = Array.from({ length: 600 }, (_, index) => `r${index}`)
  const run = await openLookupSheet(
    t,
    ids.map((id) => ({ id, a: id })),
  )
  run.api.answer('*', { text: 'x'.repeat(5000), status: 500 })
  await run.run()
  const read = (cursor: string | null): ReturnType<typeof listRunFailures> =>
    listRunFailures(run.sheet, '1', { limit: 10_000, cursor })
  const first = await read(null)
  assert.ok(first.failures.length > 500 && first.nextCursor !== null, String(first.failures.length))
  const second = await read(first.nextCursor)
  assert.equal(second.nextCursor, null)
  const all = [...first.failures, ...second.failures].map(({ number }) => number)
  assert.deepEqual(
    all,
    ids.map((_, index) => index + 1),
  )
})

test('D26, H6: a response that does not arrive in time fails its cell, with the time waited', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.edit('transport.yaml', "hosts: {'*': {timeout: 20ms}}")
  const late = run.api.hold('*')
  const { failures } = await run.run()
  late.release()
  const error = `GET ${run.api.url}/b/x -> timeout after 0.02 s`
  assert.deepEqual(failures, [
    { recordId: '1', field: 'b', error, errorType: 'ServiceError', reason: 'timeout' },
  ])
})

test('D26: values are validated against the contract: text takes numbers and booleans, other violations fail the cell', async (t) => {
  const run = await openRunSheet(t, {
    properties: [
      'a: string',
      '{name: text, logicalType: string, logicalTypeOptions: {maxLength: 4}}',
      'count: integer',
      '{name: state, logicalType: string, quality: [{metric: invalidValues, arguments: {validValues: [on, off]}, mustBe: 0}]}',
      "{name: need, logicalType: number, required: true, x-editable-by: ['user:*']}",
      'any: object',
      'list: array',
      '{name: key, logicalType: string, unique: true}',
    ],
    records: ['1', '2', '3', '4'].map((id) => ({ id, a: id, need: 0 })),
    derivations: (url) => ({
      'all.yaml': {
        targets: ['text', 'count', 'state', 'need', 'any', 'list', 'key'],
        inputs: ['a'],
        kind: 'http',
        url: `${url}/{{ a }}`,
        response_schema: { text: 't', count: 'n.0', state: 's', need: 'r', any: 'o', list: 'o.l', key: 'k' },
      },
    }),
  })
  const good = { t: 'text', n: [1], s: 'on', r: 1.5, o: { l: [1, null] }, k: null }
  run.api.answer('/1', { json: { ...good, t: true, k: 'one' } })
  run.api.answer('/2', { json: { ...good, t: 1.5, n: [1.5], s: 'ON', r: null, o: { l: {} } } })
  run.api.answer('/3', { json: { ...good, t: 12345, n: ['1'], s: null, k: 'one' }, status: 299 })
  run.api.answer('/4', { json: { ...good, t: { a: 1 }, n: [9007199254740992], r: true } })
  const { failures, materialized } = await run.run({ force: true, overwriteManual: true, actor: 'user:ann' })
  assert.deepEqual(
    failures
      .map(({ recordId, field, error, errorType }) => {
        assert.equal(errorType, 'ValidationError')
        const start = `GET ${run.api.url}/${recordId} -> field "${field}": `
        assert.ok(error.startsWith(start) && error.length > start.length, error)
        return `${recordId} ${field}`
      })
      .toSorted((a, b) => a.localeCompare(b)),
    ['2 count', '2 list', '2 need', '2 state', '3 count', '3 key', '3 text', '4 count', '4 need', '4 text'],
  )
  assert.equal(materialized, 28 - 10)
  const columns = ['text', 'count', 'state', 'need', 'any', 'list', 'key']
  const rows = await Promise.all(
    ['1', '2', '3', '4'].map(async (id) => {
      const record = await run.record(id)
      return columns.map((name) => record[name])
    }),
  )
  assert.deepEqual(rows, [
    ['true', 1, 'on', 1.5, { l: [1, null] }, [1, null], 'one'],
    ['1.5', null, null, 0, { l: {} }, null, null],
    [null, null, null, 1.5, { l: [1, null] }, [1, null], null],
    [null, null, 'on', 0, { l: [1, null] }, [1, null], null],
  ])
})

test('D26: a number for a number field may be as large as one written by hand; as text it would lose digits', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['amount: number', 'count: integer', 'text: string'],
    records: [{ id: '1' }, { id: '2' }],
    derivations: (url) => ({
      'all.yaml': {
        targets: ['amount', 'count', 'text'],
        inputs: [],
        kind: 'http',
        url: `${url}/{{ id }}`,
        response_schema: { amount: 'v', count: 'v', text: 'v' },
      },
    }),
  })
  run.api.answer('/1', { text: '{"v":12345678901234567890}' })
  run.api.answer('/2', { text: '{"v":1e300}' })
  const { failures } = await run.run()
  assert.deepEqual(
    failures.map(({ recordId, field }) => `${recordId} ${field}`).toSorted((a, b) => a.localeCompare(b)),
    ['1 count', '1 text', '2 count'],
  )
  assert.deepEqual(await run.record('1'), { id: '1', amount: 12345678901234567000, count: null, text: null })
  assert.deepEqual(await run.record('2'), { id: '2', amount: 1e300, count: null, text: '1e+300' })
  await run.write({ id: '1', amount: 12345678901234567000 })
})

test('D26: null at a path is a value: the cell is computed, fresh, and has a provenance entry', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  run.api.answer('/b/x', { json: { value: null } })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('b'), { fresh: 1 })
  assert.equal((await run.entry('1', 'b'))?.['value'], null)
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 1, failures: [], totalCost: 0 })
  await run.write({ id: '2', a: 'x' })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
})

test('D26, D32: the cells that share a failed call each have an entry; status has the time, the actor and the failure', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: [
      { id: '1', a: 'x' },
      { id: '2', a: 'y' },
    ],
    derivations: (url) => ({
      'bc.yaml': {
        targets: ['c', 'b'],
        inputs: ['a'],
        kind: 'http',
        url: `${url}/{{ a }}`,
        response_schema: { b: 'b', c: 'c' },
      },
    }),
  })
  run.api.answer('/x', { json: {}, status: 500 })
  run.api.answer('/y', { json: { b: 'B', c: 'C' } })
  const error = `GET ${run.api.url}/x -> 500`
  const { failures } = await run.run()
  assert.deepEqual(
    failures,
    ['c', 'b'].map((field) => ({ recordId: '1', field, error, errorType: 'ServiceError', reason: 'status' })),
  )
  const { lastAt, ...status } = await run.status('b')
  assert.deepEqual(status, {
    derivation: 'bc.yaml',
    kind: 'http',
    totalRecords: 2,
    fresh: 1,
    stale: 0,
    missing: 0,
    failed: 1,
    overridden: 0,
    blocked: 0,
    ready: { missing: 0, stale: 0, failed: 1 },
    lastActor: 'agent:runner',
    lastError: error,
  })
  assert.equal(lastAt, (await run.entry('2', 'b'))?.['at'])
  assert.match(lastAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(await run.entry('1', 'b'), null)
})

test('D22: no request is sent if a placeholder of URL or header is null, and the cells are skipped', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'h: string', 'm: string', 'b: string', 'c: string'],
    records: [
      { id: '1', a: 'x', h: 'y', m: 'z' },
      { id: '2', h: 'y', m: 'z' },
      { id: '3', a: 'x', m: 'z' },
      { id: '4', a: 'x', h: 'ö/ "', m: null },
      { id: '5', a: '', h: '', m: '' },
    ],
    derivations: (url) => ({
      'bc.yaml': {
        targets: ['b', 'c'],
        inputs: ['m'],
        kind: 'http',
        method: 'PUT',
        url: `${url}/p{{a}}`,
        headers: { 'X-H': 'h{{ h }}' },
        body_template: { m: '{{ m }}' },
        response_schema: { b: 'v', c: 'v' },
      },
    }),
  })
  run.api.answer('*', ({ body, headers }) => ({ json: { v: `${String(headers['x-h'])} ${body}` } }))
  assert.deepEqual(await run.run(), { materialized: 6, skipped: 4, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), { 'PUT /px': 2, 'PUT /p': 1 })
  assert.equal(await run.value('1', 'b'), 'hy {"m":"z"}')
  assert.equal(await run.value('4', 'c'), 'h%C3%B6%2F%20%22 {"m":null}')
  assert.deepEqual(await run.counts('b'), { fresh: 3, missing: 2 })
  // An input taken away keeps the value and leaves the cell stale: nothing can be asked any more.
  await run.write({ id: '1', h: null })
  assert.deepEqual(await run.run({ force: true, recordIds: ['1', '2'] }), {
    materialized: 0,
    skipped: 4,
    failures: [],
    totalCost: 0,
  })
  assert.equal(await run.value('1', 'b'), 'hy {"m":"z"}')
  assert.deepEqual(await run.counts('b'), { fresh: 2, stale: 1, missing: 2 })
})

test('H2, D21: values are percent-encoded in the URL, and provenance, failures and hash have that URL', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'n: number', 'f: boolean', 'l: array', 'b: string'],
    records: [{ id: '1', a: "a b/c?d=é'%", n: 1.5, f: true, l: ['x', 1] }],
    derivations: (url) => ({
      'b.yaml': { ...lookup(url, 'b', 'a'), inputs: [], url: `${url}/{{a}}?n={{ n }}&f={{f}}&l={{ l }}` },
    }),
  })
  run.api.answer('*', ({ path }) => ({ json: { value: path } }))
  const path = '/a%20b%2Fc%3Fd%3D%C3%A9%27%25?n=1.5&f=true&l=%5B%22x%22%2C1%5D'
  await run.run()
  assert.equal(await run.value('1', 'b'), path)
  const entry = await run.entry('1', 'b')
  assert.deepEqual(
    [entry?.['method'], entry?.['url'], entry?.['status']],
    ['GET', `${run.api.url}${path}`, 200],
  )
})

test('D29: absent records fail once per target, an empty list selects nothing, repeats count once', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'y' },
  ])
  assert.deepEqual(await run.run({ recordIds: [] }), {
    materialized: 0,
    skipped: 0,
    failures: [],
    totalCost: 0,
  })
  assert.deepEqual(await run.run({ targets: [] }), {
    materialized: 0,
    skipped: 0,
    failures: [],
    totalCost: 0,
  })
  assert.deepEqual(await run.run({ targets: [], recordIds: ['no'] }), {
    materialized: 0,
    skipped: 0,
    failures: [],
    totalCost: 0,
  })
  assert.deepEqual(await run.run({ recordIds: ['no', '2', 'no', '2', ''], targets: ['b', 'b'] }), {
    materialized: 1,
    skipped: 0,
    failures: [
      { recordId: 'no', field: 'b', error: 'no record "no"', errorType: 'SheetError', reason: 'no_record' },
      { recordId: '', field: 'b', error: 'no record ""', errorType: 'SheetError', reason: 'no_record' },
    ],
    totalCost: 0,
  })
  assert.deepEqual(run.api.calls(), { 'GET /b/y': 1 })
  for (const targets of [['a'], ['b', 'nope'], ['']]) {
    await assert.rejects(run.start({ targets }), {
      type: 'OperationError',
      message: /no derivation has the target .*targets are b/,
    })
  }
  assert.deepEqual(run.api.calls(), { 'GET /b/y': 1 })
})

const REQUEST = { targets: null, recordIds: null, force: false, actor: 'agent:runner' }

test('D41, H6: a run over a stub uses prepared payloads by exact method and URL; others fail their cells', async (t) => {
  const sheet = await openTestSheet(
    t,
    {},
    {
      transport: parseStub(
        JSON.stringify({
          responses: {
            'GET https://rates.example/EUR': { rate: 1 },
            'GET https://rates.example/USD/': { rate: 2 },
            'POST https://rates.example/XXX': { rate: 3 },
          },
        }),
      ),
    },
  )
  assert.deepEqual(await materialize(sheet, REQUEST), {
    materialized: 1,
    skipped: 0,
    failures: [
      {
        recordId: 'b',
        field: 'rate',
        error: 'GET https://rates.example/USD -> no stub response',
        errorType: 'ServiceError',
        reason: 'no_stub_response',
      },
      {
        recordId: 'c',
        field: 'rate',
        error: 'GET https://rates.example/XXX -> no stub response',
        errorType: 'ServiceError',
        reason: 'no_stub_response',
      },
    ],
    totalCost: 0,
  })
  const entry = await readProvenance(sheet, { recordId: 'a', field: 'rate' })
  const { at: _at, input_hash: _hash, ...rest } = entry as Record<string, unknown>
  assert.deepEqual(rest, {
    seq: 2,
    actor: 'agent:runner',
    source: 'http',
    record_id: 'a',
    field: 'rate',
    value: 1,
    previous: null,
    derivation: 'rate.yaml',
    run_id: '1',
    cached: false,
    status: 200,
    duration_ms: 0,
    method: 'GET',
    url: 'https://rates.example/EUR',
  })
})

test('D41: the fallback responds to unprepared requests, also if either is null', async (t) => {
  const stub = parseStub('{"responses": {"GET https://rates.example/EUR": null}, "fallback": {"rate": null}}')
  const sheet = await openTestSheet(t, {}, { transport: stub })
  const { materialized, failures } = await materialize(sheet, REQUEST)
  assert.equal(materialized, 2)
  assert.deepEqual(
    failures.map(({ error }) => error),
    ['GET https://rates.example/EUR -> no "rate" in the response'],
  )
  assert.equal(
    (JSON.parse(String((await getRecord(sheet, 'b', ['rate'])).json)) as { rate: unknown }).rate,
    null,
  )
})
