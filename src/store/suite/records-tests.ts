import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { PermissionDeniedError, ValidationError } from '../../errors/service-error.ts'
import { AGENT, HUMAN, target, TestSheet, type OpenStore } from './test-sheet.ts'

const PROPERTIES = [
  '{name: name, logicalType: string, required: true}',
  '{name: n, logicalType: integer}',
  '{name: x, logicalType: number}',
  '{name: ok, logicalType: boolean}',
  '{name: day, logicalType: date}',
  '{name: at, logicalType: timestamp}',
  '{name: list, logicalType: array}',
  '{name: thing, logicalType: object}',
  '{name: code, logicalType: string, unique: true}',
  "{name: owned, logicalType: string, customProperties: [{property: editableBy, value: ['agent:*']}]}",
  '{name: label, logicalType: string}',
  '{name: note, logicalType: string, customProperties: [{property: editableBy, value: ["human:*"]}]}',
]

/** Writing and deleting records. */
export function testRecords(name: string, open: OpenStore): void {
  suite(`${name}: records`, () => {
    let sheet: TestSheet
    const undo: (() => Promise<void>)[] = []
    after(() => Promise.all(undo.map((step) => step())))
    before(async () => {
      const targets = [target('label', ['name']), target('note', ['name'])]
      sheet = await TestSheet.make({ after: (step) => undo.push(step) }, open, { properties: PROPERTIES, targets })
    })

    /** Refused whole, with this error; nothing of it is stored or logged. */
    const refused = async (act: () => Promise<unknown>, type: typeof ValidationError | typeof PermissionDeniedError): Promise<string> => {
      const records = await sheet.all()
      const { total } = await sheet.store.status()
      let message = ''
      await assert.rejects(act, (error) => {
        assert.ok(error instanceof type, String(error))
        message = error.message
        return true
      })
      assert.deepEqual(await sheet.all(), records)
      assert.equal((await sheet.store.status()).total, total)
      return message
    }
    const faultsOf = (records: readonly JsonValue[], actor?: string): Promise<string> =>
      refused(() => sheet.write(records, actor), ValidationError)

    test('D12, D13: every type of value comes back as it was sent', async () => {
      const values: JsonObject[] = [
        { name: 'plain', n: 1, x: 1.5, ok: true, day: '2026-02-28', at: '2026-01-01T00:00:00.5+02:00', list: [], thing: {} },
        { name: '', n: -9007199254740991, x: 0.1 + 0.2, ok: false, list: [null, true, 1.5, 'a', { b: [] }], thing: { '': null } },
        { name: '\u2028\u2029\u0001\n\t"\'\\%_\ud83d\ude00é\uffff', n: 9007199254740991, x: -1.7976931348623157e308 },
        { name: '\u0085\ufeff', n: 0, x: 5e-324, list: ['\u2028', '\u0001'], thing: { '"\\\u2028': '\ud83d\ude00' } },
        { name: 'x', x: 1e21, thing: JSON.parse('{"__proto__":{"a":1},"constructor":1,"b":{"toString":null}}') as JsonObject },
        { name: "Robert'); DROP TABLE records;--", x: 9007199254740993, list: [0.1, -1e-7, 123456789012] },
      ]
      const records = values.map((value, index) => ({ id: `type${index}`, ...value }))
      assert.deepEqual(await sheet.write(records), { inserted: 6, updated: 0, total: 6 })
      for (const record of records) {
        const stored = await sheet.get(record.id)
        const expected = Object.fromEntries(sheet.fields.map((field) => [field, (record as JsonObject)[field] ?? null]))
        assert.deepEqual(stored, expected)
        assert.deepEqual(Object.keys(stored ?? {}), sheet.fields)
        // A record read can be sent back.
        assert.equal((await sheet.write([stored])).updated, 1)
        for (const field of sheet.fields) assert.equal((await sheet.history(record.id, field)).length, expected[field] === null ? 0 : 1)
      }
    })

    test('D14: ids with emoji, quotes, percent signs and the like are told apart', async () => {
      const ids = ['😀', 'é', 'e\u0301', "o'Brien", '"q"', '100%', '%25', '_', '%', 'A', 'a', '../x', 'a b', '0', '00', 'null', 'x'.repeat(512)]
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
      for (const id of ['', ' a', 'a ', 'a,b', 'a\nb', 'a\u0000', '\u0085', 'x'.repeat(513), '\ud800', 'a\udfff']) {
        assert.match(await faultsOf([{ id, name: 'N' }]), /^records\[0\] .*field "id": /, JSON.stringify(id))
      }
      for (const id of [null, 1, ['a'], {}]) {
        assert.match(await faultsOf([{ id, name: 'N' }]), /^records\[0\], field "id": must be a string/)
      }
    })

    test('an id with a lone surrogate is the id of no record', async () => {
      await sheet.write([{ id: 'x\ufffd', name: 'N' }])
      assert.equal(await sheet.get('x\ud800'), null)
      assert.equal((await sheet.store.recordKeys(['x\ud800'])).size, 0)
      assert.equal((await sheet.store.provenance('x\ud800', 'name', true)).known, false)
      assert.equal((await sheet.store.delete(['x\ud800'], HUMAN)).deleted, 0)
    })

    test('D13: an existing record is merged: absent fields keep their value, null clears', async () => {
      await sheet.write([{ id: 'merge', name: 'N', n: 1, list: [1], ok: true }])
      const { inserted, updated } = await sheet.write([{ id: 'merge', n: null, list: [2], day: '2026-01-01' }])
      assert.deepEqual({ inserted, updated }, { inserted: 0, updated: 1 })
      const { name: kept, n, list, ok, day } = (await sheet.get('merge')) ?? {}
      assert.deepEqual({ kept, n, list, ok, day }, { kept: 'N', n: null, list: [2], ok: true, day: '2026-01-01' })
      assert.match(await faultsOf([{ id: 'merge', name: null }]), /field "name": /)
    })

    test('D13: a field written with the value that it has leaves no provenance', async () => {
      const record = { id: 'same', name: 'N', x: 1, ok: false, list: [{ a: 1, b: null }], thing: { a: 1, b: [2] } }
      await sheet.write([record])
      const before = await sheet.history('same', 'thing')
      const again = { ...record, x: 1.0, list: [{ b: null, a: 1 }], thing: { b: [2], a: 1 }, n: null }
      assert.equal((await sheet.write([again])).updated, 1)
      assert.deepEqual(await sheet.history('same', 'thing'), before)
      assert.deepEqual(await sheet.history('same', 'n'), [])
      await sheet.write([{ id: 'same', ok: true, x: 1 }])
      assert.deepEqual((await sheet.history('same', 'x')).length, 1)
      assert.deepEqual((await sheet.latest('same', 'ok'))?.['previous'], false)
    })

    test('D13: every fault of the batch is told with position, id and field, and nothing is written', async () => {
      await sheet.write([{ id: 'there', name: 'N', code: 'taken' }])
      const message = await faultsOf([
        { id: 'good', name: 'N' },
        { id: 'bad1', name: 5, n: 1.5, colour: 'red' },
        { id: 'bad2', n: 9007199254740992, list: ['\ud800'], thing: { 'a\u0000': 1 } },
        { id: 'there', day: '2026-02-30', at: '2026-01-01', x: '1' },
        { id: 'bad3', name: 'N', code: 'taken' },
      ])
      const places = [...message.matchAll(/records\[(\d)\] \(id "(\w+)"\), field "(\w+)"/g)].map(([, ...place]) => place.join(' '))
      assert.deepEqual(places.sort(), [
        '1 bad1 colour',
        '1 bad1 n',
        '1 bad1 name',
        '2 bad2 list',
        '2 bad2 n',
        '2 bad2 name',
        '2 bad2 thing',
        '3 there at',
        '3 there day',
        '3 there x',
        '4 bad3 code',
      ])
      assert.match(message, /record "there" has "taken"/)
    })

    test('D13: at most 100 faults are listed, and how many more there are', async () => {
      const records = Array.from({ length: 130 }, (_, index) => ({ id: `f${index}`, name: index }))
      const message = await faultsOf(records)
      assert.equal(message.match(/records\[/g)?.length, 100)
      assert.match(message, /and 30 more$/)
    })

    test('D13: names of Object.prototype are fields as any, when the contract lacks them', async () => {
      for (const field of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
        const record = JSON.parse(`{"id":"proto","name":"N","${field}":"x"}`) as JsonObject
        assert.match(await faultsOf([record]), new RegExp(`field "${field}": the contract has no such field`))
      }
    })

    test('D13: ids repeated in a batch apply in order', async () => {
      const result = await sheet.write([
        { id: 'twice', name: 'first', n: 1, code: 'once' },
        { id: 'twice', name: 'second', code: null },
        { id: 'twin', name: 'N', code: 'once' },
        { id: 'twice', n: null },
      ])
      assert.deepEqual({ ...result, total: 0 }, { inserted: 2, updated: 2, total: 0 })
      const { name: last, n, code } = (await sheet.get('twice')) ?? {}
      assert.deepEqual({ last, n, code }, { last: 'second', n: null, code: null })
      const entries = await sheet.history('twice', 'name')
      assert.deepEqual(entries.map(({ value, previous }) => [value, previous]), [['first', null], ['second', 'first']])
    })

    test('D13: an empty batch is 0, 0', async () => {
      const { total } = await sheet.store.status()
      assert.deepEqual(await sheet.write([]), { inserted: 0, updated: 0, total })
    })

    test('D13: a unique value is unique among records, null is not a value, and it is free again when cleared', async () => {
      await sheet.write([{ id: 'u1', name: 'N', code: 'u' }, { id: 'u2', name: 'N', code: null }, { id: 'u3', name: 'N', code: null }])
      assert.match(await faultsOf([{ id: 'u2', code: 'u' }]), /record "u1" has "u" already/)
      assert.match(await faultsOf([{ id: 'u4', name: 'N', code: 'v' }, { id: 'u5', name: 'N', code: 'v' }]), /^records\[1\]/)
      await sheet.write([{ id: 'u1', code: 'u', name: 'M' }])
      await sheet.write([{ id: 'u1', code: null }, { id: 'u2', code: 'u' }])
      await sheet.store.delete(['u2'], HUMAN)
      await sheet.write([{ id: 'u3', code: 'u' }])
    })

    test('D36: the shape of the request comes first, then the actor, then permission, then the contract', async () => {
      const wrong = { id: 'order', name: 5, owned: 'x' }
      assert.match(await faultsOf([wrong, 'no record'], ''), /^records\[1\] must be an object/)
      const act = (body: JsonObject): Promise<unknown> => sheet.store.upsert({ body, defaultActor: null })
      assert.match(await refused(() => act({ records: [wrong] }), ValidationError), /^actor is required$/)
      const denial = await refused(() => sheet.write([{ id: 'first', name: 5 }, wrong], HUMAN), PermissionDeniedError)
      assert.match(denial, /^records\[1\] \(id "order"\), field "owned": actor "human:ann" may not write it; .*agent:\*/)
      assert.match(await faultsOf([wrong], AGENT), /field "name"/)
    })

    test('D36: malformed bodies are refused', async () => {
      const refuse = (body: JsonObject | Uint8Array): Promise<string> =>
        refused(() => sheet.store.upsert({ body, defaultActor: HUMAN }), ValidationError)
      assert.match(await refuse({}), /"records" must be an array/)
      assert.match(await refuse({ records: {} }), /"records" must be an array/)
      assert.match(await refuse({ records: [], color: 1 }), /"color"/)
      assert.match(await refuse({ records: [], actor: 1 }), /"actor"/)
      assert.match(await refuse({ records: [], actor: 'a\nb' }), /control characters/)
      assert.match(await refuse({ records: [], actor: 'x'.repeat(201) }), /200/)
      assert.match(await refuse(new Uint8Array()), /"records" must be an array/)
      assert.match(await refuse(Buffer.from('{"records":[')), /not JSON/)
      assert.match(await refuse(Buffer.from([0x22, 0xff, 0x22])), /UTF-8/)
      assert.match(await refuse(Buffer.from('[]')), /must be a JSON object/)
    })

    test('a body of bytes is read as JSON, small or large, and an empty actor is absent', async () => {
      const long = 'x'.repeat(300_000)
      for (const text of ['short', long]) {
        const body = Buffer.from(JSON.stringify({ records: [{ id: 'bytes', name: text }], actor: text === long ? '' : null }))
        await sheet.store.upsert({ body, defaultActor: 'human:default' })
        assert.equal((await sheet.get('bytes'))?.['name'], text)
      }
      assert.equal((await sheet.latest('bytes', 'name'))?.['actor'], 'human:default')
    })

    test('D7: a value that the field has already, or null in a new record, needs no permission', async () => {
      await sheet.write([{ id: 'perm', name: 'N', owned: 'v' }], AGENT)
      await sheet.compute('perm', 'label', 'computed')
      await sheet.write([{ ...(await sheet.get('perm')), name: 'M' }], HUMAN)
      await sheet.write([{ id: 'perm2', name: 'N', owned: null, label: null }], HUMAN)
      for (const record of [{ owned: 'w' }, { owned: null }, { label: 'x' }, { label: null }]) {
        await refused(() => sheet.write([{ id: 'perm', ...record }], HUMAN), PermissionDeniedError)
      }
      assert.match(await refused(() => sheet.write([{ id: 'perm', label: 'x' }], AGENT), PermissionDeniedError), /derived/)
      assert.equal((await sheet.counts('label')).overridden, 0)
    })

    test('D15: deleting counts what existed, repeated or absent ids do no harm', async () => {
      await sheet.write([{ id: 'd1', name: 'N' }, { id: 'd2', name: 'N' }])
      const { total } = await sheet.store.status()
      assert.deepEqual(await sheet.store.delete(['d1', 'd1', 'none', 'd2'], HUMAN), { deleted: 2, remaining: total - 2 })
      assert.deepEqual(await sheet.store.delete(['d1'], HUMAN), { deleted: 0, remaining: total - 2 })
      assert.equal(await sheet.get('d1'), null)
    })

    test('D17: of many requests at once each happens whole or is refused on its own', async () => {
      const { total } = await sheet.store.status()
      const requests = Array.from({ length: 120 }, async (_, index) => {
        const record = { id: `group${index}`, name: 'N', code: `group ${index % 50}` }
        const also = index % 3 === 0 ? { id: `also${index}`, name: index % 2 === 0 ? 'N' : 5 } : { id: `also${index}`, name: 'N' }
        return sheet.write([record, also])
      })
      const outcomes = await Promise.allSettled(requests)
      let stored = 0
      for (const [index, { status }] of outcomes.entries()) {
        const there = [await sheet.get(`group${index}`), await sheet.get(`also${index}`)].map((record) => record !== null)
        assert.deepEqual(there, Array(2).fill(status === 'fulfilled'), `request ${index}`)
        if (status === 'fulfilled') stored += 2
      }
      assert.ok(stored >= 90 && stored <= 100)
      assert.equal((await sheet.store.status()).total, total + stored)
      const totals = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.total : null))
      assert.deepEqual(totals.filter((count) => count !== null), Array.from({ length: stored / 2 }, (_, index) => total + 2 * (index + 1)))
    })
  })

  test(`${name}: D7: deleting is open to everybody unless the contract's deletableBy says otherwise`, async (t) => {
    const sheet = await TestSheet.make(t, open, { properties: ['{name: a, logicalType: string}'], records: [{ id: 'a' }], deletableBy: ['agent:*'] })
    await assert.rejects(sheet.store.delete(['a'], HUMAN), PermissionDeniedError)
    await assert.rejects(sheet.store.delete(['none'], HUMAN), PermissionDeniedError)
    assert.equal((await sheet.all()).length, 1)
    assert.equal((await sheet.store.delete(['a'], AGENT)).deleted, 1)
  })

  test(`${name}: D5: field names may be keywords of SQL and names of Object.prototype`, async (t) => {
    const names = [
      ...['select', 'FROM', 'group', 'order', 'values', 'rowid', 'oid', '_rowid_', 'json', 'value', 'records', 'last', 'more', 'key'],
      ...['constructor', 'valueOf', 'toString', 'hasOwnProperty', 'n', 'state', 'target', 'record', 'hash', 'mark', 'seq', 'line'],
    ]
    const properties = names.map((field) => `{name: ${field}, logicalType: integer}`)
    const targets = [target('valueOf', ['constructor', 'rowid']), target('value', ['valueOf'])]
    const record = (id: string, value: number): JsonObject =>
      JSON.parse(`{"id":"${id}",${names.filter((field) => field !== 'value' && field !== 'valueOf').map((field) => `"${field}":${value}`).join()}}`) as JsonObject
    const sheet = await TestSheet.make(t, open, { properties, targets, records: [record('a', 1), record('b', 2)] })
    await sheet.write([record('b', 3), record('c', 4)])
    for (const id of ['a', 'b', 'c']) {
      const [item] = await sheet.store.work({
        targets: ['valueOf'],
        inputs: ['constructor', 'rowid'],
        force: true,
        after: null,
        limit: 1,
        only: [...(await sheet.store.recordKeys([id])).values()],
      })
      assert.deepEqual(Object.entries(item?.inputs ?? {}), [['constructor', { a: 1, b: 3, c: 4 }[id]], ['rowid', { a: 1, b: 3, c: 4 }[id]]])
      assert.deepEqual(await sheet.compute(id, 'valueOf', 7), { outcome: 'stored' })
    }
    for (const limit of [1, 2, 10]) assert.deepEqual((await sheet.all(limit)).map(({ rowid }) => rowid), [1, 3, 4])
    assert.equal((await sheet.get('b'))?.['valueOf'], 7)
    assert.deepEqual((await sheet.history('b', 'valueOf')).map(({ value }) => value), [7])
    assert.deepEqual((await sheet.history('b', 'hasOwnProperty')).map(({ value, previous }) => [value, previous]), [[2, null], [3, 2]])
    await sheet.store.delete(['b'], HUMAN)
    assert.deepEqual(await sheet.latest('b', 'valueOf').then((entry) => [entry?.['value'], entry?.['previous']]), [null, 7])
    assert.deepEqual((await sheet.latest('b', 'constructor'))?.['previous'], 3)
  })
}
