import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import type { RunEntry } from '../sheet-store.ts'
import {
  checkEntriesOfRecord,
  FIRST_PAGE,
  HUMAN,
  IMPORTED_FILE,
  IN_TURN,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const PROPERTIES = [
  '{name: name, logicalType: string}',
  '{name: n, logicalType: number}',
  '{name: code, logicalType: string, unique: true}',
]

/** Tests records that an import of a file creates, many of which share a line of the log. */
export function testImportedRecords(openStore: OpenStore): void {
  suite('imported records', IN_TURN, () => {
    const sheet = TestSheet.shared(openStore, { properties: PROPERTIES })
    const ids = Array.from({ length: 300 }, (_, index) => `r${index}`)
    let run = ''

    test('new records share lines, in the order of the file with the lines of changed ones', async () => {
      await sheet.write([{ id: 'r200', name: 'before', n: 1 }])
      run = await sheet.importRun()
      const records = ids.map((id, index) => ({
        id,
        name: `of ${id}`,
        ...(index % 2 === 0 ? { n: index } : {}),
      }))
      const { inserted, updated, total } = await sheet.importRecords(records, run)
      assert.deepEqual([inserted, updated, total], [299, 1, 300])
      const stored = await sheet.store.run(run)
      assert.equal(stored?.materialized, 300)
      const lines = (await linesOf(sheet)).slice(1)
      assert.deepEqual(
        lines.map(({ seq, source, file, run_id: of, records: count, record_id: id }) => [
          seq,
          source,
          file,
          of,
          count ?? id,
        ]),
        [
          [2, 'import', IMPORTED_FILE, run, 128],
          [3, 'import', IMPORTED_FILE, run, 72],
          [4, 'write', undefined, run, 'r200'],
          [5, 'import', IMPORTED_FILE, run, 1],
          [6, 'import', IMPORTED_FILE, run, 98],
        ],
      )
      const [first] = lines
      assert.deepEqual(first?.['fields'], ['id', 'name', 'n'])
      assert.deepEqual((first?.['rows'] as unknown[] | undefined)?.slice(0, 2), [
        ['r0', 'of r0', 0],
        ['r1', 'of r1', null],
      ])
    })

    test('each has its own history, and versions', async () => {
      const [entry, ...others] = await sheet.history('r131', 'name')
      assert.deepEqual(others, [])
      const { at: _at, ...members } = entry ?? {}
      assert.deepEqual(members, {
        seq: 3,
        actor: HUMAN,
        source: 'import',
        file: IMPORTED_FILE,
        run_id: run,
        record_id: 'r131',
        field: 'name',
        value: 'of r131',
        previous: null,
      })
      assert.equal((await sheet.store.record('r131', ['id']))?.version, '3')
      assert.deepEqual(await sheet.history('r131', 'n'), [])
      await sheet.write([{ id: 'r131', name: 'later', n: 7 }])
      const values = async (field: string): Promise<unknown[]> =>
        (await sheet.history('r131', field)).map(({ source, value, previous }) => [source, value, previous])
      assert.deepEqual(await values('name'), [
        ['import', 'of r131', null],
        ['write', 'later', 'of r131'],
      ])
      assert.deepEqual(await values('n'), [['write', 7, null]])
      await checkEntriesOfRecord(sheet.store, 'r131', sheet.fields)
    })

    test('earlier states have the records of the lines up to them', async () => {
      const counts = await Promise.all([1, 2, 3, 4, 5, 6].map((seq) => sheet.store.countAsOf(seq)))
      assert.deepEqual(counts, [1, 129, 201, 201, 202, 300])
      const past = await sheet.store.recordAsOf('r131', ['name', 'n'], 3)
      assert.deepEqual(JSON.parse(String(past)), { name: 'of r131', n: null })
      assert.equal(await sheet.store.recordAsOf('r131', ['name'], 2), null)
    })

    test('all are entries and records of the run', async () => {
      const created = new Map<string, JsonObject>()
      let changed = 0
      for (let before: number | null = null; ;) {
        const entries: readonly RunEntry[] = await sheet.store.runEntries({ run, before, limit: 2 })
        for (const entry of entries) {
          if (entry.field === null && entry.values !== null) created.set(entry.recordId, entry.values)
          else changed += 1
        }
        const last = entries.at(-1)
        if (last === undefined) break
        before = last.seq
      }
      assert.deepEqual([...created.keys()].toSorted(), ids.filter((id) => id !== 'r200').toSorted())
      assert.deepEqual(created.get('r4'), { id: 'r4', name: 'of r4', n: 4 })
      assert.equal(changed, 2)
      assert.equal(await sheet.store.runEntryCount(run), 5)
      const where = { kind: 'run', runs: [run] } as const
      const { records } = await sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 1000, where })
      const found = (JSON.parse(String(records)) as { id: string }[]).map(({ id }) => id)
      assert.deepEqual(found.toSorted(), ids.toSorted())
    })

    test('the creation of one is undone, and restored; a changed one stays', async () => {
      const entries = await sheet.store.runEntries({ run, before: 4, limit: 1000 })
      const some = entries.filter(({ recordId }) => ['r130', 'r131', 'r5'].includes(recordId))
      const result = await sheet.store.revert({ actor: HUMAN, entries: some, run: null })
      assert.equal(result.reverted, 2)
      assert.deepEqual(result.conflicts, [{ recordId: 'r131', field: 'id' }])
      assert.equal(await sheet.get('r130'), null)
      await sheet.store.restore({ actor: HUMAN, records: [{ recordId: 'r130', seq: null, hashes: [] }] })
      assert.equal((await sheet.get('r130'))?.['name'], 'of r130')
      assert.deepEqual(
        (await sheet.history('r130', 'name')).map(({ source, value }) => [source, value]),
        [
          ['import', 'of r130'],
          ['delete', null],
          ['revert', 'of r130'],
        ],
      )
    })

    test('a refused file has no line, and the next one has the next number', async () => {
      const last = (await sheet.store.history()).last
      const refused = [
        { id: 'one', code: 'c' },
        { id: 'two', code: 'c' },
        { id: 'three', n: 'x' },
      ]
      await assert.rejects(sheet.importRecords(refused, run), /"code": must be unique/)
      await sheet.importRecords([{ id: 'one', code: 'c' }], run)
      assert.equal((await sheet.latest('one', 'code'))?.['seq'], last + 1)
    })

    test('after a restart the log is as it was', async () => {
      const lines = await linesOf(sheet)
      await sheet.reopen()
      assert.deepEqual(await linesOf(sheet), lines)
      assert.equal((await sheet.history('r7', 'name')).length, 1)
    })
  })
}

/** Returns the lines of the log of an open sheet. */
async function linesOf(sheet: TestSheet): Promise<JsonObject[]> {
  const { last } = await sheet.store.history()
  const lines: JsonObject[] = []
  for (let after = 0; ;) {
    const page = await sheet.store.logText({ after, upTo: last })
    if (page === null) return lines
    after = page.last
    const texts = String(Buffer.from(page.text)).trimEnd().split('\n')
    lines.push(...texts.map((text) => JSON.parse(text) as JsonObject))
  }
}
