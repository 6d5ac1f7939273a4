import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { contractText } from '../../../../test/support/contract-with.ts'
import { onEnd } from '../../../../test/support/on-end.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import type { Condition, Operand, Operator } from '../../condition.ts'
import type { Page } from '../../sheet-store.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import type { PageRun } from '../sql/run-page.ts'
import { SqliteStore } from '../sqlite-store.ts'
import { QUICK_RECORDS } from './quick-search.ts'
import { Reader } from './reader.ts'

const CONTRACT = parseContract(
  contractText([
    '{name: n, logicalType: integer, x-indexed: true}',
    '{name: half, logicalType: integer, x-indexed: true}',
    '{name: word, logicalType: string}',
    '{name: few, logicalType: string, x-indexed: true}',
    '{name: day, logicalType: date, x-indexed: true}',
    '{name: real, logicalType: number, x-indexed: true}',
    '{name: flag, logicalType: boolean, x-indexed: true}',
    '{name: third, logicalType: integer, x-indexed: true}',
    '{name: at, logicalType: timestamp, x-indexed: true}',
    '{name: tags, logicalType: array}',
  ]),
)

/** The page of another thread, which the reader returns where it does not read itself. */
const ELSEWHERE: Page = { records: Buffer.from('[]'), next: null }

function on(name: string, operator: Operator, ...operands: readonly Operand[]): Condition {
  const field = CONTRACT.fieldByName.get(name)
  assert.ok(field !== undefined)
  return { kind: 'field', field, operator, operands }
}

function by(name: string, descending = false): PageRun['sort'][number] {
  const field = CONTRACT.fieldByName.get(name)
  assert.ok(field !== undefined)
  return { field, descending, indexed: field.indexed }
}

/** Opens a store with records `r0`, `r1` …, and a reader of it. */
async function openReader(t: TestContext, count: number) {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-quick-search-'))
  onEnd(t, () => rmSync(directory, { recursive: true }))
  const store = await SqliteStore.open(directory, {
    definition: { contract: CONTRACT, targets: [] },
    actor: 'human:ann',
    lockTimeoutMs: 1000,
    queryLimits: PATIENT_LIMITS,
    onSourceDiffers: () => undefined,
  })
  onEnd(t, () => store.close())
  const write = (records: readonly JsonObject[]) =>
    store.upsert({ body: { records }, actor: 'human:ann', defaultActor: null, ifMatch: null })
  await write(
    Array.from({ length: count }, (_, n) => ({
      id: `r${n}`,
      n,
      half: Math.floor(n / 2),
      word: `w${n % 10}`,
      third: n % 3,
      ...(n === 7 ? { few: 'w7', day: '2026-01-07', real: 0.7, flag: true, at: '2026-01-01T00:00:07Z' } : {}),
    })),
  )
  const reader = new Reader(join(directory, 'sheet.db'), CONTRACT)
  onEnd(t, () => reader.close())
  /** Returns the numbers of a page of three; null where the reader leaves it to another thread. */
  const search = async (run: Partial<PageRun>, elsewhere = async (): Promise<void> => undefined) => {
    const field = CONTRACT.fieldByName.get('n')
    assert.ok(field !== undefined)
    const page = await reader.search(
      {
        fields: [field],
        allFields: CONTRACT.fields,
        limit: 3,
        after: null,
        skip: 0,
        filter: null,
        sort: [],
        ...run,
      },
      async () => {
        await elsewhere()
        return ELSEWHERE
      },
    )
    if (page === ELSEWHERE) return null
    return (JSON.parse(String(page.records)) as { n: number }[]).map(({ n }) => n)
  }
  return { search, write, directory }
}

test('a small list is searched on the calling thread, as long as it compares few values', async (t) => {
  const { search } = await openReader(t, 100)
  const where: Condition = {
    kind: 'and',
    conditions: [on('word', 'equals', 'w3'), on('n', 'greaterThan', 20)],
  }
  assert.deepEqual(await search({ where }), [23, 33, 43])
  assert.deepEqual(await search({ where, sort: [by('word'), by('n', true)] }), [93, 83, 73])
  assert.deepEqual(await search({ where, skip: 2 }), [43, 53, 63])
  const many = Array.from({ length: 500 }, () => where) as [Condition, ...Condition[]]
  assert.equal(await search({ where: { kind: 'or', conditions: many } }), null)
  assert.equal(await search({ where: on('tags', 'hasAny', 'a') }), null)
  assert.equal(await search({ where: on('word', 'contains', 'ä'.repeat(300)) }), null)
})

test('of a large list only pages in the order of an index are searched on the calling thread', async (t) => {
  const { search } = await openReader(t, QUICK_RECORDS + 1)
  assert.deepEqual(await search({ sort: [by('n', true)] }), [2000, 1999, 1998])
  assert.deepEqual(await search({ sort: [by('n')], after: { key: 5, values: [4] } }), [5, 6, 7])
  assert.deepEqual(await search({ where: on('half', 'equals', 700) }), [1400, 1401])
  for (const run of [
    { sort: [by('word')] },
    { sort: [by('half'), by('n')] },
    { sort: [by('n')], skip: 1 },
    { where: on('word', 'equals', 'w1') },
    { where: on('half', 'greaterThan', 3) },
    { where: on('few', 'atLeast', 'w7'), sort: [by('n')] },
  ])
    assert.equal(await search(run), null)
})

test('of a large list the few records with a value are searched on the calling thread, in any order', async (t) => {
  const { search } = await openReader(t, QUICK_RECORDS + 1)
  const few = on('half', 'equals', 700)
  assert.deepEqual(await search({ where: few, sort: [by('n', true)] }), [1401, 1400])
  const both: Condition = { kind: 'and', conditions: [on('word', 'greaterThan', 'w0'), few] }
  assert.deepEqual(await search({ where: both }), [1401])
  assert.deepEqual(await search({ where: both, sort: [by('word'), by('n')], skip: 1 }), [])
  for (const [name, value] of [
    ['day', '2026-01-07'],
    ['real', 0.7],
    ['flag', true],
    ['few', 'w7'],
  ] as const) {
    assert.deepEqual(await search({ where: on(name, 'equals', value), sort: [by('n', true)] }), [7], name)
  }
  for (const where of [
    // Of more than 500 records, of large values, of one of two, and of what no index finds.
    on('third', 'equals', 1),
    { kind: 'and', conditions: [few, on('tags', 'hasAny', 'a')] },
    { kind: 'or', conditions: [few, on('n', 'equals', 3)] },
    on('at', 'equals', '2026-01-01T00:00:07Z'),
  ] satisfies readonly Condition[]) {
    assert.equal(await search({ where, sort: [by('word')] }), null)
  }
})

test('where another process has removed the index, another thread searches', async (t) => {
  const { search, directory } = await openReader(t, QUICK_RECORDS + 1)
  const other = new DatabaseSync(join(directory, 'sheet.db'))
  other.exec('DROP INDEX "$index_half"')
  other.close()
  assert.equal(await search({ where: on('half', 'equals', 700), sort: [by('n')] }), null)
})

test('what searches have left in memory is released when there are none for a while', async (t) => {
  const { search } = await openReader(t, 10)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  assert.deepEqual(await search({ sort: [by('n', true)] }), [9, 8, 7])
  let large: number[][] | null = Array.from({ length: 1000 }, () =>
    Array.from({ length: 20_000 }, Math.random),
  )
  const garbage = new WeakRef(large)
  large = null
  // A weak reference keeps its target alive until the end of the turn in which it is made.
  await nextTurn()
  t.mock.timers.tick(5000)
  assert.ok(garbage.deref() === undefined)
})

test('few records with large values are left to another thread', async (t) => {
  const { search, write } = await openReader(t, QUICK_RECORDS + 1)
  const where = on('half', 'equals', 700)
  await write([{ id: 'r1400', word: 'x'.repeat(5 << 20) }])
  assert.equal(await search({ where, sort: [by('word')] }), null)
})

test('a list is found once until the next write, whichever thread finds it', async (t) => {
  const { search, write } = await openReader(t, QUICK_RECORDS + 1)
  let calls = 0
  const find = async (more: Partial<PageRun> = {}): Promise<number> => {
    await search({ where: on('word', 'equals', 'w1'), ...more }, async () => {
      calls += 1
    })
    return calls
  }
  assert.deepEqual([await find(), await find()], [1, 1])
  assert.equal(await find({ where: on('word', 'equals', 'w2') }), 2)
  assert.equal(await find({ limit: 4 }), 3)
  await write([{ id: 'r0', word: 'other' }])
  assert.deepEqual([await find(), await find()], [4, 4])
})

test('a page is not kept if records are written while it is searched', async (t) => {
  const { search, write } = await openReader(t, QUICK_RECORDS + 1)
  let calls = 0
  const run = { where: on('word', 'equals', 'w1') }
  await search(run, async () => {
    calls += 1
    await write([{ id: 'r0', word: 'other' }])
  })
  for (const _ of [1, 2])
    await search(run, async () => {
      calls += 1
    })
  assert.equal(calls, 2)
})
