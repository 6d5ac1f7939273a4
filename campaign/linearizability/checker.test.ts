import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { seededRandom } from '../../src/store/suite/support/random.ts'
import { contractText } from '../../test/support/contract-with.ts'
import { listen, startApp } from '../../test/support/http-fixture.ts'
import { buildChecker, checkHistory, hasGo, type Checked } from './checker.ts'
import { HistoryClient } from './history-client.ts'
import { History, type Input, type Operation, type Output, type RecordOfHistory } from './history.ts'

const skip = hasGo() ? false : 'there is no Go, which builds the checker'
if (skip === false) buildChecker()

const CONTRACT = contractText(['{name: a, logicalType: integer}', '{name: b, logicalType: integer}'])

interface Step {
  /** Client, call and return; null for an unknown outcome. */
  readonly at: readonly [client: number, call: number, end: number | null]
  readonly op: Input
  readonly result: Output
}

function check(steps: readonly Step[]): Promise<Checked> {
  const lines = steps.map(({ at: [client, call, end], op, result }) => ({
    client,
    call,
    return: end,
    op,
    result,
  }))
  return checkHistory(lines.map((line) => JSON.stringify(line)).join('\n'))
}

const insert = (id: string, a: number, b: number): Input => ({
  kind: 'upsert',
  records: [{ id, set: { a, b } }],
})
const inserted = (count: number): Output => ({ state: 'done', inserted: count, updated: 0 })
const updated = (count: number): Output => ({ state: 'done', inserted: 0, updated: count })
const get = (id: string): Input => ({ kind: 'read', how: 'get', ids: [id] })
const found = (...records: readonly RecordOfHistory[]): Output => ({ state: 'done', records, ordered: true })

test('a history is linearizable when concurrent operations can be ordered', { skip }, async () => {
  const { verdict } = await check([
    { at: [0, 1, 2], op: insert('x', 1, 2), result: inserted(1) },
    // A write without an answer that two reads see, one after the other, while another one ends.
    { at: [0, 3, null], op: insert('x', 3, 4), result: { state: 'unknown' } },
    { at: [1, 4, 9], op: { kind: 'upsert', records: [{ id: 'x', set: { b: 5 } }] }, result: updated(1) },
    { at: [2, 5, 6], op: get('x'), result: found({ id: 'x', a: 1, b: 5 }) },
    { at: [2, 7, 8], op: get('x'), result: found({ id: 'x', a: 3, b: 4 }) },
    // One that was lost, and one that was refused.
    { at: [3, 9, null], op: { kind: 'delete', ids: ['x'] }, result: { state: 'unknown' } },
    { at: [2, 9, 10], op: { ...insert('x', 6, 7), new: true } as Input, result: { state: 'refused' } },
    {
      at: [2, 11, 12],
      op: { kind: 'count', how: 'summary', ids: ['x'] },
      result: { state: 'done', count: 1 },
    },
    { at: [2, 13, 14], op: { kind: 'delete', ids: ['x', 'y'] }, result: { state: 'done', deleted: 1 } },
    { at: [2, 15, 16], op: get('x'), result: found() },
  ])
  assert.equal(verdict, 'linearizable')
})

test('a history with many unknown outcomes is decided', { skip }, async () => {
  const steps: Step[] = []
  const unknown: Output = { state: 'unknown' }
  for (let turn = 0; turn < 60; turn += 1) {
    const at = turn * 10
    steps.push(
      { at: [0, at + 1, null], op: insert('x', 1000 + turn, 2000 + turn), result: unknown },
      { at: [1, at + 1, null], op: { kind: 'delete', ids: ['x', 'y'] }, result: unknown },
      // Half of the deletions have taken effect.
      {
        at: [2, at + 2, at + 3],
        op: insert('x', turn + 1, 3000 + turn),
        result: turn % 2 === 0 ? inserted(1) : updated(1),
      },
      { at: [2, at + 4, at + 5], op: get('x'), result: found({ id: 'x', a: turn + 1, b: 3000 + turn }) },
    )
  }
  assert.equal((await check(steps)).verdict, 'linearizable')
})

test('a stale read is not linearizable, and is explained by what it contradicts', { skip }, async () => {
  const { verdict, explanation } = await check([
    { at: [0, 1, 2], op: insert('x', 1, 2), result: inserted(1) },
    { at: [0, 3, 4], op: insert('y', 3, 4), result: inserted(1) },
    { at: [0, 5, 6], op: insert('x', 5, 6), result: updated(1) },
    { at: [1, 7, 8], op: get('y'), result: found({ id: 'y', a: 3, b: 4 }) },
    { at: [1, 9, 10], op: get('x'), result: found({ id: 'x', a: 1, b: 2 }) },
  ])
  assert.equal(verdict, 'not linearizable')
  assert.deepEqual(explanation.split('\n').slice(1), [
    'client 0, 1 to 2: upsert x {"a":1,"b":2} -> inserted 1, updated 0',
    'client 0, 5 to 6: upsert x {"a":5,"b":6} -> inserted 0, updated 1',
    'client 1, 9 to 10: read (get) x -> [x {a: 1, b: 2}]',
  ])
})

test(
  'a lost update, half of a batch, a refusal without reason and a stored failure are not linearizable',
  { skip },
  async () => {
    const created: Step = {
      at: [0, 1, 2],
      op: insert('x', 1, 2),
      result: { state: 'done', inserted: 1, updated: 0, version: '"1"' },
    }
    const update = (at: Step['at'], a: number, result: Output): Step => ({
      at,
      op: { kind: 'upsert', records: [{ id: 'x', set: { a } }], match: '"1"' },
      result,
    })
    const both: Input = {
      kind: 'upsert',
      records: ['x', 'y'].map((id, index) => ({ id, set: { a: index + 1 } })),
    }
    const page: Input = { kind: 'read', how: 'page', ids: ['x', 'y'] }
    const histories: Readonly<Record<string, readonly Step[]>> = {
      'lost update': [created, update([1, 3, 6], 3, updated(1)), update([2, 4, 5], 4, updated(1))],
      'half of a batch': [
        { at: [0, 1, 4], op: both, result: inserted(2) },
        { at: [1, 2, 3], op: page, result: found({ id: 'x', a: 1, b: null }) },
      ],
      'another order': [
        { at: [0, 1, 2], op: both, result: inserted(2) },
        { at: [1, 3, 4], op: page, result: found({ id: 'y', a: 2, b: null }, { id: 'x', a: 1, b: null }) },
      ],
      'refusal without reason': [created, update([1, 3, 4], 3, { state: 'refused' })],
      'stored failure': [
        created,
        { at: [0, 3, 4], op: insert('x', 3, 4), result: { state: 'failed' } },
        { at: [0, 5, 6], op: get('x'), result: found({ id: 'x', a: 3, b: 4 }) },
      ],
      'version of two states': [
        { at: [0, 1, 2], op: get('x'), result: found({ id: 'x', a: 1, b: 2, version: '"1"' }) },
        { at: [0, 3, 4], op: get('x'), result: found({ id: 'x', a: 3, b: 2, version: '"1"' }) },
      ],
    }
    for (const [name, steps] of Object.entries(histories)) {
      assert.equal((await check(steps)).verdict, 'not linearizable', name)
    }
  },
)

/** Records a history of clients at a sheet of this process. */
async function recorded(t: TestContext): Promise<History> {
  const { app } = await startApp(t, { files: { contract: CONTRACT, records: [], derivations: {} } })
  const server = { port: await listen(app) }
  const history = new History('r-')
  const clients = [1, 2, 3, 4].map((seed) => new HistoryClient(history, [server], seededRandom(seed)))
  await Promise.all(clients.map((client) => client.work(30, t.signal, () => undefined)))
  await new HistoryClient(history, [server], seededRandom(5)).finish()
  return history
}

/** Returns a history whose last read of a record finds what an earlier read of it found, although another one found something else between. */
function withStaleRead({ operations }: History): readonly Operation[] {
  const gets = operations.filter(({ op }) => op.kind === 'read' && op.how.startsWith('get'))
  for (const last of gets.toReversed()) {
    const ids = idsOf(last)
    const before = gets.filter((one) => idsOf(one) === ids && endOf(one) < last.call).toReversed()
    const between = before.find((one) => foundBy(one) !== foundBy(last))
    const stale = before.find(
      (one) => between !== undefined && endOf(one) < between.call && foundBy(one) !== foundBy(between),
    )
    const isLater = between !== undefined && endOf(between) < last.call
    if (stale === undefined || !isLater || foundBy(stale) === foundBy(last)) continue
    return operations.map((one) => (one === last ? { ...last, result: stale.result } : one))
  }
  throw new Error('no record was read three times with different values')
}

const idsOf = ({ op }: Operation): string => ('ids' in op ? op.ids.join() : '')
const endOf = (operation: Operation): number => operation.return ?? Infinity
const foundBy = ({ result }: Operation): string => JSON.stringify(result)

test(
  'the history of a real sheet is linearizable, and with one stale read it is not',
  { skip },
  async (t) => {
    const history = await recorded(t)
    assert.deepEqual(await checkHistory(history.lines()), {
      verdict: 'linearizable',
      explanation: 'linearizable',
    })
    const { verdict } = await checkHistory(
      withStaleRead(history)
        .map((operation) => JSON.stringify(operation))
        .join('\n'),
    )
    assert.equal(verdict, 'not linearizable')
  },
)
