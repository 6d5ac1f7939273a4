import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { LockTimeoutError } from '../../errors/service-error.ts'
import type { CellState, WorkQuery } from '../sheet-store.ts'
import { AGENT, computed, hashOf, HUMAN, target, TestSheet, type OpenStore } from './test-sheet.ts'

const BY_HUMANS = 'customProperties: [{property: editableBy, value: ["human:*"]}]'
const PROPERTIES = [
  '{name: a, logicalType: string}',
  '{name: b, logicalType: integer}',
  `{name: one, logicalType: string, ${BY_HUMANS}}`,
  `{name: two, logicalType: string, ${BY_HUMANS}}`,
  '{name: next, logicalType: object}',
  '{name: code, logicalType: string, unique: true}',
]
const TARGETS = [
  target('one', ['a'], { derivation: 'pair.yaml' }),
  target('two', ['a'], { derivation: 'pair.yaml' }),
  target('next', ['one', 'b']),
  target('code', ['b']),
]

/** Derived cells: what makes them stale, what a run stores, what provenance says of them. */
export function testCells(name: string, open: OpenStore): void {
  suite(`${name}: cells`, () => {
    let sheet: TestSheet
    const undo: (() => Promise<void>)[] = []
    after(() => Promise.all(undo.map((step) => step())))
    before(async () => {
      sheet = await TestSheet.make({ after: (step) => undo.push(step) }, open, { properties: PROPERTIES, targets: TARGETS })
    })

    const stateOf = async (id: string, field: string): Promise<CellState | undefined> => (await sheet.workOf(id, field)).cells[0]?.state
    const work = (query: Partial<WorkQuery>): ReturnType<TestSheet['store']['work']> =>
      sheet.store.work({ targets: ['one', 'two'], inputs: ['a'], force: false, after: null, limit: 100, only: null, ...query })

    test('D32: a new cell is missing, computed it is fresh, with another input stale, and fresh again when unchanged', async () => {
      await sheet.write([{ id: 'life', a: 'x', b: 1 }])
      assert.equal(await stateOf('life', 'one'), 'missing')
      assert.deepEqual(await sheet.compute('life', 'one', 'v', 'h'), { outcome: 'stored' })
      assert.equal(await stateOf('life', 'one'), 'fresh')
      await sheet.write([{ id: 'life', b: 2 }])
      assert.equal(await stateOf('life', 'one'), 'fresh', 'b is no input of it')
      await sheet.write([{ id: 'life', a: 'y' }])
      assert.equal(await stateOf('life', 'one'), 'stale')
      assert.equal((await sheet.get('life'))?.['one'], 'v')
      await sheet.write([{ id: 'life', a: 'x' }])
      const item = await sheet.workOf('life', 'one')
      assert.equal(item.cells[0]?.inputHash, hashOf('h'))
      const entries = await sheet.history('life', 'one')
      assert.deepEqual(await sheet.commit(sheet.result(item, 'one', { kind: 'unchanged' })), [{ outcome: 'stored' }])
      assert.equal(await stateOf('life', 'one'), 'fresh')
      assert.deepEqual(await sheet.history('life', 'one'), entries)
    })

    test('D32: a cell that failed at its last try is failed until it succeeds, and keeps its value (D26)', async () => {
      await sheet.write([{ id: 'fail', a: 'x' }])
      await sheet.compute('fail', 'one', 'v')
      await sheet.fail('fail', 'one', 'GET https://a.example/ -> 500')
      await sheet.fail('fail', 'one', 'GET https://a.example/ -> 503')
      assert.equal(await stateOf('fail', 'one'), 'failed')
      assert.equal((await sheet.get('fail'))?.['one'], 'v')
      const { failed, lastError, lastActor } = await sheet.counts('one')
      assert.deepEqual({ failed, lastError, lastActor }, { failed: 1, lastError: 'GET https://a.example/ -> 503', lastActor: AGENT })
      await sheet.write([{ id: 'fail', a: 'y' }])
      assert.equal(await stateOf('fail', 'one'), 'failed')
      await sheet.compute('fail', 'one', 'w')
      assert.equal(await stateOf('fail', 'one'), 'fresh')
      assert.equal((await sheet.counts('one')).lastError, null)
    })

    test('D28: a value written by hand overrides, until null ends it or a forced run computes it', async () => {
      await sheet.write([{ id: 'hand', a: 'x' }])
      await sheet.compute('hand', 'one', 'v')
      await sheet.write([{ id: 'hand', one: 'by hand', a: 'y' }])
      assert.equal(await stateOf('hand', 'one'), 'overridden')
      assert.deepEqual((await work({ targets: ['one'] })).filter(({ id }) => id === 'hand'), [])
      await sheet.write([{ id: 'hand', a: 'z' }])
      assert.equal(await stateOf('hand', 'one'), 'overridden')
      await sheet.fail('hand', 'one')
      assert.equal(await stateOf('hand', 'one'), 'overridden')
      await sheet.write([{ id: 'hand', a: 'w', one: null }])
      assert.equal(await stateOf('hand', 'one'), 'missing')
      await sheet.write([{ id: 'hand', one: 'again' }])
      await sheet.compute('hand', 'one', 'forced')
      assert.equal(await stateOf('hand', 'one'), 'fresh')
      await sheet.write([{ id: 'hand2', a: 'x', one: 'from the start' }])
      assert.equal(await stateOf('hand2', 'one'), 'overridden')
      assert.equal(await stateOf('hand2', 'next'), 'missing')
    })

    test('D28: what is written while a call is under way stands', async () => {
      const cases: [string, () => Promise<unknown>][] = [
        ['input', () => sheet.write([{ id: 'late', a: 'y' }])],
        ['input there and back', () => sheet.write([{ id: 'late', a: 'z' }, { id: 'late', a: 'x' }])],
        ['the cell itself', () => sheet.write([{ id: 'late', one: 'by hand' }])],
        ['the cell there and back', () => sheet.write([{ id: 'late', one: 'by hand' }, { id: 'late', one: null }])],
        ['a computed input', () => sheet.compute('late', 'one', 'new one')],
        ['deleted', () => sheet.store.delete(['late'], HUMAN)],
        ['deleted and created again', async () => {
          await sheet.store.delete(['late'], HUMAN)
          await sheet.write([{ id: 'late', a: 'x' }])
        }],
      ]
      for (const start of ['missing', 'fresh', 'stale', 'failed', 'overridden'] as const) {
        for (const [what, write] of cases) {
          const field = what === 'a computed input' ? 'next' : 'one'
          await sheet.store.delete(['late'], HUMAN)
          await sheet.write([{ id: 'late', a: 'x' }])
          if (start === 'overridden' && field === 'one') await sheet.write([{ id: 'late', one: 'over' }])
          if (start === 'fresh' || start === 'stale') await sheet.compute('late', field, field === 'one' ? 'v' : {})
          if (start === 'failed') await sheet.fail('late', field)
          if (start === 'stale') await sheet.write([field === 'one' ? { id: 'late', a: 'w' } : { id: 'late', b: 5 }])
          if (start === 'stale' && field === 'one') await sheet.write([{ id: 'late', a: 'x' }])
          const item = await sheet.workOf('late', field)
          await write()
          const value = field === 'one' ? 'too late' : { too: 'late' }
          for (const result of [computed(value, 'late'), { kind: 'unchanged' }, { kind: 'failed', error: 'e', errorType: 'ServiceError' }] as const) {
            const outcomes = await sheet.commit(sheet.result(item, field, result))
            assert.deepEqual(outcomes, [{ outcome: 'superseded' }], `${start}, ${what}, ${result.kind}`)
          }
          assert.notDeepEqual((await sheet.get('late'))?.[field], value)
        }
      }
    })

    test('D27: a computed value makes what is computed from it stale, the same value does not', async () => {
      await sheet.write([{ id: 'chain', a: 'x', b: 1 }])
      await sheet.compute('chain', 'one', 'v', 'h1')
      await sheet.compute('chain', 'next', { n: 1 })
      await sheet.compute('chain', 'one', 'v', 'h2')
      assert.equal(await stateOf('chain', 'next'), 'fresh')
      await sheet.compute('chain', 'one', 'w', 'h3')
      assert.equal(await stateOf('chain', 'next'), 'stale')
      await sheet.write([{ id: 'chain', one: 'by hand' }])
      await sheet.compute('chain', 'next', { n: 2 })
      await sheet.write([{ id: 'chain', one: null }])
      assert.equal(await stateOf('chain', 'next'), 'stale')
    })

    test('D26: a computed null is a value', async () => {
      await sheet.write([{ id: 'null', a: 'x' }])
      await sheet.compute('null', 'one', null)
      assert.equal(await stateOf('null', 'one'), 'fresh')
      assert.equal((await sheet.latest('null', 'one'))?.['value'], null)
      await sheet.write([{ id: 'null', one: null }])
      assert.equal(await stateOf('null', 'one'), 'fresh', 'the value that it has is no write (D7)')
    })

    test('D26: a value that another record has of a unique field is refused, and nothing is written', async () => {
      await sheet.write([{ id: 'code1', b: 1 }, { id: 'code2', b: 2 }])
      await sheet.compute('code1', 'code', 'c')
      const outcome = await sheet.compute('code2', 'code', 'c')
      assert.equal(outcome.outcome, 'refused')
      assert.match('detail' in outcome ? outcome.detail : '', /unique.*"c"/)
      assert.equal(await stateOf('code2', 'code'), 'missing')
      assert.deepEqual(await sheet.history('code2', 'code'), [])
      assert.deepEqual(await sheet.compute('code1', 'code', 'c', 'other'), { outcome: 'stored' })
      assert.deepEqual(await sheet.compute('code2', 'code', 'd'), { outcome: 'stored' })
    })

    test('D33: a computed cell has its own entry, with all that is known of it', async () => {
      await sheet.write([{ id: 'entry', a: 'x' }])
      await sheet.compute('entry', 'one', 'v', 'h')
      await sheet.compute('entry', 'one', 'v', 'h2')
      const entries = await sheet.history('entry', 'one')
      assert.deepEqual(entries.map(({ previous }) => previous), [null, 'v'])
      const { seq, at, ...entry } = entries[0] ?? {}
      assert.ok(Number.isInteger(seq))
      assert.match(String(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepEqual(entry, {
        actor: AGENT,
        source: 'http',
        record_id: 'entry',
        field: 'one',
        value: 'v',
        previous: null,
        input_hash: hashOf('h'),
        derivation: 'pair.yaml',
        cached: false,
        method: 'GET',
        url: 'https://a.example/',
        status: 200,
        duration_ms: 1,
      })
    })

    test('D35: a record that never existed is not known; one that is gone is, with the time before', async () => {
      assert.deepEqual(await sheet.store.provenance('nobody', 'a', false), { known: false })
      await sheet.write([{ id: 'again', a: 'x', b: 1 }])
      assert.deepEqual(await sheet.history('again', 'one'), [])
      await sheet.compute('again', 'one', 'v')
      await sheet.store.delete(['again'], HUMAN)
      assert.deepEqual((await sheet.latest('again', 'one'))?.['source'], 'delete')
      await sheet.write([{ id: 'again', a: 'y' }])
      const values = async (field: string): Promise<unknown> =>
        (await sheet.history('again', field)).map(({ source, value, previous }) => [source, value, previous])
      assert.deepEqual(await values('a'), [['write', 'x', null], ['delete', null, 'x'], ['write', 'y', null]])
      assert.deepEqual(await values('one'), [['http', 'v', null], ['delete', null, 'v']])
      assert.deepEqual(await values('b'), [['write', 1, null], ['delete', null, 1]])
      assert.equal(await stateOf('again', 'one'), 'missing')
    })

    test('D25: a cache entry for a known hash replaces it target by target', async () => {
      const [first, second] = [hashOf('cache 1'), hashOf('cache 2')]
      const store = (inputHash: string, values: Record<string, string | null>, status: number): Promise<unknown> =>
        sheet.store.commitCells({ actor: AGENT, cells: [], cache: [{ inputHash, values, provenance: { status } }] })
      await store(first, { one: 'a', two: 'b' }, 200)
      await store(first, { two: null }, 201)
      await store(second, { one: '\u2028' }, 202)
      const cached = await sheet.store.cached([first, second, hashOf('cache 3'), first])
      assert.deepEqual([...cached], [
        [first, { inputHash: first, values: { one: 'a', two: null }, provenance: { status: 201 } }],
        [second, { inputHash: second, values: { one: '\u2028' }, provenance: { status: 202 } }],
      ])
    })

    test('D29: work is found in creation order, after a record, up to a limit, for these records only', async () => {
      const ids = Array.from({ length: 12 }, (_, index) => `work${index}`)
      await sheet.write(ids.map((id) => ({ id, a: id })))
      const keys = await sheet.store.recordKeys(ids)
      const only = [...keys.values()]
      for (const id of ['work1', 'work2']) {
        await sheet.compute(id, 'one', 'v')
        await sheet.compute(id, 'two', 'v')
      }
      await sheet.compute('work3', 'two', 'v')
      const idsOf = async (query: Partial<WorkQuery>): Promise<string[]> => (await work({ only, ...query })).map(({ id }) => id)
      assert.deepEqual(await idsOf({}), ids.toSpliced(1, 2))
      assert.deepEqual(await idsOf({ targets: ['two'] }), ids.toSpliced(1, 3))
      assert.deepEqual(await idsOf({ force: true }), ids)
      assert.deepEqual(await idsOf({ limit: 3 }), ['work0', 'work3', 'work4'])
      assert.deepEqual(await idsOf({ limit: 3, after: keys.get('work4')! }), ['work5', 'work6', 'work7'])
      assert.deepEqual(await idsOf({ only: [] }), [])
      const all = (await work({ limit: 1000 })).map(({ key }) => key)
      assert.deepEqual(all, [...all].sort((x, y) => x - y))
      const item = (await work({ only: [keys.get('work3')!] }))[0]
      assert.deepEqual({ ...item?.inputs }, { a: 'work3' })
      assert.deepEqual(item?.cells.map(({ target: field, state }) => [field, state]), [['one', 'missing'], ['two', 'fresh']])
      await sheet.store.delete(ids.slice(0, 8), HUMAN)
      assert.deepEqual(await idsOf({ force: true, limit: 2 }), ['work8', 'work9'], 'deleted records take no place')
      assert.deepEqual(await idsOf({ limit: 2 }), ['work8', 'work9'])
    })

    test('D32: status is of one moment, while records are being written', async () => {
      const before = new Map((await sheet.store.status()).targets.map(({ field, fresh }) => [field, fresh]))
      let writing = true
      const writes = (async () => {
        for (let round = 0; round < 60; round += 1) {
          const ids = Array.from({ length: 20 }, (_, index) => `moment${index}`)
          await Promise.all([sheet.write(ids.map((id) => ({ id, a: 'x' }))), sheet.store.delete(ids, HUMAN)])
        }
        writing = false
      })()
      while (writing) {
        for (let read = 0; read < 20; read += 1) {
          const { total, targets } = await sheet.store.status()
          for (const { field, fresh, stale, missing, failed, overridden } of targets) {
            assert.equal(fresh + stale + missing + failed + overridden, total)
            assert.equal(fresh, before.get(field), `fresh cells of ${field}`)
          }
        }
        await new Promise(setImmediate)
      }
      await writes
    })

    test('D31: one run at a time, across stores; a second gets the lock when the first lets go', async () => {
      const never = new AbortController().signal
      const other = await sheet.openAnother()
      try {
        const lock = await sheet.store.lockRun(1000, never)
        await assert.rejects(other.lockRun(20, never), LockTimeoutError)
        await assert.rejects(sheet.store.lockRun(0, never), LockTimeoutError)
        await assert.rejects(other.lockRun(10_000, AbortSignal.timeout(20)), { name: 'TimeoutError' })
        await assert.rejects(other.lockRun(0, AbortSignal.abort(new Error('stopping'))), /stopping/)
        const second = other.lockRun(10_000, never)
        await sheet.write([{ id: 'during the run', a: 'x' }])
        lock.release()
        const held = await second
        await assert.rejects(sheet.store.lockRun(0, never), LockTimeoutError)
        held.release()
      } finally {
        await other.close()
      }
    })
  })
}
