import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import type { WorkQuery } from '../cell-work.ts'
import type { CellState } from '../sheet-store.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import { AGENT, computed, hashOf, HUMAN, IN_TURN, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Tests of derived cells: when they become stale, the results of runs, and their provenance. */
export function testCells(open: OpenStore): void {
  suite('cells', IN_TURN, () => {
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

    test('D32: a new cell is missing, once computed fresh, stale with another input, and fresh again with the old one', async () => {
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
      assert.deepEqual(await sheet.commit(sheet.result(item, 'one', { kind: 'unchanged' })), [
        { outcome: 'stored' },
      ])
      assert.equal(await stateOf('life', 'one'), 'fresh')
      assert.deepEqual(await sheet.history('life', 'one'), entries)
    })

    test('D32: cells of many records written at once are each counted as missing once, and removed with their records', async (t) => {
      const many = await TestSheet.make(t, open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })
      const ids = Array.from({ length: 600 }, (_, number) => `r${number}`)
      const missing = async (): Promise<readonly number[]> =>
        Promise.all(['one', 'two', 'next', 'code'].map(async (field) => (await many.counts(field)).missing))
      await many.write(ids.slice(0, 10).map((id) => ({ id, a: 'x', b: 1 })))
      await many.compute('r3', 'one', 'v')
      // Some exist, one of them is computed, one is overridden in the write.
      await many.write(ids.map((id) => ({ id, a: 'x', ...(id === 'r500' && { two: 'by hand' }) })))
      assert.deepEqual(await missing(), [599, 599, 600, 600])
      const found = await many.store.work({
        targets: ['next'],
        inputs: ['one'],
        force: false,
        state: 'missing',
        after: null,
        limit: 1000,
        only: null,
      })
      assert.deepEqual(
        found.map(({ id }) => id),
        ids,
      )
      await many.store.delete(ids.slice(100), AGENT)
      assert.deepEqual(await missing(), [99, 100, 100, 100])
    })

    test('D32: a cell whose last try failed is failed until it succeeds, and keeps its value (D26)', async () => {
      await sheet.write([{ id: 'fail', a: 'x' }])
      await sheet.compute('fail', 'one', 'v')
      await sheet.fail('fail', 'one', 'GET https://a.example/ -> 500')
      await sheet.fail('fail', 'one', 'GET https://a.example/ -> 503')
      assert.equal(await stateOf('fail', 'one'), 'failed')
      assert.equal((await sheet.get('fail'))?.['one'], 'v')
      const { failed, lastError, lastActor } = await sheet.counts('one')
      assert.deepEqual(
        { failed, lastError, lastActor },
        { failed: 1, lastError: 'GET https://a.example/ -> 503', lastActor: AGENT },
      )
      await sheet.write([{ id: 'fail', a: 'y' }])
      assert.equal(await stateOf('fail', 'one'), 'failed')
      await sheet.compute('fail', 'one', 'w')
      assert.equal(await stateOf('fail', 'one'), 'fresh')
      assert.equal((await sheet.counts('one')).lastError, null)
    })

    test('D28: in a large batch too, values for derived fields override, and repeated writes are kept', async (t) => {
      const many = await TestSheet.make(t, open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })
      const records = Array.from({ length: 203 }, (_, index): JsonObject => {
        const record = { id: `r${index}`, a: 'x' }
        return index % 4 === 0 ? { ...record, one: `given ${index}` } : record
      })
      // Each directly after itself.
      const again = [
        { id: 'r201', two: 'late' },
        { id: 'r200', one: null },
      ]
      await many.write([...records, ...again], HUMAN)
      const [one, two] = [await many.counts('one'), await many.counts('two')]
      assert.deepEqual([one.missing, one.overridden, two.missing, two.overridden], [153, 50, 202, 1])
      const stored = await Promise.all(['r196', 'r197', 'r200', 'r201'].map((id) => many.get(id)))
      assert.deepEqual(
        stored.map((record) => [record?.['one'], record?.['two']]),
        [
          ['given 196', null],
          [null, null],
          [null, null],
          [null, 'late'],
        ],
      )
    })

    test('D28: a value written by hand overrides until null clears it or a forced run computes it', async () => {
      await sheet.write([{ id: 'hand', a: 'x' }])
      await sheet.compute('hand', 'one', 'v')
      await sheet.write([{ id: 'hand', one: 'by hand', a: 'y' }])
      assert.equal(await stateOf('hand', 'one'), 'overridden')
      assert.deepEqual(
        (await work({ targets: ['one'] })).filter(({ id }) => id === 'hand'),
        [],
      )
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

    test('D28: a value written while a call is under way is kept', async () => {
      const cases: [string, () => Promise<unknown>][] = [
        ['input', () => sheet.write([{ id: 'late', a: 'y' }])],
        [
          'input there and back',
          () =>
            sheet.write([
              { id: 'late', a: 'z' },
              { id: 'late', a: 'x' },
            ]),
        ],
        ['the cell itself', () => sheet.write([{ id: 'late', one: 'by hand' }])],
        [
          'the cell there and back',
          () =>
            sheet.write([
              { id: 'late', one: 'by hand' },
              { id: 'late', one: null },
            ]),
        ],
        ['a computed input', () => sheet.compute('late', 'one', 'new one')],
        ['deleted', () => sheet.store.delete(['late'], HUMAN)],
        [
          'deleted and created again',
          async () => {
            await sheet.store.delete(['late'], HUMAN)
            await sheet.write([{ id: 'late', a: 'x' }])
          },
        ],
      ]
      for (const start of ['missing', 'fresh', 'stale', 'failed', 'overridden'] as const) {
        for (const [what, write] of cases) {
          const field = what === 'a computed input' ? 'next' : 'one'
          await sheet.store.delete(['late'], HUMAN)
          await sheet.write([{ id: 'late', a: 'x' }])
          if (start === 'overridden' && field === 'one') await sheet.write([{ id: 'late', one: 'over' }])
          if (start === 'fresh' || start === 'stale')
            await sheet.compute('late', field, field === 'one' ? 'v' : {})
          if (start === 'failed') await sheet.fail('late', field)
          if (start === 'stale')
            await sheet.write([field === 'one' ? { id: 'late', a: 'w' } : { id: 'late', b: 5 }])
          if (start === 'stale' && field === 'one') await sheet.write([{ id: 'late', a: 'x' }])
          const item = await sheet.workOf('late', field)
          await write()
          const value = field === 'one' ? 'too late' : { too: 'late' }
          for (const result of [
            computed(value, 'late'),
            { kind: 'unchanged' },
            { kind: 'failed', error: 'e', errorType: 'ServiceError', reason: 'status' },
          ] as const) {
            const outcomes = await sheet.commit(sheet.result(item, field, result))
            assert.deepEqual(outcomes, [{ outcome: 'superseded' }], `${start}, ${what}, ${result.kind}`)
          }
          assert.notDeepEqual((await sheet.get('late'))?.[field], value)
        }
      }
    })

    test('D27: a computed value makes its dependants stale, an equal one does not', async () => {
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
  })
}
