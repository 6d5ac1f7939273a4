import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { CellState } from '../sheet-store.ts'
import { computed, HUMAN, IN_TURN, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

const PROPERTIES = [
  '{name: n, logicalType: integer}',
  '{name: other, logicalType: string}',
  '{name: made, logicalType: integer, x-editable-by: ["*"]}',
  '{name: total, logicalType: integer, x-editable-by: ["*"]}',
  '{name: count, logicalType: integer}',
]

/** Queries over all records: of two fields, one of which is computed, and of none. */
const TARGETS = [
  target('made', ['other']),
  target('total', [], { reads: ['n', 'made'] }),
  target('count', [], { reads: [] }),
]

/** Tests of derived fields whose query reads fields in all records. */
export function testQueries(open: OpenStore): void {
  suite('derived fields that read all records', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: PROPERTIES, targets: TARGETS })

    let next = 1000

    const versions = async (): Promise<ReadonlyMap<string, string | null>> => {
      const all = await sheet.store.uncheckedTargets()
      return new Map(all.map(({ field, sources }) => [field, sources]))
    }
    /** Makes all cells stale of the fields whose version has changed, as a check does, and returns those fields. */
    const changed = async (): Promise<string[]> => {
      const all = [...(await versions()).keys()]
      await sheet.store.markOutdated({ cells: [], checked: null, all })
      assert.deepEqual([...(await versions()).keys()], [])
      return all
    }
    const state = async (id: string, field: string): Promise<CellState | undefined> =>
      (await sheet.workOf(id, field)).cells[0]?.state
    /** Computes a cell from the present version. */
    const compute = async (id: string, field: string, sources: string | null): Promise<void> => {
      const item = await sheet.workOf(id, field)
      const result = { ...sheet.result(item, field, computed(1, `${id} ${field}`)), sources }
      assert.deepEqual(await sheet.commit(result), [{ outcome: 'stored' }])
    }
    /** Returns the version of a field, and checks it. */
    const checkedVersion = async (field: string): Promise<string | null> => {
      next += 1
      await sheet.write([{ id: 'a', n: next }])
      const version = (await versions()).get(field) ?? null
      await changed()
      return version
    }

    test('the version changes with each write of a field that is read, and whenever records are added, deleted or restored', async () => {
      await sheet.write([
        { id: 'a', n: 1, other: 'x' },
        { id: 'b', n: 2 },
      ])
      assert.deepEqual(await changed(), ['total', 'count'])
      await sheet.write([{ id: 'a', n: 5 }])
      assert.deepEqual(await changed(), ['total'])
      await sheet.write([{ id: 'a', n: 5, other: 'y' }])
      assert.deepEqual(await changed(), [])
      await sheet.compute('a', 'made', 7)
      assert.deepEqual(await changed(), ['total'])
      await sheet.compute('a', 'made', 7, 'the same value')
      assert.deepEqual(await changed(), [])
      await sheet.write([{ id: 'a', made: 8 }])
      assert.deepEqual(await changed(), ['total'])
      await sheet.fail('b', 'made')
      assert.deepEqual(await changed(), [])
      const [last] = (await sheet.history('a', 'n')).toReversed()
      assert.ok(last)
      const reverted = { seq: Number(last['seq']), recordId: 'a', field: 'n' }
      await sheet.store.revert({ actor: HUMAN, run: null, entries: [reverted] })
      assert.deepEqual(await changed(), ['total'])
      await sheet.store.delete(['b'], HUMAN)
      assert.deepEqual(await changed(), ['total', 'count'])
      await sheet.store.restore({ actor: HUMAN, records: [{ recordId: 'b', seq: null, hashes: [] }] })
      assert.deepEqual(await changed(), ['total', 'count'])
      await assert.rejects(() => sheet.write([{ id: 'c', n: 'no number' }]))
      await sheet.store.tryUpsert({
        body: { records: [{ id: 'c' }], actor: HUMAN },
        defaultActor: null,
        ifMatch: null,
      })
      assert.deepEqual(await changed(), [])
    })

    test('fresh cells of all records become stale with the version, and no others', async () => {
      await sheet.write([
        { id: 'a', n: 1 },
        { id: 'b', n: 1, total: 3 },
        { id: 'c', n: 1 },
      ])
      await changed()
      const version = await checkedVersion('total')
      await compute('a', 'total', version)
      await compute('a', 'count', '')
      assert.deepEqual([await state('a', 'total'), await state('a', 'count')], ['fresh', 'stale'])
      await sheet.write([{ id: 'c', n: 2 }])
      assert.deepEqual(await changed(), ['total'])
      assert.deepEqual(
        [await state('a', 'total'), await state('b', 'total'), await state('c', 'total')],
        ['stale', 'overridden', 'missing'],
      )
      const { fresh, stale, missing, overridden } = await sheet.counts('total')
      assert.deepEqual(
        { fresh, stale, missing, overridden },
        { fresh: 0, stale: 1, missing: 1, overridden: 1 },
      )
    })

    test('a value that was computed from an earlier version is stale at once, and a cell found unchanged with it stays stale', async () => {
      const version = await checkedVersion('total')
      await sheet.write([{ id: 'c', n: 3 }])
      await compute('a', 'total', version)
      assert.equal(await state('a', 'total'), 'stale')
      const item = await sheet.workOf('a', 'total')
      await sheet.commit({ ...sheet.result(item, 'total', { kind: 'unchanged' }), sources: version })
      assert.equal(await state('a', 'total'), 'stale')
      const present = (await versions()).get('total') ?? null
      await changed()
      await sheet.commit({ ...sheet.result(item, 'total', { kind: 'unchanged' }), sources: present })
      assert.equal(await state('a', 'total'), 'fresh')
    })

    test('other fields of the same query, and a query that returns, make its cells stale', async () => {
      const [made, total, count] = TARGETS
      assert.ok(made && total && count)
      const version = await checkedVersion('total')
      await compute('a', 'total', version)
      await sheet.define({ targets: [made, { ...total, reads: ['other'] }, count] })
      assert.deepEqual(await changed(), ['total'])
      assert.equal(await state('a', 'total'), 'stale')
      await sheet.reopen()
      assert.deepEqual(await changed(), [])
      await sheet.define({ targets: TARGETS })
      await changed()
      await compute('a', 'total', await checkedVersion('total'))
      assert.equal(await state('a', 'total'), 'fresh')
      await sheet.define({ targets: [made, count] })
      await sheet.write([{ id: 'a', n: 77 }])
      await sheet.define({ targets: TARGETS })
      assert.deepEqual(await changed(), ['total'])
      assert.equal(await state('a', 'total'), 'stale')
    })

    test('a result from before is stale where the field had no query meanwhile, and then the same one again', async () => {
      const [made, total, count] = TARGETS
      assert.ok(made && total && count)
      const other = { ...total, reads: ['other'] }
      const leaveAndReturn = async (): Promise<void> => {
        await sheet.define({ targets: [made, target('total', ['other'], { sha256: 'f'.repeat(64) }), count] })
        await sheet.write([{ id: 'a', n: 88 }])
        await sheet.define({ targets: [made, other, count] })
      }
      await leaveAndReturn()
      const query = {
        statement: 'SELECT count(other) FROM records',
        listed: [],
        inputs: [],
        reads: [{ name: 'other', type: 'string' }],
        targets: [{ name: 'total', type: 'integer' }],
      } as const
      const pass = { given: null, succeeded: () => undefined, failed: () => undefined }
      const { version } = await sheet.store.queries.compute(query, [], pass, new AbortController().signal)
      assert.ok(version)
      await leaveAndReturn()
      await compute('a', 'total', version)
      assert.equal(await state('a', 'total'), 'stale')
    })
  })
}
