import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { countTurns } from '../../../test/support/count-turns.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { PermissionDeniedError, ValidationError } from '../../errors/service-error.ts'
import type { UpsertResult } from '../sheet-store.ts'
import { RECORD_PROPERTIES } from './support/record-properties.ts'
import { refused } from './support/refused.ts'
import { AGENT, HUMAN, IN_TURN, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Tests of what an upsert merges, refuses and leaves unchanged. */
export function testUpsert(open: OpenStore): void {
  suite('upsert', IN_TURN, () => {
    const targets = [target('label', ['name']), target('note', ['name'])]
    const sheet = TestSheet.shared(open, { properties: RECORD_PROPERTIES, targets })

    const faultsOf = (records: readonly JsonValue[], actor?: string): Promise<string> =>
      refused(sheet, () => sheet.write(records, actor), ValidationError)

    test('D13: an existing record is merged: absent fields keep their value, null clears', async () => {
      await sheet.write([{ id: 'merge', name: 'N', n: 1, list: [1], ok: true }])
      const { inserted, updated } = await sheet.write([
        { id: 'merge', n: null, list: [2], day: '2026-01-01' },
      ])
      assert.deepEqual({ inserted, updated }, { inserted: 0, updated: 1 })
      const { name: kept, n, list, ok, day } = (await sheet.get('merge')) ?? {}
      assert.deepEqual(
        { kept, n, list, ok, day },
        { kept: 'N', n: null, list: [2], ok: true, day: '2026-01-01' },
      )
      assert.match(await faultsOf([{ id: 'merge', name: null }]), /field "name": /)
    })

    test('D13: a field written with the value that it has leaves no provenance', async () => {
      const record = {
        id: 'same',
        name: 'N',
        x: 1,
        ok: false,
        list: [{ a: 1, b: null }],
        thing: { a: 1, b: [2] },
      }
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

    test('D13: every error of a batch has position, id and field, and nothing is written', async () => {
      await sheet.write([{ id: 'there', name: 'N', code: 'taken' }])
      const message = await faultsOf([
        { id: 'good', name: 'N' },
        { id: 'bad1', name: 5, n: 1.5, colour: 'red' },
        { id: 'bad2', n: 9007199254740992, list: ['\ud800'], thing: { 'a\u0000': 1 } },
        { id: 'there', day: '2026-02-30', at: '2026-01-01', x: '1' },
        { id: 'bad3', name: 'N', code: 'taken' },
      ])
      const places = [...message.matchAll(/records\[(\d)\] \(id "(\w+)"\), field "(\w+)"/g)].map(
        ([, ...place]) => place.join(' '),
      )
      assert.deepEqual(places.toSorted(), [
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

    test('D13: a number that would lose digits is refused with its text, in any field', async () => {
      const records = [
        '{"id":1234567890123456781}',
        '{"id":"i","name":"N","n":1234567890123456781}',
        '{"id":"x","name":"N","x":1234567890123456781}',
        '{"id":"d","name":"N","x":0.1234567890123456789}',
        '{"id":"e","name":"N","x":1e-400}',
        '{"id":"t","name":1234567890123456781}',
        '{"id":"l","name":"N","list":[{"a":1234567890123456781}]}',
        '{"id":"o","name":"N","thing":1234567890123456781}',
      ]
      const body = Buffer.from(`{"records":[${records.join(',')},12345678901234567]}`)
      const beyond = '1234567890123456781 is an integer beyond ±9007199254740991; send it as a string'
      assert.match(
        await refused(sheet, () => sheet.upsert({ body, actor: HUMAN }), ValidationError),
        /^records\[8\] must be an object, got a number$/,
      )
      const message = await refused(
        sheet,
        () => sheet.upsert({ body: `{"records":[${records.join(',')}]}`, actor: HUMAN }),
        ValidationError,
      )
      for (const fault of [
        'records[0] (no id), field "id": 1234567890123456781 is not a string',
        `(id "i"), field "n": ${beyond}`,
        `(id "x"), field "x": ${beyond}`,
        '(id "d"), field "x": 0.1234567890123456789 has more digits than a number keeps; send it as a string',
        '(id "e"), field "x": 1e-400 is out of the range of numbers',
        '(id "t"), field "name": 1234567890123456781 is not a string',
        `(id "l"), field "list": at [0].a: ${beyond}`,
        `(id "o"), field "thing": ${beyond}`,
      ])
        assert.ok(message.includes(fault), `${fault}\n${message}`)
    })

    test('a number is stored as written in each notation that a double represents', async () => {
      const written = ['0.10000000000000001', '1e-06', '0.0000009999999974752427', '100000000000000000000']
      const records = written.map((text, index) => `{"id":"kept${index}","name":"N","x":${text}}`)
      await sheet.upsert({ body: Buffer.from(`{"records":[${records.join(',')}]}`), actor: HUMAN })
      const stored = await Promise.all(written.map((_, index) => sheet.get(`kept${index}`)))
      assert.deepEqual(
        stored.map((record) => record?.['x']),
        [0.1, 1e-6, 9.999999974752427e-7, 1e20],
      )
    })

    test('D13: at most 100 errors are listed, with the number of further ones', async () => {
      const records = Array.from({ length: 130 }, (_, index) => ({ id: `f${index}`, name: index }))
      const message = await faultsOf(records)
      assert.equal(message.match(/records\[/g)?.length, 100)
      assert.match(message, /and 30 more$/)
    })

    test('D13: names of Object.prototype are unknown fields, when the contract lacks them', async () => {
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
      assert.deepEqual(
        { ...result, total: 0 },
        {
          inserted: 2,
          updated: 2,
          unchanged: 0,
          total: 0,
          version: null,
        },
      )
      const { name: last, n, code } = (await sheet.get('twice')) ?? {}
      assert.deepEqual({ last, n, code }, { last: 'second', n: null, code: null })
      const entries = await sheet.history('twice', 'name')
      assert.deepEqual(
        entries.map(({ value, previous }) => [value, previous]),
        [
          ['first', null],
          ['second', 'first'],
        ],
      )
    })

    test('D13: so they do in a large batch of new and existing records', async () => {
      await sheet.write(['l-there', 'l-é"'].map((id) => ({ id, name: 'before', n: 1 })))
      const many = Array.from({ length: 300 }, (_, index): JsonObject => ({ id: `l-${index}`, name: 'N' }))
      const others = [
        { id: 'l-7', name: 'again' },
        { id: 'l-there', name: 'after' },
        { id: 'l-é"', n: 2 },
        { id: 'l-there', n: 2 },
      ]
      const { inserted, updated } = await sheet.write([...many, ...others])
      assert.deepEqual({ inserted, updated }, { inserted: 300, updated: 4 })
      const stored = await Promise.all(['l-7', 'l-8', 'l-there', 'l-é"'].map((id) => sheet.get(id)))
      assert.deepEqual(
        stored.map((record) => [record?.['name'], record?.['n']]),
        [
          ['again', null],
          ['N', null],
          ['after', 2],
          ['before', 2],
        ],
      )
      assert.deepEqual((await sheet.latest('l-7', 'name'))?.['previous'], 'N')
      const faults = await faultsOf([
        ...many.map((_, index) => ({ id: `new-${index}`, name: 'N' })),
        { id: 'l-there', name: null },
        { id: 'l-none' },
      ])
      assert.match(
        faults,
        /^records\[300\] \(id "l-there"\), field "name": .*; records\[301\] \(id "l-none"\), field "name": is required$/,
      )
    })

    test('a trial upsert counts its changes, reports every error with its position, and changes nothing', async () => {
      await sheet.write([{ id: 'tried', name: 'N', n: 1, code: 'tried' }])
      const [before, { total }] = [await sheet.store.history(), await sheet.store.status()]
      const records: JsonObject[] = [
        { id: 'tried', name: 'N', n: 1 },
        { id: 'tried', n: 2 },
        { id: 'untried', name: 'N' },
        { id: 'bad', name: 'N', n: 'x' },
        { id: 'second', name: 'N', code: 'tried' },
      ]
      const request = { body: { records }, defaultActor: 'user:writer', ifMatch: null }
      const trial = await sheet.store.tryUpsert(request)
      assert.deepEqual([trial.inserted, trial.updated, trial.unchanged, trial.violations.count], [2, 2, 1, 2])
      assert.deepEqual(
        trial.violations.listed.map(({ index, id, field }) => [index, id, field]),
        [
          [3, 'bad', 'n'],
          [4, 'second', 'code'],
        ],
      )
      assert.deepEqual([await sheet.store.history(), (await sheet.store.status()).total], [before, total])
      assert.equal((await sheet.get('tried'))?.['n'], 1)
      assert.equal(await sheet.get('untried'), null)
    })

    test('a trial upsert counts records that repeat, and values of unique fields that move, as a write does', async () => {
      await sheet.write([
        { id: 'has', name: 'N', code: 'moving' },
        { id: 'has-not', name: 'N' },
      ])
      const records: JsonObject[] = [
        { id: 'again', name: 'N', n: 1, code: 'again' },
        { id: 'again', n: 1 },
        { id: 'again', n: 2, code: null },
        { id: 'has-not', code: 'moving' },
        { id: 'has', code: null },
        { id: 'has', code: null, name: 'M' },
        { id: 'third', name: 'N', code: 'again' },
      ]
      const request = { body: { records }, defaultActor: 'user:writer', ifMatch: null }
      const { violations, ...counts } = await sheet.store.tryUpsert(request)
      const { total: _total, version: _version, ...written } = await sheet.store.upsert(request)
      assert.deepEqual([violations.count, counts], [0, written])
      assert.deepEqual(counts, { inserted: 2, updated: 5, unchanged: 1 })
      await sheet.store.delete(['has', 'has-not', 'again', 'third'], HUMAN)
    })

    test('D13: an empty batch is 0, 0', async () => {
      const { total } = await sheet.store.status()
      assert.deepEqual(await sheet.write([]), {
        inserted: 0,
        updated: 0,
        unchanged: 0,
        total,
        version: null,
      })
    })

    test('D13: a unique value is unique among records, null is not a value, and it is free again when cleared', async () => {
      await sheet.write([
        { id: 'u1', name: 'N', code: 'u' },
        { id: 'u2', name: 'N', code: null },
        { id: 'u3', name: 'N', code: null },
      ])
      assert.match(await faultsOf([{ id: 'u2', code: 'u' }]), /record "u1" has "u" already/)
      assert.match(
        await faultsOf([
          { id: 'u4', name: 'N', code: 'v' },
          { id: 'u5', name: 'N', code: 'v' },
        ]),
        /^records\[1\]/,
      )
      await sheet.write([{ id: 'u1', code: 'u', name: 'M' }])
      await sheet.write([
        { id: 'u1', code: null },
        { id: 'u2', code: 'u' },
      ])
      await sheet.store.delete(['u2'], HUMAN)
      await sheet.write([{ id: 'u3', code: 'u' }])
    })

    test('D13: a unique field is checked after the whole batch, so that records can swap values', async () => {
      await sheet.write([
        { id: 's1', name: 'N', code: 's-1' },
        { id: 's2', name: 'N', code: 's-2' },
        { id: 's3', name: 'N', code: 's-3' },
      ])
      const codes = async (): Promise<JsonValue[]> =>
        Promise.all(['s1', 's2', 's3'].map(async (id) => (await sheet.get(id, ['code']))?.['code'] ?? null))
      await sheet.write([
        { id: 's1', code: 's-2' },
        { id: 's2', code: 's-3' },
        { id: 's3', code: 's-1' },
      ])
      assert.deepEqual(await codes(), ['s-2', 's-3', 's-1'])
      assert.equal((await sheet.latest('s2', 'code'))?.['previous'], 's-2')
      await sheet.write([
        { id: 's4', name: 'N', code: 's-2' },
        { id: 's1', code: null },
        { id: 's2', code: 's-9' },
        { id: 's2', code: 's-3' },
      ])
      assert.deepEqual(await codes(), [null, 's-3', 's-1'])
      assert.match(
        await faultsOf([
          { id: 's1', code: 's-3' },
          { id: 's2', code: 's-1' },
        ]),
        /^records\[1\] \(id "s2"\), field "code": must be unique, but record "s3" has "s-1" already$/,
      )
      const three = await faultsOf(['s5', 's6', 's7'].map((id) => ({ id, name: 'N', code: 'thrice' })))
      assert.deepEqual(three.match(/records\[\d\]/g), ['records[1]', 'records[2]'])
      assert.deepEqual(await codes(), [null, 's-3', 's-1'])
    })

    test('D13: a record without an id, or with an id that is not a string, is reported with all other errors', async () => {
      const message = await faultsOf([
        { name: 5 },
        { id: 7, name: 'N' },
        { id: null, name: 'N', colour: 1 },
        { id: 'whole', name: 5 },
      ])
      assert.deepEqual(message.split('; '), [
        'records[0] (no id), field "name": 5 is not a string',
        'records[0] (no id), field "id": is required',
        'records[1] (no id), field "id": 7 is not a string',
        'records[2] (no id), field "colour": the contract has no such field',
        'records[2] (no id), field "id": is required',
        'records[3] (id "whole"), field "name": 5 is not a string',
      ])
    })

    test('D36: the shape of the request is checked first, then the actor, the permission, the contract', async () => {
      const wrong = { id: 'order', name: 5, owned: 'x' }
      assert.match(await faultsOf([wrong, 'no record'], ''), /^records\[1\] must be an object/)
      const act = (body: JsonObject): Promise<unknown> => sheet.upsert({ body })
      assert.match(
        await refused(sheet, () => act({ records: [wrong] }), ValidationError),
        /^actor is required$/,
      )
      const denial = await refused(
        sheet,
        () => sheet.write([{ id: 'first', name: 5 }, wrong], HUMAN),
        PermissionDeniedError,
      )
      assert.match(
        denial,
        /^records\[1\] \(id "order"\), field "owned": actor "human:ann" may not write it; .*agent:\*/,
      )
      assert.match(await faultsOf([wrong], AGENT), /field "name"/)
    })

    test('D36: malformed bodies are refused', async () => {
      const refuse = (body: JsonObject | Uint8Array): Promise<string> =>
        refused(sheet, () => sheet.upsert({ body, defaultActor: HUMAN }), ValidationError)
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

    test('D7: a value that the field has already, or null in a new record, needs no permission', async () => {
      await sheet.write([{ id: 'perm', name: 'N', owned: 'v' }], AGENT)
      await sheet.compute('perm', 'label', 'computed')
      await sheet.write([{ ...(await sheet.get('perm')), name: 'M' }], HUMAN)
      await sheet.write([{ id: 'perm2', name: 'N', owned: null, label: null }], HUMAN)
      for (const record of [{ owned: 'w' }, { owned: null }, { label: 'x' }, { label: null }]) {
        await refused(sheet, () => sheet.write([{ id: 'perm', ...record }], HUMAN), PermissionDeniedError)
      }
      assert.match(
        await refused(sheet, () => sheet.write([{ id: 'perm', label: 'x' }], AGENT), PermissionDeniedError),
        /derived/,
      )
      assert.equal((await sheet.counts('label')).overridden, 0)
    })

    test('D13: a large upsert is all or nothing, merges in order, lets records swap unique values, and yields to others', async (t) => {
      const properties = [
        '{name: n, logicalType: integer}',
        '{name: code, logicalType: string, unique: true}',
      ]
      const large = await TestSheet.make(t, open, { properties, targets: [] })
      const count = 11_000
      const records = Array.from({ length: count }, (_, n): JsonObject => ({ id: `r${n}`, n }))
      const bodyOf = (some: readonly JsonObject[]): Buffer => Buffer.from(JSON.stringify({ records: some }))
      const upsert = (some: readonly JsonObject[]): Promise<UpsertResult> =>
        large.upsert({ body: bodyOf(some), defaultActor: HUMAN })

      const message = await refused(
        large,
        async () => {
          const wrong = records.with(3, { id: 'r3', n: 'x' }).with(count - 1, { id: 'last', colour: 1 })
          await upsert(wrong)
        },
        ValidationError,
      )
      assert.match(message, /^records\[3\] \(id "r3"\).*records\[10999\] \(id "last"\), field "colour"/)
      await refused(large, () => upsert([...records, { id: 'last', n: 'x' }]), ValidationError)

      const first = countTurns(upsert([...records, { id: 'r0', n: -1 }, { id: 'r1', code: 'one' }]))
      const beside = large.write([{ id: 'beside', n: 7 }])
      const { answer, turns } = await first
      assert.deepEqual([answer.inserted, answer.updated], [count, 2])
      assert.ok(turns >= 20, `${turns} turns`)
      await beside
      assert.equal((await large.all()).length, count + 1)
      assert.deepEqual(await large.get('r0'), { id: 'r0', n: -1, code: null })
      assert.deepEqual(
        (await large.history('r0', 'n')).map(({ value }) => value),
        [0, -1],
      )
      assert.deepEqual(await large.get(`r${count - 1}`), { id: `r${count - 1}`, n: count - 1, code: null })

      await upsert([
        { id: 'r2', code: 'two' },
        ...records,
        { id: 'r1', code: 'two' },
        { id: 'r2', code: 'one' },
      ])
      assert.deepEqual([(await large.get('r1'))?.['code'], (await large.get('r2'))?.['code']], ['two', 'one'])
      const taken = [...records, { id: 'r3', code: 'two' }]
      const conflict = await refused(large, () => upsert(taken), ValidationError)
      assert.match(
        conflict,
        /^records\[11000\] \(id "r3"\), field "code": must be unique, but record "r1" has "two"/,
      )
    })
  })
}
