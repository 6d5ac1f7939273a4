import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { CellResult, UsedAmounts } from '../cell-work.ts'
import type { FailedCell, RunId, StoredRun } from '../stored-run.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import { computed, IN_TURN, newRun, TestSheet, type OpenStore } from './support/test-sheet.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const FAILED = {
  kind: 'failed',
  error: 'GET https://a.example/ -> 503',
  detail: '503',
  errorType: 'ServiceError',
  reason: 'status',
} as const

function absentCell(recordId: string): FailedCell {
  return {
    recordId,
    field: 'one',
    error: `no record "${recordId}"`,
    detail: 'no record',
    errorType: 'SheetError',
    reason: 'no_record',
  }
}

/** Tests of the commits of a run: its counts, its failures, its entries. */
export function testRunCommits(open: OpenStore): void {
  suite('commits of a run', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })

    const stored = async (id: RunId): Promise<StoredRun> => {
      const run = await sheet.store.run(id)
      assert.ok(run, `no run ${id}`)
      return run
    }
    const locked = async (): Promise<RunId> => {
      const id = await sheet.store.startRun(newRun())
      await sheet.store.runLocked(id, { total: 0, absent: [], manual: 0 })
      return id
    }

    test('D29: with the run lock a run has its total, and the cells of absent records are its first failures', async () => {
      const id = await sheet.store.startRun(newRun())
      await sheet.store.runLocked(id, {
        total: 12,
        absent: [absentCell('gone'), absentCell('never')],
        manual: 0,
      })
      const { total, done, failed, materialized } = await stored(id)
      assert.deepEqual(
        { total, done, failed, materialized },
        { total: 12, done: 2, failed: 2, materialized: 0 },
      )
      await sheet.write([{ id: 'present', a: 'x' }])
      const answered = { ...FAILED, responseBody: '{"error": "ä"}\n' }
      await sheet.commitTo(id, [sheet.result(await sheet.workOf('present', 'one'), 'one', answered)])
      const failures = await sheet.store.runFailures({ run: id, after: 0, limit: 10 })
      for (const { at } of failures) assert.match(at, TIME)
      assert.deepEqual(
        failures.map((failure) => ({ ...failure, at: '' })),
        [
          { number: 1, ...absentCell('gone'), at: '' },
          { number: 2, ...absentCell('never'), at: '' },
          {
            number: 3,
            recordId: 'present',
            field: 'one',
            error: FAILED.error,
            detail: '503',
            errorType: 'ServiceError',
            reason: 'status',
            responseBody: answered.responseBody,
            at: '',
          },
        ],
      )
      assert.equal((await stored(id)).failed, 3)
    })

    test('D29: each of any number of absent records has its failure, in their order', async () => {
      const id = await locked()
      const ids = Array.from({ length: 12_345 }, (_, index) => `absent ${index} \u2028`)
      await sheet.store.runLocked(id, { total: ids.length, absent: ids.map(absentCell), manual: 0 })
      assert.equal((await stored(id)).failed, ids.length)
      const failures = await sheet.store.runFailures({ run: id, after: 0, limit: 20_000 })
      assert.deepEqual(
        failures.map(({ number, recordId, error }) => [number, recordId, error]),
        ids.map((recordId, index) => [index + 1, recordId, absentCell(recordId).error]),
      )
    })

    test('failures of one reason share their stored text, and are read one by one', async () => {
      const id = await locked()
      const failed = (recordId: string, field: string, responseBody?: string): FailedCell => {
        const error = `GET https://a.example/${recordId} -> 503`
        return {
          recordId,
          field,
          error,
          errorType: 'ServiceError',
          reason: 'status',
          ...(responseBody && { responseBody }),
        }
      }
      const absent = ['one', 'two', 'code'].flatMap((field) => [
        failed('x', field, 'busy'),
        failed('y', field, 'busy'),
      ])
      const of = (recordId: string): FailedCell[] => absent.filter((one) => one.recordId === recordId)
      const all = [...of('x'), ...of('y'), failed('y', 'label'), failed('z', 'one', 'other')]
      await sheet.store.runLocked(id, { total: all.length, absent: all, manual: 0 })
      const told = await sheet.store.runFailures({ run: id, after: 0, limit: 100 })
      assert.deepEqual(
        told.map(({ at: _, ...failure }) => failure),
        all.map((failure, index) => ({ number: index + 1, ...failure })),
      )
      for (const after of all.keys()) {
        const page = await sheet.store.runFailures({ run: id, after, limit: 2 })
        assert.deepEqual(page, told.slice(after, after + 2), `after ${after}`)
      }
    })

    test('a page of failures ends at its limit in bytes, and the next one continues', async () => {
      const id = await locked()
      const error = 'x'.repeat(1 << 20)
      const absent = Array.from({ length: 9 }, (_, index) => ({ ...absentCell(String(index)), error }))
      await sheet.store.runLocked(id, { total: absent.length, absent, manual: 0 })
      const numbers: number[][] = []
      for (let after = 0; ;) {
        const page = await sheet.store.runFailures({ run: id, after, limit: 100 })
        if (page.length === 0) break
        numbers.push(page.map(({ number }) => number))
        after = page.at(-1)?.number ?? after
      }
      assert.deepEqual(numbers, [[1, 2, 3, 4], [5, 6, 7, 8], [9]])
    })

    test('reading entries page by page yields to other requests', async () => {
      const id = await locked()
      let turns = 0
      setImmediate(() => (turns += 1))
      await sheet.store.runEntries({ run: id, before: null, limit: 1 })
      assert.equal(turns, 1)
    })

    test('a commit counts the stored cells, and adds the other counts', async () => {
      const ids = ['computed', 'cached', 'failed', 'unchanged', 'late', 'taken', 'holder']
      await sheet.write(ids.map((id, b) => ({ id, a: id, b })))
      await sheet.compute('unchanged', 'one', 'v')
      await sheet.compute('holder', 'code', 'held')
      const results: [string, string, CellResult['result']][] = [
        ['computed', 'one', computed('v', 'count 1')],
        ['cached', 'one', computed('v', 'count 2')],
        ['failed', 'one', FAILED],
        ['unchanged', 'one', { kind: 'unchanged' }],
        ['late', 'one', computed('v', 'count 3')],
        ['late', 'two', FAILED],
        ['taken', 'code', computed('held', 'count 4')],
      ]
      const cells: CellResult[] = []
      for (const [record, field, result] of results)
        cells.push(sheet.result(await sheet.workOf(record, field), field, result))
      await sheet.write([{ id: 'late', a: 'written meanwhile' }])
      const id = await locked()
      const outcomes = await sheet.commitTo(id, cells, {
        skipped: 4,
        left: 2,
        calls: 3,
        totalCost: 0.5,
        unpricedCalls: 1,
      })
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        ['stored', 'stored', 'stored', 'stored', 'superseded', 'superseded', 'refused'],
      )
      const counts = async (): Promise<object> => {
        const { done, materialized, skipped, left, failed, calls, totalCost, unpricedCalls } =
          await stored(id)
        return { done, materialized, skipped, left, failed, calls, totalCost, unpricedCalls }
      }
      assert.deepEqual(await counts(), {
        done: 7,
        materialized: 2,
        skipped: 4,
        left: 2,
        failed: 1,
        calls: 3,
        totalCost: 0.5,
        unpricedCalls: 1,
      })
      const again = sheet.result(await sheet.workOf('failed', 'one'), 'one', computed('v', 'count 5'))
      await sheet.commitTo(id, [again], { skipped: 5, left: 3, calls: 4, totalCost: 0.75, unpricedCalls: 1 })
      assert.deepEqual(await counts(), {
        done: 9,
        materialized: 3,
        skipped: 5,
        left: 3,
        failed: 1,
        calls: 4,
        totalCost: 0.75,
        unpricedCalls: 1,
      })
      assert.equal((await sheet.store.runFailures({ run: id, after: 0, limit: 10 })).length, 1)
    })

    test('D28: a run counts the values written by hand that it started with and that it overwrote', async () => {
      const ids = ['overwritten', 'corrected', 'unwritten', 'empty']
      await sheet.write(ids.map((id) => ({ id, a: id, ...(id !== 'empty' && { one: 'by hand' }) })))
      const work = await Promise.all(ids.map((id) => sheet.workOf(id, 'one')))
      const touched = work.map(({ cells: [cell] }) => cell?.touchedBy)
      const { lastSeq } = await sheet.store.status()
      assert.deepEqual(touched, [lastSeq - 3, lastSeq - 2, lastSeq - 1, undefined])
      const id = await sheet.store.startRun(newRun({ force: true, overwriteManual: true }))
      await sheet.store.runLocked(id, { total: ids.length, absent: [], manual: 3 })
      await sheet.write([{ id: 'corrected', one: 'anew' }])
      const cells = work.map((item, index) =>
        sheet.result(item, 'one', index === 2 ? FAILED : computed('v', `overwrite ${index}`)),
      )
      const outcomes = await sheet.commitTo(id, cells)
      assert.deepEqual(outcomes, [
        { outcome: 'stored', overwrote: true },
        { outcome: 'superseded' },
        { outcome: 'stored' },
        { outcome: 'stored' },
      ])
      const { overwriteManual, manualLeft, manualOverwritten, materialized } = await stored(id)
      assert.deepEqual([overwriteManual, manualLeft, manualOverwritten, materialized], [true, 2, 1, 2])
    })

    test('D33: entries of a run have its id, and can be listed; other entries do not', async () => {
      const ids = Array.from({ length: 40 }, (_, index) => `entry${index}`)
      await sheet.write(ids.map((id) => ({ id, a: id })))
      const [first, second] = [await locked(), await locked()]
      const half = { [first]: ids.slice(0, 38), [second]: ids.slice(38) }
      // Sent together, they share a transaction with each other and with writes.
      const commits: Promise<unknown>[] = []
      for (const [run, records] of Object.entries(half)) {
        const cells = await Promise.all(
          records.map(async (id) => sheet.result(await sheet.workOf(id, 'one'), 'one', computed(id, id))),
        )
        commits.push(sheet.write([{ id: `beside ${run}` }]), sheet.commitTo(run, cells))
      }
      await Promise.all(commits)
      await sheet.write([{ id: 'entry0', a: 'again' }])
      for (const [run, records] of Object.entries(half)) {
        assert.equal(await sheet.store.runEntryCount(run), records.length)
        const entries = await sheet.store.runEntries({ run, before: null, limit: 100 })
        assert.deepEqual(
          entries.map(({ recordId, field }) => [recordId, field]),
          records.toReversed().map((id) => [id, 'one']),
        )
        for (const { seq, recordId, field } of entries) {
          const entry = await sheet.latest(recordId, String(field))
          assert.deepEqual([entry?.['seq'], entry?.['run_id']], [seq, run])
        }
      }
      const page = await sheet.store.runEntries({ run: first, before: null, limit: 5 })
      assert.equal(page.length, 5)
      const rest = await sheet.store.runEntries({
        run: first,
        before: page[4]?.seq ?? null,
        limit: 100,
      })
      assert.equal(rest.length, 33)
      assert.ok((rest[0]?.seq ?? 0) < (page[4]?.seq ?? 0))
      assert.equal('run_id' in ((await sheet.latest('entry0', 'a')) ?? {}), false)
    })

    test('failures of a run are read page by page, in order', async () => {
      const ids = Array.from({ length: 5 }, (_, index) => `page${index}`)
      await sheet.write(ids.map((id) => ({ id, a: id })))
      const id = await locked()
      for (const record of ids)
        await sheet.commitTo(id, [sheet.result(await sheet.workOf(record, 'one'), 'one', FAILED)])
      const page = async (after: number): Promise<unknown> =>
        (await sheet.store.runFailures({ run: id, after, limit: 2 })).map((one) => [one.number, one.recordId])
      assert.deepEqual(await page(0), [
        [1, 'page0'],
        [2, 'page1'],
      ])
      assert.deepEqual(await page(4), [[5, 'page4']])
      assert.deepEqual(await page(5), [])
    })

    test('what calls have used is added up by key, and stays a number that JSON has', async () => {
      const commit = async (...usage: readonly UsedAmounts[]): Promise<void> => {
        await sheet.store.commitCells({ ...(await sheet.commitOf()), usage })
      }
      assert.equal(await sheet.store.usage('one'), null)
      await commit(
        { key: 'one', amounts: { input: 3, output: 1 } },
        { key: 'other', amounts: { input: Number.MAX_SAFE_INTEGER } },
        { key: 'one', amounts: { input: 4 } },
      )
      await commit({ key: 'one', amounts: { output: 5 } }, { key: 'other', amounts: { input: 1 } })
      assert.deepEqual(await sheet.store.usage('one'), { results: 3, amounts: { input: 7, output: 6 } })
      const most = { results: 2, amounts: { input: Number.MAX_SAFE_INTEGER } }
      assert.deepEqual(await sheet.store.usage('other'), most)
      const rejected = { ...(await sheet.commitOf()), run: '999999', usage: [{ key: 'one', amounts: {} }] }
      await assert.rejects(sheet.store.commitCells(rejected))
      assert.equal((await sheet.store.usage('one'))?.results, 3)
    })

    test('a commit for a run that does not exist stores nothing', async () => {
      await sheet.write([{ id: 'no run', a: 'x' }])
      const cell = sheet.result(await sheet.workOf('no run', 'one'), 'one', computed('v', 'no run'))
      for (const run of ['999999', 'x']) await assert.rejects(sheet.commitTo(run, [cell]))
      assert.equal((await sheet.get('no run'))?.['one'], null)
      assert.deepEqual(await sheet.commitTo(await locked(), [cell]), [{ outcome: 'stored' }])
    })
  })
}
