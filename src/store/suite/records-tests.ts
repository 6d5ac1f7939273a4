import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { EntryPlace, FoundEntries } from '../cell-entries.ts'
import { PermissionDeniedError, StoppingError, ValidationError } from '../../errors/service-error.ts'
import { RECORD_PROPERTIES } from './support/record-properties.ts'
import { refused } from './support/refused.ts'
import { AGENT, FIRST_PAGE, HUMAN, IN_TURN, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Tests of writing and deleting records. */
export function testRecords(open: OpenStore): void {
  suite('records', IN_TURN, () => {
    const targets = [target('label', ['name']), target('note', ['name'])]
    const sheet = TestSheet.shared(open, { properties: RECORD_PROPERTIES, targets })

    const faultsOf = (records: readonly JsonValue[]): Promise<string> =>
      refused(sheet, () => sheet.write(records), ValidationError)

    test('D12, D13: every type of value comes back as it was sent', async () => {
      const values: JsonObject[] = [
        {
          name: 'plain',
          n: 1,
          x: 1.5,
          ok: true,
          day: '2026-02-28',
          at: '2026-01-01T00:00:00.5+02:00',
          list: [],
          thing: {},
        },
        {
          name: '',
          n: -9007199254740991,
          x: 0.1 + 0.2,
          ok: false,
          list: [null, true, 1.5, 'a', { b: [] }],
          thing: { '': null },
        },
        {
          name: '\u2028\u2029\u0001\n\t"\'\\%_\ud83d\ude00é\uffff',
          n: 9007199254740991,
          x: -1.7976931348623157e308,
        },
        {
          name: '\u0085\ufeff',
          n: 0,
          x: 5e-324,
          list: ['\u2028', '\u0001'],
          thing: { '"\\\u2028': '\ud83d\ude00' },
        },
        {
          name: 'x',
          x: 1e21,
          thing: JSON.parse('{"__proto__":{"a":1},"constructor":1,"b":{"toString":null}}') as JsonObject,
        },
        { name: "Robert'); DROP TABLE records;--", x: 2 ** 53 + 2, list: [0.1, -1e-7, 123456789012] },
      ]
      const records = values.map((value, index) => ({ id: `type${index}`, ...value }))
      assert.deepEqual(await sheet.write(records), {
        inserted: 6,
        updated: 0,
        unchanged: 0,
        total: 6,
        version: null,
      })
      for (const record of records) {
        const stored = await sheet.get(record.id)
        const expected = Object.fromEntries(
          sheet.fields.map((field) => [field, (record as JsonObject)[field] ?? null]),
        )
        assert.deepEqual(stored, expected)
        assert.deepEqual(Object.keys(stored ?? {}), sheet.fields)
        // A record that was read can be sent back.
        assert.equal((await sheet.write([stored])).updated, 1)
        for (const field of sheet.fields)
          assert.equal((await sheet.history(record.id, field)).length, expected[field] === null ? 0 : 1)
      }
    })

    test('D14: ids with emoji, quotes, percent signs and the like are distinguished', async () => {
      const ids = [
        '😀',
        'é',
        'e\u0301',
        "o'Brien",
        '"q"',
        '100%',
        '%25',
        '_',
        '%',
        'A',
        'a',
        '../x',
        'a b',
        '0',
        '00',
        'null',
        'x'.repeat(512),
      ]
      await sheet.write(ids.map((id) => ({ id, name: `name of ${id}` })))
      for (const id of ids) {
        assert.deepEqual(await sheet.get(id, ['id', 'name']), { id, name: `name of ${id}` })
        assert.equal((await sheet.latest(id, 'name'))?.['record_id'], id)
      }
      assert.deepEqual([...(await sheet.store.recordKeys(ids)).keys()], ids)
      const { deleted } = await sheet.store.delete([...ids, ...ids, 'no such id'], HUMAN)
      assert.equal(deleted, ids.length)
    })

    test('D14: other ids are refused', async () => {
      for (const id of [
        '',
        ' a',
        'a ',
        'a,b',
        'a\nb',
        'a\u0000',
        '\u0085',
        'x'.repeat(513),
        '\ud800',
        'a\udfff',
      ]) {
        assert.match(await faultsOf([{ id, name: 'N' }]), /^records\[0\] .*field "id": /, JSON.stringify(id))
      }
      for (const id of [null, 1, ['a'], {}]) {
        const fault = /^records\[0\] \(no id\), field "id": (is required|.* is not a string)$/
        assert.match(await faultsOf([{ id, name: 'N' }]), fault)
      }
    })

    test('an id with a lone surrogate is the id of no record', async () => {
      await sheet.write([{ id: 'x\ufffd', name: 'N' }])
      assert.equal(await sheet.get('x\ud800'), null)
      assert.equal((await sheet.store.recordKeys(['x\ud800'])).size, 0)
      assert.equal(await sheet.store.provenance('x\ud800', 'name', 1), null)
      assert.equal((await sheet.store.delete(['x\ud800'], HUMAN)).deleted, 0)
    })

    test('a page of a history ends at its limit in bytes, and the next one continues', async () => {
      const long = 300_000
      for (const value of ['a', 'b', 'c', 'd', 'e']) {
        await sheet.write([{ id: 'long', name: value.repeat(long) }])
      }
      const pages: unknown[] = []
      for (let from: EntryPlace | null = null; ;) {
        const query = { recordId: 'long', field: 'name', from, limit: 10 }
        const page: FoundEntries | null = await sheet.store.entries(query)
        pages.push(page?.entries.map(({ value }) => JSON.stringify(value).slice(1, 2)))
        if (!page?.next) break
        from = page.next
      }
      assert.deepEqual(pages.flat(), ['a', 'b', 'c', 'd', 'e'])
      // A line has the value and the one before.
      assert.equal(pages.length, 4)
      const latest = await sheet.store.provenance('long', 'name', 10)
      assert.equal(latest?.isCut, true)
      assert.equal(latest.entries.length, 2)
      assert.equal((await sheet.store.provenance('long', 'name', 2))?.isCut, false)
    })

    test('a body of bytes is parsed as JSON, small or large, and an empty actor counts as absent', async () => {
      const long = 'é'.repeat(2_000_000)
      for (const text of ['short', long]) {
        const body = Buffer.from(
          JSON.stringify({ records: [{ id: 'bytes', name: text }], actor: text === long ? '' : null }),
        )
        await sheet.upsert({ body, defaultActor: 'human:default' })
        assert.equal((await sheet.get('bytes'))?.['name'], text)
      }
      assert.equal((await sheet.latest('bytes', 'name'))?.['actor'], 'human:default')
    })

    test('D13: a lone surrogate in a body of text is refused', async () => {
      await sheet.upsert({ body: '{"records": [{"id": "text", "name": "é"}]}', defaultActor: HUMAN })
      assert.equal((await sheet.get('text'))?.['name'], 'é')
      const body = '{"records": [{"id": "text", "name": "a\ud800"}]}'
      assert.match(
        await refused(sheet, () => sheet.upsert({ body, defaultActor: HUMAN }), ValidationError),
        /lone surrogate/,
      )
      assert.equal((await sheet.get('text'))?.['name'], 'é')
    })

    test('D15: deleting counts existing records; repeated and unknown ids are ignored', async () => {
      await sheet.write([
        { id: 'd1', name: 'N' },
        { id: 'd2', name: 'N' },
      ])
      const { total } = await sheet.store.status()
      assert.deepEqual(await sheet.store.delete(['d1', 'd1', 'none', 'd2'], HUMAN), {
        deleted: 2,
        remaining: total - 2,
      })
      assert.deepEqual(await sheet.store.delete(['d1'], HUMAN), { deleted: 0, remaining: total - 2 })
      assert.equal(await sheet.get('d1'), null)
    })

    test('D17: each of many concurrent requests is carried out completely or refused on its own', async () => {
      const { total } = await sheet.store.status()
      const requests = Array.from({ length: 120 }, async (_, index) => {
        const record = { id: `group${index}`, name: 'N', code: `group ${index % 50}` }
        const also =
          index % 3 === 0
            ? { id: `also${index}`, name: index % 2 === 0 ? 'N' : 5 }
            : { id: `also${index}`, name: 'N' }
        return sheet.write([record, also])
      })
      const outcomes = await Promise.allSettled(requests)
      let stored = 0
      for (const [index, { status }] of outcomes.entries()) {
        const there = [await sheet.get(`group${index}`), await sheet.get(`also${index}`)].map(
          (record) => record !== null,
        )
        assert.deepEqual(there, Array(2).fill(status === 'fulfilled'), `request ${index}`)
        if (status === 'fulfilled') stored += 2
      }
      assert.ok(stored >= 90 && stored <= 100)
      assert.equal((await sheet.store.status()).total, total + stored)
      const totals = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.total : null))
      assert.deepEqual(
        totals.filter((count) => count !== null),
        Array.from({ length: stored / 2 }, (_, index) => total + 2 * (index + 1)),
      )
    })
  })

  test(`D7: anyone may delete unless the contract's deletableBy restricts it`, async (t) => {
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: a, logicalType: string}'],
      records: [{ id: 'a' }],
      deletableBy: ['agent:*'],
    })
    await assert.rejects(sheet.store.delete(['a'], HUMAN), PermissionDeniedError)
    await assert.rejects(sheet.store.delete(['none'], HUMAN), PermissionDeniedError)
    assert.equal((await sheet.all()).length, 1)
    assert.equal((await sheet.store.delete(['a'], AGENT)).deleted, 1)
  })

  test(`D5: field names may be keywords of SQL and names of Object.prototype`, async (t) => {
    const names = `select FROM group order values rowid oid _rowid_ json value records last more key
      constructor valueOf toString hasOwnProperty n state target record hash mark seq line`.split(/\s+/)
    const properties = names.map((field) => `{name: ${field}, logicalType: integer}`)
    const targets = [target('valueOf', ['constructor', 'rowid']), target('value', ['valueOf'])]
    const record = (id: string, value: number): JsonObject =>
      JSON.parse(
        `{"id":"${id}",${names
          .filter((field) => field !== 'value' && field !== 'valueOf')
          .map((field) => `"${field}":${value}`)
          .join()}}`,
      ) as JsonObject
    const sheet = await TestSheet.make(t, open, {
      properties,
      targets,
      records: [record('a', 1), record('b', 2)],
    })
    await sheet.write([record('b', 3), record('c', 4)])
    for (const id of ['a', 'b', 'c']) {
      const [item] = await sheet.store.work({
        targets: ['valueOf'],
        inputs: ['constructor', 'rowid'],
        force: true,
        state: null,
        after: null,
        limit: 1,
        only: [...(await sheet.store.recordKeys([id])).values()],
      })
      assert.deepEqual(Object.entries(item?.inputs ?? {}), [
        ['constructor', { a: 1, b: 3, c: 4 }[id]],
        ['rowid', { a: 1, b: 3, c: 4 }[id]],
      ])
      assert.deepEqual(await sheet.compute(id, 'valueOf', 7), { outcome: 'stored' })
    }
    for (const limit of [1, 2, 10])
      assert.deepEqual(
        (await sheet.all(limit)).map(({ rowid }) => rowid),
        [1, 3, 4],
      )
    assert.equal((await sheet.get('b'))?.['valueOf'], 7)
    assert.deepEqual(
      (await sheet.history('b', 'valueOf')).map(({ value }) => value),
      [7],
    )
    assert.deepEqual(
      (await sheet.history('b', 'hasOwnProperty')).map(({ value, previous }) => [value, previous]),
      [
        [2, null],
        [3, 2],
      ],
    )
    await sheet.store.delete(['b'], HUMAN)
    assert.deepEqual(
      await sheet.latest('b', 'valueOf').then((entry) => [entry?.['value'], entry?.['previous']]),
      [null, 7],
    )
    assert.deepEqual((await sheet.latest('b', 'constructor'))?.['previous'], 3)
  })

  test('every operation on a closed store says that it is closed', async (t) => {
    const sheet = await TestSheet.make(t, open, { properties: RECORD_PROPERTIES })
    const { store } = sheet
    await sheet.close()
    for (const use of [
      () => store.record('a', ['id']),
      () => store.page({ ...FIRST_PAGE, fields: ['id'], limit: 5 }),
      () => store.status(),
      () => store.history(),
      () => store.runs({ limit: 5, before: null }),
      () => store.proposals.counts(),
      () => store.delete(['a'], HUMAN),
    ]) {
      await assert.rejects(use, StoppingError, String(use))
    }
  })
}
