import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { SheetStore } from '../../sheet-store.ts'
import { HUMAN, TestSheet, type OpenStore } from '../../suite/support/test-sheet.ts'
import { leafOfLine } from '../../../proof/node-primitives.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { LONG_BYTES } from './stored-line.ts'
import { SqliteStore } from '../sqlite-store.ts'

const open: OpenStore = (directory, { contract, targets, ...options }): Promise<SheetStore> =>
  SqliteStore.open(directory, {
    ...options,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

const PROPERTIES = [
  '{name: name, logicalType: string}',
  '{name: text, logicalType: string}',
  '{name: list, logicalType: array}',
]

/** Values of about 300 KiB, with what JSON escapes. */
const TEXTS = ['é"\\\n', 'ü\u2028€😀', '"name"'].map((text) => text.repeat(40_000))
const LISTS = [1, 'é"', { name: [null] }].map((item): JsonValue => Array.from({ length: 40_000 }, () => item))

type StatementParams = Parameters<StatementSync['get']>

/** The longest text or blob that a statement on this thread has returned, in characters or bytes. */
function watchStatements(t: TestContext): () => number {
  let longest = 0
  const see = (row: unknown): void => {
    for (const value of Object.values(row ?? {})) {
      if (typeof value === 'string' || value instanceof Uint8Array) longest = Math.max(longest, value.length)
    }
  }
  const { get, all, iterate } = StatementSync.prototype
  t.mock.method(StatementSync.prototype, 'get', function (this: StatementSync, ...params: StatementParams) {
    const row = get.apply(this, params)
    see(row)
    return row
  })
  t.mock.method(StatementSync.prototype, 'all', function (this: StatementSync, ...params: StatementParams) {
    const rows = all.apply(this, params)
    rows.forEach(see)
    return rows
  })
  t.mock.method(
    StatementSync.prototype,
    'iterate',
    function (this: StatementSync, ...params: StatementParams) {
      return iterate.apply(this, params).map((row) => {
        see(row)
        return row
      })
    },
  )
  return () => longest
}

/** The entry as a client gets it: values that are kept as their text are parsed. */
function sent<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

async function made(t: TestContext, records: readonly JsonObject[] = []): Promise<TestSheet> {
  return TestSheet.make(t, open, { properties: PROPERTIES, records })
}

test('long values in the log are read by another thread', async (t) => {
  const sheet = await made(t)
  const [first = '', second = '', third = ''] = TEXTS
  const [list = null, otherList = null, thirdList = null] = LISTS
  await sheet.write([{ id: 'r', name: 'a', text: first, list }])
  await sheet.write([{ id: 'r', text: second, list: otherList }])
  await sheet.write([{ id: 'r', name: 'b', text: third }])
  await sheet.write([{ id: 'r', list: thirdList }])
  const longest = watchStatements(t)
  const read = async (field: string): Promise<unknown> => {
    const found = await sheet.store.entries({ recordId: 'r', field, from: null, limit: 10 })
    const entries = [...(found?.entries ?? [])]
    for (let next = found?.next; next !== null && next !== undefined;) {
      const more = await sheet.store.entries({ recordId: 'r', field, from: next, limit: 10 })
      entries.push(...(more?.entries ?? []))
      next = more?.next
    }
    const latest = await sheet.store.provenance('r', field, 1)
    assert.deepEqual(sent(latest?.entries[0]), sent(entries.at(-1)))
    return sent(entries).map(({ seq, value, previous }) => [seq, value, previous])
  }
  assert.deepEqual(await read('text'), [
    [1, first, null],
    [2, second, first],
    [3, third, second],
  ])
  assert.deepEqual(await read('list'), [
    [1, list, null],
    [2, otherList, list],
    [4, thirdList, otherList],
  ])
  // The text of the second line has the name of the field in quotes.
  assert.deepEqual(await read('name'), [
    [1, 'a', null],
    [3, 'b', 'a'],
  ])
  assert.ok(longest() < LONG_BYTES, `${longest()} characters at once`)
})

test('an earlier state with long values is read by another thread, equal byte for byte to a plain read', async (t) => {
  const sheet = await made(t)
  const states: Buffer[] = []
  const fields = ['id', 'name', 'text', 'list']
  for (const [index, text] of TEXTS.entries()) {
    const list = LISTS[index] ?? null
    await sheet.write([{ id: 'r', name: String(index), text, list }, { id: 's' }])
    states.push((await sheet.store.record('r', fields))?.json ?? Buffer.alloc(0))
  }
  await sheet.store.delete(['r'], HUMAN)
  const longest = watchStatements(t)
  const { last } = await sheet.store.history()
  assert.equal(await sheet.store.seqAt(await sheet.store.now()), last)
  const seqs = [1, 3, 4]
  for (const [index, seq] of seqs.entries()) {
    const record = await sheet.store.recordAsOf('r', fields, seq)
    assert.ok(states[index]?.equals(record ?? Buffer.alloc(0)), `after entry ${seq}`)
    const page = await sheet.store.pageAsOf({ fields, limit: 1, after: null, seq })
    assert.equal(page.records.toString(), `[${states[index]?.toString()}]`)
  }
  assert.equal(await sheet.store.recordAsOf('r', fields, last), null)
  const [deletion] = await sheet.store.deletions([{ recordId: 'r', seq: null }])
  assert.deepEqual(deletion?.values, JSON.parse(String(states.at(-1))))
  assert.ok(longest() < LONG_BYTES, `${longest()} characters at once`)
})

test('lines are hashed for the tree by another thread, except a few short ones', async (t) => {
  const sheet = await made(t)
  const leavesOfLog = async (): Promise<string[]> => {
    const lines = (await sheet.logText()).trimEnd().split('\n')
    return lines.map((line) => Buffer.from(leafOfLine(line)).toString('hex'))
  }
  const leaves = async (limit: number, after = 0): Promise<{ leaves: string[]; isLast: boolean }> => {
    const { hashes, isLast } = await sheet.store.tree.leaves(after, limit)
    return { leaves: Buffer.from(hashes).toString('hex').match(/.{64}/g) ?? [], isLast }
  }
  const longest = watchStatements(t)
  await sheet.write([{ id: 'r', name: 'a' }, { id: 's' }])
  assert.deepEqual(await leaves(10), { leaves: await leavesOfLog(), isLast: true })
  assert.deepEqual(await leaves(1), { leaves: (await leavesOfLog()).slice(0, 1), isLast: false })
  const short = longest()
  assert.ok(short > 0, 'no line was read by this thread')
  await sheet.write([{ id: 'r', text: TEXTS[0] ?? null }])
  assert.deepEqual(await leaves(10), { leaves: await leavesOfLog(), isLast: true })
  const { last } = await sheet.store.history()
  await sheet.write(Array.from({ length: 100 }, (_, index) => ({ id: `t${index}`, name: 'one of many' })))
  assert.deepEqual(await leaves(1000, last), { leaves: (await leavesOfLog()).slice(last), isLast: true })
  assert.equal(longest(), short)
})

test('a long value that was imported and never changed is read by another thread', async (t) => {
  const [text = '', , last = ''] = TEXTS
  const [list = null] = LISTS
  const sheet = await made(t, [
    { id: 'r', text, list },
    { id: 's', text, list: [] },
  ])
  await sheet.write([{ id: 's', name: 'changed', text: last }])
  const longest = watchStatements(t)
  const value = async (id: string, field: string): Promise<unknown> =>
    sent((await sheet.store.entries({ recordId: id, field, from: null, limit: 1 }))?.entries[0])?.['value']
  assert.deepEqual(await value('r', 'text'), text)
  assert.deepEqual(await value('r', 'list'), list)
  assert.deepEqual(await value('s', 'text'), text)
  assert.deepEqual(await value('s', 'list'), [])
  assert.ok(longest() < LONG_BYTES, `${longest()} characters at once`)
})
