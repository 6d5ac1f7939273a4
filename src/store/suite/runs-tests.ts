import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { LockTimeoutError } from '../../errors/service-error.ts'
import type { CacheEntry, WorkQuery } from '../cell-work.ts'
import type { CellState } from '../sheet-store.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import { AGENT, hashOf, HUMAN, IN_TURN, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Tests of the use of a store by a run: pending cells, cache, commits, the lock; and of its status and provenance. */
export function testRuns(open: OpenStore): void {
  suite('runs', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })

    const stateOf = async (id: string, field: string): Promise<CellState | undefined> =>
      (await sheet.workOf(id, field)).cells[0]?.state
    const work = (query: Partial<WorkQuery>): ReturnType<TestSheet['store']['work']> =>
      sheet.store.work({
        targets: ['one', 'two'],
        inputs: ['a'],
        force: false,
        state: null,
        after: null,
        limit: 100,
        only: null,
        ...query,
      })

    test('D26: a value of a unique field that another record has is refused, and nothing is written', async () => {
      await sheet.write([
        { id: 'code1', b: 1 },
        { id: 'code2', b: 2 },
      ])
      await sheet.compute('code1', 'code', 'c')
      const outcome = await sheet.compute('code2', 'code', 'c')
      assert.equal(outcome.outcome, 'refused')
      assert.match('detail' in outcome ? outcome.detail : '', /unique.*"c"/)
      assert.equal(await stateOf('code2', 'code'), 'missing')
      assert.deepEqual(await sheet.history('code2', 'code'), [])
      assert.deepEqual(await sheet.compute('code1', 'code', 'c', 'other'), { outcome: 'stored' })
      assert.deepEqual(await sheet.compute('code2', 'code', 'd'), { outcome: 'stored' })
    })

    test('D33: a computed cell has its own entry, with all of its members', async () => {
      await sheet.write([{ id: 'entry', a: 'x' }])
      await sheet.compute('entry', 'one', 'v', 'h')
      await sheet.compute('entry', 'one', 'v', 'h2')
      const entries = await sheet.history('entry', 'one')
      assert.deepEqual(
        entries.map(({ previous }) => previous),
        [null, 'v'],
      )
      const { seq, at, ...entry } = entries[0] ?? {}
      assert.ok(Number.isInteger(seq))
      assert.match(at as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepEqual(entry, {
        actor: AGENT,
        source: 'http',
        record_id: 'entry',
        field: 'one',
        value: 'v',
        previous: null,
        input_hash: hashOf('h'),
        derivation: 'pair.yaml',
        run_id: await sheet.run(),
        cached: false,
        method: 'GET',
        url: 'https://a.example/',
        status: 200,
        duration_ms: 1,
      })
    })

    test('D35: a record that never existed has no provenance; a deleted one has, from before the deletion', async () => {
      assert.deepEqual(await sheet.store.provenance('nobody', 'a', 1), null)
      await sheet.write([{ id: 'again', a: 'x', b: 1 }])
      assert.deepEqual(await sheet.history('again', 'one'), [])
      await sheet.compute('again', 'one', 'v')
      await sheet.store.delete(['again'], HUMAN)
      assert.deepEqual((await sheet.latest('again', 'one'))?.['source'], 'delete')
      await sheet.write([{ id: 'again', a: 'y' }])
      const values = async (field: string): Promise<unknown> =>
        (await sheet.history('again', field)).map(({ source, value, previous }) => [source, value, previous])
      assert.deepEqual(await values('a'), [
        ['write', 'x', null],
        ['delete', null, 'x'],
        ['write', 'y', null],
      ])
      assert.deepEqual(await values('one'), [
        ['http', 'v', null],
        ['delete', null, 'v'],
      ])
      assert.deepEqual(await values('b'), [
        ['write', 1, null],
        ['delete', null, 1],
      ])
      assert.equal(await stateOf('again', 'one'), 'missing')
    })

    test('D25: a cache entry for a known hash replaces it target by target', async () => {
      const [first, second] = [hashOf('cache 1'), hashOf('cache 2')]
      const commit = await sheet.commitOf()
      const store = (
        inputHash: string,
        values: Record<string, string | null>,
        status: number,
      ): Promise<unknown> =>
        sheet.store.commitCells({
          ...commit,
          cache: [{ inputHash, values, provenance: { status } }],
        })
      await store(first, { one: 'a', two: 'b' }, 200)
      await store(first, { two: null }, 201)
      await store(second, { one: '\u2028' }, 202)
      const cached = await sheet.store.cached([first, second, hashOf('cache 3'), first])
      assert.deepEqual(
        [...cached],
        [
          [first, { inputHash: first, values: { one: 'a', two: null }, provenance: { status: 201 } }],
          [second, { inputHash: second, values: { one: '\u2028' }, provenance: { status: 202 } }],
        ],
      )
    })

    test('D25: many cache entries of one commit are stored, those for the same hash as one', async () => {
      const hashes = Array.from({ length: 600 }, (_, index) => hashOf(`of many ${index}`))
      const [first = '', same = ''] = hashes
      const last = hashes.at(-1) ?? ''
      const entry = (inputHash: string, values: Record<string, string>, status: number): CacheEntry => ({
        inputHash,
        values,
        provenance: { status },
      })
      const cache = [
        ...hashes.map((hash) => entry(hash, { one: hash }, 200)),
        entry(first, { two: 'first' }, 201),
        entry(last, { two: 'last' }, 201),
        entry(same, { one: same }, 202),
      ]
      await sheet.store.commitCells({ ...(await sheet.commitOf()), cache })
      const cached = await sheet.store.cached(hashes)
      assert.equal(cached.size, hashes.length)
      for (const [hash, kept] of cached) {
        const two = new Map([
          [first, 'first'],
          [last, 'last'],
        ]).get(hash)
        const expected =
          two === undefined ? entry(hash, { one: hash }, 200) : entry(hash, { one: hash, two }, 201)
        assert.deepEqual(kept, expected)
      }
    })

    test('D29: pending cells are read in creation order, after a record, up to a limit, for the given records only', async () => {
      const ids = Array.from({ length: 12 }, (_, index) => `work${index}`)
      await sheet.write(ids.map((id) => ({ id, a: id })))
      const keys = await sheet.store.recordKeys(ids)
      const only = [...keys.values()]
      for (const id of ['work1', 'work2']) {
        await sheet.compute(id, 'one', 'v')
        await sheet.compute(id, 'two', 'v')
      }
      await sheet.compute('work3', 'two', 'v')
      const idsOf = async (query: Partial<WorkQuery>): Promise<string[]> =>
        (await work({ only, ...query })).map(({ id }) => id)
      assert.deepEqual(await idsOf({}), ids.toSpliced(1, 2))
      assert.deepEqual(await idsOf({ targets: ['two'] }), ids.toSpliced(1, 3))
      assert.deepEqual(await idsOf({ force: true }), ids)
      assert.deepEqual(await idsOf({ limit: 3 }), ['work0', 'work3', 'work4'])
      assert.deepEqual(await idsOf({ limit: 3, after: keys.get('work4')! }), ['work5', 'work6', 'work7'])
      assert.deepEqual(await idsOf({ only: [] }), [])
      const all = (await work({ limit: 1000 })).map(({ key }) => key)
      assert.deepEqual(
        all,
        all.toSorted((x, y) => x - y),
      )
      const item = (await work({ only: [keys.get('work3')!] }))[0]
      assert.deepEqual({ ...item?.inputs }, { a: 'work3' })
      assert.deepEqual(
        item?.cells.map(({ target: field, state }) => [field, state]),
        [
          ['one', 'missing'],
          ['two', 'fresh'],
        ],
      )
      await sheet.store.delete(ids.slice(0, 8), HUMAN)
      assert.deepEqual(
        await idsOf({ force: true, limit: 2 }),
        ['work8', 'work9'],
        'deleted records take no place',
      )
      assert.deepEqual(await idsOf({ limit: 2 }), ['work8', 'work9'])
    })

    test('D30: the last key of status separates present records from later ones', async () => {
      await sheet.write([{ id: 'key1' }, { id: 'key2' }])
      const { lastKey } = await sheet.store.status()
      await sheet.store.delete(['key2'], HUMAN)
      await sheet.write([{ id: 'key2' }, { id: 'key3' }])
      const keys = await sheet.store.recordKeys(['key1', 'key2', 'key3'])
      assert.ok(keys.get('key1')! <= lastKey)
      for (const id of ['key2', 'key3']) assert.ok(keys.get(id)! > lastKey, `${id} was created later`)
    })

    test('D32: status is of one moment, while records are written', async () => {
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

    test('D31: one run at a time, across stores; a second one gets the lock when the first releases it', async () => {
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
