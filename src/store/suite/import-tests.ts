import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { RecordsError } from '../../errors/service-error.ts'
import { HUMAN, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

const PROPERTIES = [
  '{name: name, logicalType: string, required: true}',
  '{name: code, logicalType: string, unique: true}',
  '{name: area, logicalType: number, logicalTypeOptions: {minimum: 0}}',
  '{name: label, logicalType: string, required: true}',
]
const TARGETS = [target('label', ['name'])]

/** Tests of opening a sheet for the first time, and again. */
export function testImport(open: OpenStore): void {
  suite('import', () => {
    test('D2: records.jsonl is imported in its order, lines of white space are skipped', async (t) => {
      const sheet = await TestSheet.make(t, open, {
        properties: PROPERTIES,
        targets: TARGETS,
        records: [
          { id: 'b', name: 'B', area: 1.5 },
          '   ',
          { name: 'A\u2028\u2029\u0085', id: 'a', code: null },
          '',
        ],
      })
      assert.deepEqual(await sheet.all(), [
        { id: 'b', name: 'B', code: null, area: 1.5, label: null },
        { id: 'a', name: 'A\u2028\u2029\u0085', code: null, area: null, label: null },
      ])
      assert.equal((await sheet.store.status()).total, 2)
    })

    test('D2: an invalid line stops the import with file, line and field, and creates no store', async (t) => {
      const cases: [bad: string, message: RegExp][] = [
        ['{"id":"b","name":"B","area":"x"}', /^records\.jsonl:3: field "area": /],
        ['{"id":"a","name":"B"}', /^records\.jsonl:3: field "id": must be unique.*"a"/],
        ['{"id":"b","name":"B"', /^records\.jsonl:3: /],
        [
          '{"id":"b","name":"B","area":1234567890123456781}',
          /field "area": 1234567890123456781 is an integer/,
        ],
      ]
      const sheet = await TestSheet.files(t, open, { properties: PROPERTIES, targets: TARGETS })
      for (const [bad, message] of cases) {
        await sheet.put('records.jsonl', [
          '{"id":"a","name":"A","code":"c"}',
          '',
          bad,
          '{"id":"z","name":"Z"}',
        ])
        await assert.rejects(sheet.open(), (error) => {
          assert.ok(error instanceof RecordsError, `${bad}: ${String(error)}`)
          assert.match(error.message, message)
          return true
        })
        assert.ok(!existsSync(join(sheet.directory, 'provenance.jsonl')), 'a log was begun')
      }
      await sheet.put('records.jsonl', ['{"id":"z","name":"Z"}'])
      await sheet.open()
      assert.deepEqual(
        (await sheet.all()).map(({ id }) => id),
        ['z'],
      )
    })

    test('D2: derived fields with a value are overridden, with source import, the others missing', async (t) => {
      const sheet = await TestSheet.make(t, open, {
        properties: PROPERTIES,
        targets: TARGETS,
        records: [
          { id: 'a', name: 'A', label: 'by hand' },
          { id: 'b', name: 'B', label: null },
          { id: 'c', name: 'C' },
        ],
      })
      const { overridden, missing, fresh, stale, failed } = await sheet.counts('label')
      assert.deepEqual(
        { overridden, missing, fresh, stale, failed },
        { overridden: 1, missing: 2, fresh: 0, stale: 0, failed: 0 },
      )
      const work = { targets: ['label'], inputs: ['name'], force: false, state: null, after: null }
      assert.deepEqual(
        (await sheet.store.work({ ...work, limit: 10, only: null })).map(({ id }) => id),
        ['b', 'c'],
      )
      const entry = await sheet.latest('a', 'label')
      assert.deepEqual(
        { ...entry, at: '' },
        {
          seq: 1,
          at: '',
          actor: 'system:import',
          source: 'import',
          record_id: 'a',
          field: 'label',
          value: 'by hand',
          previous: null,
          file: 'records.jsonl',
        },
      )
      assert.equal(await sheet.latest('b', 'label'), null)
    })

    test('D33: an import is one line of the log, however many records it has; an empty import has no line', async (t) => {
      const records = Array.from({ length: 50 }, (_, index) => ({ id: `r${index}`, name: 'N', label: 'l' }))
      const sheet = await TestSheet.make(t, open, { properties: PROPERTIES, records })
      await sheet.close()
      assert.deepEqual(
        (await sheet.log()).map(({ seq, source, records: count }) => ({ seq, source, count })),
        [{ seq: 1, source: 'import', count: 50 }],
      )
      const empty = await TestSheet.make(t, open, { properties: PROPERTIES, records: ['', ' '] })
      await empty.close()
      assert.deepEqual(await empty.log(), [])
    })

    test('D2: an existing log is kept and read, and its numbering continues', async (t) => {
      const common = { at: '2026-01-01T00:00:00.000Z', actor: 'human:old', source: 'write' }
      const log = [
        {
          seq: 1,
          ...common,
          record_id: 'a',
          values: { id: 'a', name: 'Old', area: 1 },
          previous: { id: null, name: null, area: null },
        },
        {
          seq: 2,
          ...common,
          record_id: 'gone',
          values: { id: 'gone', name: '\u2028' },
          previous: { id: null, name: null },
        },
      ]
      const sheet = await TestSheet.make(t, open, {
        properties: PROPERTIES,
        log,
        records: [{ id: 'a', name: 'New', label: 'l' }],
      })
      await sheet.write([{ id: 'a', name: 'Newer' }])
      assert.deepEqual(
        (await sheet.history('a', 'name')).map(({ seq, source, value }) => ({ seq, source, value })),
        [
          { seq: 1, source: 'write', value: 'Old' },
          { seq: 3, source: 'import', value: 'New' },
          { seq: 4, source: 'write', value: 'Newer' },
        ],
      )
      assert.equal((await sheet.latest('gone', 'name'))?.['value'], '\u2028')
      await sheet.close()
      const lines = await sheet.log()
      assert.deepEqual(lines.slice(0, 2), log)
      assert.deepEqual(
        lines.map(({ seq }) => seq),
        [1, 2, 3, 4],
      )
    })

    test('D34: a value of an earlier log that is not imported is explained as deleted', async (t) => {
      const values = { id: 'a', name: 'A', area: 1, label: 'l' }
      const previous = { id: null, name: null, area: null, label: null }
      const line = {
        at: '2026-01-01T00:00:00.000Z',
        actor: 'human:old',
        source: 'write',
        record_id: 'a',
        values,
        previous,
      }
      const sheet = await TestSheet.make(t, open, {
        properties: PROPERTIES,
        log: [{ seq: 1, ...line }],
        records: [{ id: 'a', name: 'A', label: 'l' }],
      })
      const entry = await sheet.latest('a', 'area')
      assert.equal(entry?.['value'], null)
      assert.equal(entry['source'], 'import')
      assert.equal(entry['previous'], 1)
    })

    test('D34: a record recreated after its store was lost has no value from the earlier log', async (t) => {
      const common = { at: '2026-01-01T00:00:00.000Z', actor: 'human:old', source: 'write', record_id: 'a' }
      const values = { id: 'a', name: 'A', area: 1, label: 'l' }
      const previous = { id: null, name: null, area: null, label: null }
      const sheet = await TestSheet.make(t, open, {
        properties: PROPERTIES,
        log: [{ seq: 1, ...common, values, previous }],
      })
      await sheet.write([{ id: 'a', name: 'B', label: 'l' }])
      const gone = { seq: 2, source: 'write', record_id: 'a', field: 'area', value: null, previous: 1 }
      const { at, actor, ...latest } = (await sheet.latest('a', 'area')) ?? {}
      assert.deepEqual(latest, gone)
      assert.deepEqual([typeof at, actor], ['string', HUMAN])
      assert.equal(await sheet.latest('a', 'code'), null)
      await sheet.write([{ id: 'a', area: 2 }])
      await sheet.store.delete(['a'], HUMAN)
      await sheet.write([{ id: 'a', name: 'C', label: 'l' }])
      const history = await sheet.history('a', 'area')
      assert.deepEqual(
        history.map((entry) => [entry['seq'], entry['value']]),
        [
          [1, 1],
          [2, null],
          [3, 2],
          [4, null],
        ],
      )
    })

    test('D2: a damaged log is refused with its line, and leaves no store', async (t) => {
      const sheet = await TestSheet.files(t, open, { properties: PROPERTIES })
      const good =
        '{"seq":1,"at":"2026-01-01T00:00:00.000Z","actor":"a","source":"delete","record_id":"x","values":{},"previous":{}}'
      await sheet.put('provenance.jsonl', [good, '{"seq":2,', good])
      await assert.rejects(sheet.open(), (error) => {
        assert.ok(error instanceof RecordsError)
        assert.match(error.message, /^provenance\.jsonl:2: /)
        return true
      })
      await sheet.put('provenance.jsonl', [good])
      await sheet.open()
    })

    test('D2: a later edit of records.jsonl is reported, but not imported', async (t) => {
      const sheet = await TestSheet.make(t, open, {
        properties: PROPERTIES,
        records: [{ id: 'a', name: 'A', label: 'l' }],
      })
      const cursorKey = Buffer.from(sheet.store.cursorKey)
      assert.equal(cursorKey.length, 32)
      await sheet.reopen()
      assert.equal(sheet.sourceDiffers, 0)
      assert.deepEqual(Buffer.from(sheet.store.cursorKey), cursorKey, 'the cursor key is another one')
      await sheet.put('records.jsonl', [{ id: 'a', name: 'X', label: 'l' }])
      await sheet.reopen()
      assert.equal(sheet.sourceDiffers, 1)
      assert.equal((await sheet.get('a'))?.['name'], 'A')
      await sheet.put('records.jsonl', [{ id: 'a', name: 'A', label: 'l' }])
      await sheet.reopen()
      assert.equal(sheet.sourceDiffers, 1, 'told of a file with the same content')
    })

    test('D2: so is a records.jsonl that is added after the store', async (t) => {
      const sheet = await TestSheet.make(t, open, { properties: PROPERTIES })
      await sheet.put('records.jsonl', [{ id: 'a', name: 'A' }])
      await sheet.reopen()
      assert.equal(sheet.sourceDiffers, 1)
      assert.deepEqual(await sheet.all(), [])
    })
  })
}
