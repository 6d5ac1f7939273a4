import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { OperationError, ValidationError } from '../../src/errors/service-error.ts'
import { listRecords, type ListRecordsQuery } from '../../src/sheet/queries/list-records.ts'
import { locateRecord } from '../../src/sheet/queries/locate-record.ts'
import { readDialect } from '../../src/sheet/queries/read-dialect.ts'
import { summarizeRecords } from '../../src/sheet/queries/summarize-records.ts'
import {
  answerLookups,
  lookup,
  openRunSheet,
  writeDerivations,
  type RunSheet,
} from '../support/run-fixture.ts'

const RECORDS = ['fresh', 'stale', 'failed', 'overridden', 'empty', 'missing'].map((id) => ({
  id,
  key: id === 'empty' ? null : id,
}))

/** A sheet with a cell of `text` in the state that the id of its record names; of record `empty` it is missing and blocked. */
async function openStates(t: TestContext): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: [
      'key: string',
      "{name: text, logicalType: string, x-editable-by: ['user:*']}",
      'label: string',
    ],
    records: RECORDS,
    derivations: (url) => ({ '1.yaml': lookup(url, 'text', 'key'), '2.yaml': lookup(url, 'label', 'text') }),
  })
  answerLookups(run.api)
  run.api.answer('/text/failed', { json: null, status: 503 })
  await run.write({ id: 'overridden', text: 'by hand' })
  await run.run({ targets: ['text'], recordIds: ['fresh', 'stale', 'failed', 'empty'] })
  await run.write({ id: 'stale', key: 'changed' })
  return run
}

async function idsOf(
  run: RunSheet,
  where: JsonValue,
  query: Partial<ListRecordsQuery> = {},
): Promise<readonly string[]> {
  const { records } = await listRecords(run.sheet, { ...query, fields: ['id'], where: JSON.stringify(where) })
  return (JSON.parse(String(records)) as readonly { readonly id: string }[]).map(({ id }) => id)
}

async function countOf(run: RunSheet, where: JsonValue, filter: string | null = null): Promise<number> {
  const summary = await summarizeRecords(run.sheet, { fields: null, filter, where: JSON.stringify(where) })
  return (JSON.parse(String(summary)) as { readonly count: number }).count
}

const inText = (...state: readonly string[]): JsonObject => ({ state, fields: ['text'] })

test('D32: a condition selects the records whose cell of a field is in a state', async (t) => {
  const run = await openStates(t)
  for (const [states, ids] of [
    [['fresh'], ['fresh']],
    [['stale'], ['stale']],
    [['failed'], ['failed']],
    [['overridden'], ['overridden']],
    [['missing'], ['missing']],
    [['blocked'], ['empty']],
    [
      ['missing', 'blocked', 'stale'],
      ['stale', 'empty', 'missing'],
    ],
  ] as const) {
    assert.deepEqual(await idsOf(run, inText(...states)), ids, `records with ${states.join()}`)
    assert.equal(await countOf(run, inText(...states)), ids.length, `count of ${states.join()}`)
  }
})

test('without fields, the cells of all derived fields count, each record once', async (t) => {
  const run = await openStates(t)
  const failedOrBlocked = { state: ['failed', 'blocked'] }
  assert.deepEqual(await idsOf(run, failedOrBlocked), ['failed', 'empty'])
  assert.equal(await countOf(run, failedOrBlocked), 2)
  // Labels of a failed or empty text are blocked.
  assert.equal(await countOf(run, { state: ['missing'] }), 4)
})

test('a condition on states is combined with conditions, filters, orders and positions', async (t) => {
  const run = await openStates(t)
  const known = inText('fresh', 'stale', 'failed')
  assert.deepEqual(await idsOf(run, { not: known }), ['overridden', 'empty', 'missing'])
  const both = { and: [known, { field: 'id', operator: 'not_equals', value: 'stale' }] }
  assert.deepEqual(await idsOf(run, both), ['fresh', 'failed'])
  assert.deepEqual(await idsOf(run, known, { sort: ['-id'] }), ['stale', 'fresh', 'failed'])
  assert.deepEqual(await idsOf(run, known, { sort: ['-id'], position: 1, limit: 1 }), ['fresh'])
  const filter = "id <> 'fresh'"
  assert.deepEqual(await idsOf(run, known, { filter }), ['stale', 'failed'])
  assert.deepEqual(await idsOf(run, { or: [known, inText('missing')] }, { filter, limit: 2 }), [
    'stale',
    'failed',
  ])
  assert.equal(await countOf(run, known, filter), 2)
  const located = { id: 'failed', filter: null, where: JSON.stringify(known), sort: null }
  assert.equal(await locateRecord(run.sheet, located), 2)
  assert.equal(await locateRecord(run.sheet, { ...located, filter }), 1)
})

test('states are those after an edit of the derivation file', async (t) => {
  const run = await openStates(t)
  assert.deepEqual(await idsOf(run, inText('stale')), ['stale'])
  await writeDerivations(run.directory, {
    '1.yaml': { ...lookup(run.api.url, 'text', 'key'), url: `${run.api.url}/text/{{ key }}?v=2` },
  })
  assert.deepEqual(await idsOf(run, inText('stale')), ['fresh', 'stale'])
})

test('a condition on states that cannot be used is refused with what to do', async (t) => {
  const run = await openStates(t)
  const refused = (where: JsonValue, type: typeof ValidationError | typeof OperationError, message: RegExp) =>
    assert.rejects(idsOf(run, where), (error: Error) => error instanceof type && message.test(error.message))
  await refused(
    { state: ['faild'] },
    ValidationError,
    /^where\.state is unknown: "faild"; did you mean failed\?$/,
  )
  await refused(
    { state: 'failed' },
    ValidationError,
    /^where\.state must be an array of 1 to 1000 names, got "failed"$/,
  )
  await refused({ state: ['failed'], fields: [] }, ValidationError, /^where\.fields must be an array/)
  await refused(
    { state: ['failed'], fields: ['txt'] },
    ValidationError,
    /unknown field "txt" \(did you mean "text"\?\)/,
  )
  await refused(
    { state: ['failed'], fields: ['key'] },
    OperationError,
    /no derivation has the target "key"; targets are/,
  )
  await refused({ state: ['failed'], field: 'text' }, ValidationError, /has the member "field"/)
  await assert.rejects(
    readDialect(run.sheet, JSON.stringify(inText('failed'))),
    /cannot be translated into SQL/,
  )
})
