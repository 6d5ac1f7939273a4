import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { ConflictError, SheetError, ValidationError } from '../../src/errors/service-error.ts'
import { changeContractField, removeContractField } from '../../src/sheet/definition/change/change-fields.ts'
import { readReviews } from '../../src/sheet/cells/read-reviews.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { revertCell } from '../../src/sheet/runs/revert.ts'
import { restoreRecords } from '../../src/sheet/writes/restore-records.ts'
import { reviewCells, type ReviewCellsRequest } from '../../src/sheet/writes/review-cells.ts'
import { answerLookups, lookup, openRunSheet, type RunSheet } from '../support/run-fixture.ts'

async function openLookups(t: TestContext): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: ['key: string', 'text: string'],
    records: [
      { id: 'a', key: 'x' },
      { id: 'b', key: 'y' },
    ],
    derivations: (url) => ({ '1.yaml': lookup(url, 'text', 'key') }),
  })
  answerLookups(run.api)
  await run.run()
  return run
}

function review(run: RunSheet, request: Partial<ReviewCellsRequest> = {}): Promise<unknown> {
  const cells = [{ recordId: 'a', field: 'text' }]
  return reviewCells(run.sheet, { cells, verdict: 'approved', note: null, actor: 'human:ann', ...request })
}

/** The reviews in force, or with `ended` all: record, field and verdict of each, the newest first. */
async function reviewsOf(run: RunSheet, ended = false): Promise<readonly string[]> {
  const query = { recordId: null, field: null, verdict: null, limit: null, cursor: null }
  const { reviews } = await readReviews(run.sheet, { ...query, ended })
  return reviews.map(({ recordId, field, verdict }) => `${recordId} ${field} ${verdict}`)
}

async function idsWith(run: RunSheet, where: JsonObject): Promise<string> {
  const { records } = await listRecords(run.sheet, { fields: ['id'], where: JSON.stringify(where) })
  return (JSON.parse(String(records)) as readonly JsonObject[]).map(({ id }) => String(id)).join()
}

test('a review is a line of the log, in lists, counts and conditions, and no entry of the cell', async (t) => {
  const run = await openLookups(t)
  const before = await run.history('a', 'text')
  await review(run, { verdict: 'flagged', note: 'Is it the plural?' })
  await review(run, { cells: [{ recordId: 'b', field: 'key' }] })
  const query = { recordId: 'a', field: null, verdict: null, ended: false, limit: null, cursor: null }
  const { reviews, counts } = await readReviews(run.sheet, query)
  assert.deepEqual(counts, { approved: 1, flagged: 1 })
  const [found] = reviews
  assert.partialDeepStrictEqual(found, {
    actor: 'human:ann',
    recordId: 'a',
    field: 'text',
    verdict: 'flagged',
    note: 'Is it the plural?',
    isActive: true,
  })
  assert.equal(await idsWith(run, { review: ['flagged'] }), 'a')
  assert.equal(await idsWith(run, { review: ['flagged', 'approved'], fields: ['key'] }), 'b')
  assert.equal(await idsWith(run, { not: { review: ['approved'] } }), 'a')
  assert.deepEqual(await run.history('a', 'text'), before)
  const seq = Number(before.at(-1)?.['seq'])
  const reverted = await revertCell(run.sheet, { recordId: 'a', field: 'text', seq, actor: 'human:ann' })
  assert.equal(reverted.reverted, 1)
})

test('a later review replaces one, and null ends it', async (t) => {
  const run = await openLookups(t)
  await review(run)
  await review(run, { verdict: 'flagged' })
  assert.deepEqual(await reviewsOf(run), ['a text flagged'])
  assert.deepEqual(await reviewsOf(run, true), ['a text flagged', 'a text approved'])
  await review(run, { verdict: null })
  assert.deepEqual(await reviewsOf(run), [])
  assert.equal(await idsWith(run, { review: ['approved', 'flagged'] }), '')
})

test('a review ends when the value changes, and only then', async (t) => {
  const run = await openLookups(t)
  const cells = ['text', 'key'].map((field) => ({ recordId: 'a', field }))
  await review(run, { cells })
  await run.write({ id: 'a', key: 'x' }, { id: 'b', key: 'z' })
  await run.run({ force: true, recordIds: ['a'] })
  assert.deepEqual(await reviewsOf(run), ['a key approved', 'a text approved'], 'written again')
  await run.write({ id: 'a', key: 'changed' })
  assert.deepEqual(await reviewsOf(run), ['a text approved'], 'a written value')
  await run.run()
  assert.deepEqual(await reviewsOf(run), [], 'a computed value')
  await review(run)
  const { seq } = (await run.entry('a', 'text')) ?? {}
  await revertCell(run.sheet, { recordId: 'a', field: 'text', seq: Number(seq), actor: 'human:ann' })
  assert.deepEqual(await reviewsOf(run), [], 'a reverted value')
})

test('reviews of a deleted record do not return with it', async (t) => {
  const run = await openLookups(t)
  await review(run)
  await run.delete('a')
  assert.deepEqual(await reviewsOf(run), [])
  await restoreRecords(run.sheet, { records: [{ recordId: 'a', seq: null }], actor: 'user:ann' })
  assert.deepEqual(await reviewsOf(run, true), [])
  assert.equal(await idsWith(run, { review: ['approved'] }), '')
})

test('a review and a write at the same time leave no review of another value', async (t) => {
  const run = await openLookups(t)
  const cells = [{ recordId: 'a', field: 'key' }]
  await Promise.all([review(run, { cells }), run.write({ id: 'a', key: 'other' })])
  assert.deepEqual(await reviewsOf(run), [])
})

test('a value that changed after it was seen is not reviewed, nor any other of the request', async (t) => {
  const run = await openLookups(t)
  const cells = [
    { recordId: 'b', field: 'key', seen: 'y' },
    { recordId: 'a', field: 'key', seen: 'before' },
  ]
  await assert.rejects(review(run, { cells }), (error: Error) => {
    assert.ok(error instanceof ConflictError)
    assert.match(error.message, /record "a", field "key": the value is "x" by now, not "before"/)
    return true
  })
  assert.deepEqual(await reviewsOf(run), [])
})

test('cells that cannot be reviewed are refused', async (t) => {
  const run = await openLookups(t)
  await assert.rejects(review(run, { cells: [] }), ValidationError)
  await assert.rejects(review(run, { cells: [{ recordId: 'a', field: 'txt' }] }), /unknown field "txt"/)
  await assert.rejects(review(run, { cells: [{ recordId: 'z', field: 'text' }] }), SheetError)
  await assert.rejects(
    review(run, { note: 'x'.repeat(2001) }),
    /"note" has 2001 characters; it may have 2000/,
  )
  await assert.rejects(review(run, { note: '\0' }), ValidationError)
  const many = Array.from({ length: 101 }, (_, index) => ({ recordId: `${index}`, field: 'text' }))
  await assert.rejects(review(run, { cells: many }), /101 cells are too many/)
})

test('reviews follow a renamed field, and end with converted and removed values', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['one: string', 'two: string', 'three: string'],
    records: [{ id: 'a', one: '1', two: '2', three: '3' }],
    derivations: () => ({}),
  })
  await review(run, { cells: ['one', 'two', 'three'].map((field) => ({ recordId: 'a', field })) })
  const options = { actor: 'user:ann', note: null, ifMatch: null, dryRun: false }
  const change = { onInvalid: 'refuse', editInputs: false } as const
  await changeContractField(run.sheet, 'one', { ...options, change: { ...change, newName: 'first' } })
  assert.deepEqual(await reviewsOf(run), ['a three approved', 'a two approved', 'a first approved'])
  assert.equal(await idsWith(run, { review: ['approved'], fields: ['first'] }), 'a')
  await changeContractField(run.sheet, 'two', { ...options, change: { ...change, logicalType: 'integer' } })
  await removeContractField(run.sheet, 'three', { ...options, confirm: 1 })
  assert.deepEqual(await reviewsOf(run), ['a first approved'])
  assert.deepEqual(await reviewsOf(run, true), ['a two approved', 'a first approved'])
})
