import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { readCellStates } from '../../src/sheet/cells/read-cell-states.ts'
import type { RunSelection } from '../../src/sheet/runs/selection/run-selection.ts'
import {
  answerLookups,
  lookup,
  openRunSheet,
  writeDerivations,
  type RunSheet,
} from '../support/run-fixture.ts'

const ALL = { targets: null, recordIds: null, force: false } as const

/** `text` is looked up by `url`, and posted to get `entities`, which are posted to get `score`: a null in a body is sent. */
async function openTexts(t: TestContext, records: readonly JsonObject[]): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: [
      'url: string',
      "{name: text, logicalType: string, x-editable-by: ['user:*']}",
      'entities: string',
      'score: string',
    ],
    records,
    derivations: (url) => ({
      '1.yaml': lookup(url, 'text', 'url'),
      '2.yaml': posted(url, 'entities', 'text'),
      '3.yaml': posted(url, 'score', 'entities'),
    }),
  })
  answerLookups(run.api)
  for (const field of ['entities', 'score']) {
    run.api.answer(`/${field}`, ({ body }) => ({ json: { value: `${field} of ${body}` } }))
  }
  return run
}

function posted(url: string, target: string, input: string): JsonObject {
  return {
    targets: [target],
    inputs: [input],
    kind: 'http',
    method: 'POST',
    url: `${url}/${target}`,
    body_template: { [input]: `{{ ${input} }}` },
    response_path: 'value',
  }
}

/** The counts of a target that are not zero, `blocked` beside the five. */
async function countsOf(run: RunSheet, target: string): Promise<object> {
  const { blocked } = await run.status(target)
  return { ...(await run.counts(target)), ...(blocked > 0 && { blocked }) }
}

async function statesOf(run: RunSheet, id: string): Promise<object | undefined> {
  return (await readCellStates(run.sheet, { ids: [id], targets: null })).get(id)
}

async function whyOf(run: RunSheet, id: string, target: string): Promise<unknown[]> {
  const { state, blockedBy, blockedReason, waitsFor } = await explainCell(run.sheet, target, id)
  return [state, blockedBy, blockedReason, waitsFor]
}

async function blockedIn(run: RunSheet, selection: Partial<RunSelection> = {}): Promise<object> {
  const { targets } = await planMaterialize(run.sheet, { ...ALL, ...selection })
  return Object.fromEntries(
    Object.entries(targets).flatMap(([target, { blocked }]) =>
      blocked === undefined ? [] : [[target, blocked]],
    ),
  )
}

test('D32: a cell computed from a failed one is blocked, is skipped even if requested, and is computed once the input succeeds', async (t) => {
  const run = await openTexts(t, [{ id: '1', url: 'bad' }])
  run.api.answer('/text/bad', { json: null, status: 503 })
  const { failures, skipped } = await run.run()
  assert.deepEqual([failures.length, skipped], [1, 2])
  assert.deepEqual(
    [await countsOf(run, 'text'), await countsOf(run, 'entities'), await countsOf(run, 'score')],
    [{ failed: 1 }, { missing: 1, blocked: 1 }, { missing: 1, blocked: 1 }],
  )
  assert.deepEqual(await statesOf(run, '1'), { text: 'failed', entities: 'blocked', score: 'blocked' })
  assert.deepEqual(await whyOf(run, '1', 'entities'), ['blocked', 'text', 'input_failed', []])
  assert.deepEqual(await whyOf(run, '1', 'score'), ['blocked', 'entities', 'input_blocked', []])

  for (const force of [false, true]) {
    const direct = { targets: ['entities', 'score'], recordIds: ['1'], force }
    assert.deepEqual(await blockedIn(run, direct), {
      entities: { input_failed: 1 },
      score: { input_blocked: 1 },
    })
    const outcome = await run.run(direct)
    assert.deepEqual(outcome, { materialized: 0, skipped: 2, failures: [], totalCost: 0 })
  }
  assert.deepEqual(run.api.calls(), { 'GET /text/bad': 1 })
  assert.deepEqual(await blockedIn(run), {}, 'the run tries the failed cell again')

  run.api.answer('/text/bad', { json: { value: 'good' } })
  await run.run({ targets: ['text'] })
  assert.deepEqual(await statesOf(run, '1'), { text: 'fresh', entities: 'missing', score: 'missing' })
  assert.equal((await run.run()).materialized, 2)
  assert.equal(await run.value('1', 'entities'), 'entities of {"text":"good"}')
  assert.deepEqual(
    [await countsOf(run, 'entities'), await countsOf(run, 'score')],
    [{ fresh: 1 }, { fresh: 1 }],
  )
})

test('D32: a failed input that keeps an earlier value blocks a stale cell, and a value written by hand unblocks it', async (t) => {
  const run = await openTexts(t, [{ id: '1', url: 'x' }])
  await run.run()
  run.api.answer('/text/bad', { json: null, status: 500 })
  await run.write({ id: '1', url: 'bad' })
  await run.run()
  assert.deepEqual(await run.record('1'), {
    id: '1',
    url: 'bad',
    text: '<x>',
    entities: 'entities of {"text":"<x>"}',
    score: 'score of {"entities":"entities of {\\"text\\":\\"<x>\\"}"}',
  })
  assert.deepEqual(await statesOf(run, '1'), { text: 'failed', entities: 'fresh', score: 'fresh' })
  const calls = run.api.calls()
  await run.run({ targets: ['entities'], recordIds: ['1'], force: true })
  assert.deepEqual(run.api.calls(), calls, 'no call of a cell whose input failed')

  // Another file makes the fresh cell stale: now it has work that no run can do.
  await writeDerivations(run.directory, {
    '2.yaml': { ...posted(run.api.url, 'entities', 'text'), headers: { 'x-edited': 'yes' } },
  })
  assert.deepEqual(await countsOf(run, 'entities'), { stale: 1, blocked: 1 })
  assert.deepEqual(await whyOf(run, '1', 'entities'), ['blocked', 'text', 'input_failed', []])

  await run.write({ id: '1', text: 'by hand' })
  assert.deepEqual(await statesOf(run, '1'), { text: 'overridden', entities: 'stale', score: 'fresh' })
  await run.run()
  assert.equal(await run.value('1', 'entities'), 'entities of {"text":"by hand"}')
})

test('D22, D32: a cell without a required value is blocked, and so are its dependants; a null in a body does not block', async (t) => {
  const run = await openTexts(t, [{ id: '1' }])
  assert.deepEqual(await countsOf(run, 'text'), { missing: 1, blocked: 1 })
  assert.deepEqual(await whyOf(run, '1', 'text'), ['blocked', 'url', 'input_empty', []])
  assert.deepEqual(await whyOf(run, '1', 'entities'), ['blocked', 'text', 'input_blocked', []])
  const blocked = {
    text: { input_empty: 1 },
    entities: { input_blocked: 1 },
    score: { input_blocked: 1 },
  }
  assert.deepEqual(await blockedIn(run), blocked)
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 3, failures: [], totalCost: 0 })

  // An answer that is null is a value: where a body takes it, it is sent.
  run.api.answer('/text/none', { json: { value: null } })
  await run.write({ id: '1', url: 'none' })
  assert.deepEqual(await statesOf(run, '1'), { text: 'missing', entities: 'missing', score: 'missing' })
  assert.equal((await run.run()).materialized, 3)
  assert.equal(await run.value('1', 'entities'), 'entities of {"text":null}')

  // Where it needs one, it is not.
  await writeDerivations(run.directory, { '2.yaml': lookup(run.api.url, 'entities', 'text') })
  assert.deepEqual(await countsOf(run, 'entities'), { stale: 1, blocked: 1 })
  assert.deepEqual(await whyOf(run, '1', 'entities'), ['blocked', 'text', 'input_empty', []])
})

test('D27, D32: a cell whose input was never computed is not computed or blocked, and its explanation names the input', async (t) => {
  const run = await openTexts(t, [{ id: '1', url: 'x' }])
  assert.deepEqual(await countsOf(run, 'score'), { missing: 1 })
  assert.deepEqual(await whyOf(run, '1', 'score'), ['missing', null, null, ['text', 'entities']])
  const alone = { targets: ['score'], recordIds: ['1'], force: true }
  assert.deepEqual(await blockedIn(run, alone), { score: { input_missing: 1 } })
  assert.deepEqual(await run.run(alone), { materialized: 0, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), {})
  assert.equal((await run.run({ targets: ['text', 'entities', 'score'] })).materialized, 3)
})

test('D32: a deleted record is not counted as blocked, nor are cells of a deleted derivation', async (t) => {
  const run = await openTexts(t, [{ id: '1' }, { id: '2' }])
  assert.deepEqual(await countsOf(run, 'score'), { missing: 2, blocked: 2 })
  await run.delete('1')
  assert.deepEqual(await countsOf(run, 'score'), { missing: 1, blocked: 1 })
  await run.edit('derivations/2.yaml', null)
  assert.deepEqual(await countsOf(run, 'score'), { missing: 1 }, 'its input is an ordinary field now')
  assert.deepEqual(await countsOf(run, 'text'), { missing: 1, blocked: 1 })
})

test('skip_blank: an empty text makes no call, in a URL or a body, and the counts follow values and the file', async (t) => {
  const skipping = (file: JsonObject): JsonObject => ({ ...file, skip_blank: true })
  const run = await openTexts(t, [
    { id: '1', url: '' },
    { id: '2', url: 'x' },
    { id: '3', url: ' ' },
  ])
  const { url } = run.api
  const files = { '1.yaml': lookup(url, 'text', 'url'), '2.yaml': posted(url, 'entities', 'text') }
  assert.deepEqual(await countsOf(run, 'text'), { missing: 3 }, 'a blank text is sent by default')

  await writeDerivations(run.directory, {
    '1.yaml': skipping(files['1.yaml']),
    '2.yaml': skipping(files['2.yaml']),
  })
  assert.deepEqual(await countsOf(run, 'text'), { missing: 3, blocked: 1 })
  assert.deepEqual(await whyOf(run, '1', 'text'), ['blocked', 'url', 'input_empty', []])
  assert.deepEqual(await blockedIn(run, { targets: ['text'], force: true }), { text: { input_empty: 1 } })
  assert.deepEqual((await run.run({ targets: ['text'], force: true })).skipped, 1)
  assert.deepEqual(run.api.calls(), { 'GET /text/x': 1, 'GET /text/%20': 1 }, 'a space is no empty text')

  // A value that is computed or written may be empty as well, also where it goes into a body.
  run.api.answer('/text/none', { json: { value: null } })
  run.api.answer('/text/blank', { json: { value: '' } })
  await run.write({ id: '1', url: 'blank' })
  await run.write({ id: '2', url: 'none' })
  await run.run({ targets: ['text'] })
  assert.deepEqual(await countsOf(run, 'entities'), { missing: 3, blocked: 2 })
  assert.deepEqual(await whyOf(run, '1', 'entities'), ['blocked', 'text', 'input_empty', []])
  assert.deepEqual((await run.run({ targets: ['entities'] })).skipped, 2)
  await run.write({ id: '3', text: '' })
  assert.deepEqual(await countsOf(run, 'entities'), { stale: 1, missing: 2, blocked: 3 })
  await run.write({ id: '3', text: 'by hand' })
  assert.deepEqual(await countsOf(run, 'entities'), { stale: 1, missing: 2, blocked: 2 })

  await writeDerivations(run.directory, { '2.yaml': files['2.yaml'] })
  assert.deepEqual(await countsOf(run, 'entities'), { stale: 1, missing: 2 })
  await run.run({ targets: ['entities'] })
  assert.deepEqual(await run.value('1', 'entities'), 'entities of {"text":""}')
})
