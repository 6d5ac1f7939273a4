import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { countTurns } from '../../../test/support/count-turns.ts'
import { onEnd } from '../../../test/support/on-end.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import type { PageAsOfQuery } from '../sheet-store.ts'
import {
  FIRST_PAGE,
  HUMAN,
  IN_TURN,
  newRun,
  target,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const TYPES = [
  '{name: text, logicalType: string}',
  '{name: whole, logicalType: integer}',
  '{name: share, logicalType: number}',
  '{name: ok, logicalType: boolean}',
  '{name: day, logicalType: date}',
  '{name: at, logicalType: timestamp}',
  '{name: hour, logicalType: time}',
  '{name: list, logicalType: array}',
  '{name: thing, logicalType: object}',
  '{name: key, logicalType: string}',
  '{name: seq, logicalType: string}',
]

/** Values whose JSON is easily wrong; each record has all of a type, or none. */
const RECORDS: readonly JsonObject[] = [
  ...[468, 0.1 + 0.2, 1e21, -1.5e-7, 5e-324, 1.7976931348623157e308, 2 ** 53, -0].map((share) => ({ share })),
  ...[0, -1, 2 ** 53 - 1, -(2 ** 53) + 1].map((whole) => ({ whole, ok: whole === 0 })),
  ...['', 'Zoë 😀', '\u2028"\\/\n\t\u0001\u007f', "'; DROP", '{"a":1}', '1.0', 'null'].map((text) => ({
    text,
  })),
  { day: '2024-02-29', at: '2024-03-10T14:22:35.123456+02:00', hour: '23:59:60Z', key: 'k', seq: 's' },
  { list: [], thing: {} },
  { list: [5e-324, 1.0, null, [true], 'ü'], thing: { b: { '2': 1, '1': '\u2028' }, a: [0.1 + 0.2] } },
  { list: [['__proto__']], thing: JSON.parse('{"__proto__":{"a":1},"constructor":null}') as JsonObject },
].map((record, index) => ({ id: `r${index}`, ...record }))

/** Tests of past states of the sheet. */
export function testHistory(open: OpenStore): void {
  suite('history', IN_TURN, () => {
    test('as of the last entry, responses equal plain reads byte for byte, for all types of fields', async (t) => {
      const sheet = await TestSheet.make(t, open, { properties: TYPES, records: RECORDS.slice(0, 5) })
      await sheet.write(RECORDS.slice(5))
      const { last: seq } = await sheet.store.history()
      for (const fields of [sheet.fields, ['thing', 'share', 'id']]) {
        for (const { id } of RECORDS) await compare(sheet, id as string, { fields, seq })
        const plain = await sheet.store.page({ ...FIRST_PAGE, fields, limit: 7 })
        const past = await sheet.store.pageAsOf({ fields, limit: 7, after: null, seq })
        assert.deepEqual([String(past.records), past.next], [String(plain.records), plain.next?.key ?? null])
      }
    })

    test('an earlier response stays the same byte for byte when its data is changed, cleared, deleted and recreated', async (t) => {
      const sheet = await TestSheet.make(t, open, { properties: TYPES, records: RECORDS.slice(0, 5) })
      await sheet.write(RECORDS.slice(5))
      const { last: seq } = await sheet.store.history()
      const query = { fields: sheet.fields, limit: 100, after: null }
      const plain = String((await sheet.store.page({ ...FIRST_PAGE, ...query })).records)
      const check = async (what: string): Promise<void> => {
        assert.equal(String((await sheet.store.pageAsOf({ ...query, seq })).records), plain, what)
      }
      const ids = RECORDS.map(({ id }) => id as string)
      await sheet.write(
        ids.map((id) => ({ ...RECORDS[10], ...RECORDS.at(-1), share: 7, day: '2000-01-01', id })),
      )
      await check('changed')
      await sheet.write(
        ids.map((id) => Object.fromEntries(sheet.fields.map((name) => [name, name === 'id' ? id : null]))),
      )
      await check('cleared')
      await sheet.write(ids.map((id) => ({ id, text: 'x' })))
      await sheet.store.delete(ids, HUMAN)
      await check('deleted')
      await sheet.write(ids.toReversed().map((id) => ({ id, text: 'again' })))
      await check('created again')
      await sheet.reopen()
      await check('opened again')
    })

    test('a recreated id has, at each time, the record of that time, at its position', async (t) => {
      const properties = ['{name: n, logicalType: integer}']
      const sheet = await TestSheet.make(t, open, { properties, records: [{ id: 'a', n: 1 }, { id: 'b' }] })
      await sheet.store.delete(['a'], HUMAN)
      await sheet.write([{ id: 'a', n: 2 }])
      await sheet.store.delete(['b', 'a'], HUMAN)
      await sheet.write([{ id: 'a', n: 3 }, { id: 'c' }])
      await sheet.write([{ id: 'a', n: 4 }])
      const seen: string[] = []
      const { first, last } = await sheet.store.history()
      for (let seq = first; seq <= last; seq += 1) {
        const records = await pageOf(sheet, { seq })
        seen.push(records.map(({ id, n }) => `${id as string}${n === null ? '' : (n as number)}`).join(' '))
        for (const id of ['a', 'b', 'c']) {
          const record = await sheet.store.recordAsOf(id, sheet.fields, seq)
          const listed = records.find((candidate) => candidate['id'] === id) ?? null
          assert.deepEqual(record === null ? null : JSON.parse(String(record)), listed, `${id} as of ${seq}`)
        }
      }
      assert.deepEqual(seen, ['', 'a1 b', 'b', 'b a2', 'a2', '', 'a3', 'a3 c', 'a4 c'])
      for (const id of ['', 'nobody', '\ud800']) {
        assert.equal(await sheet.store.recordAsOf(id, ['id'], last), null)
      }
    })

    test('a page of an earlier state names the fields that have another value now, also of converted fields', async (t) => {
      const properties = ['{name: n, logicalType: integer}', '{name: list, logicalType: array}']
      const records = ['a', 'b', 'c', 'd'].map((id) => ({ id, n: 1, list: [id] }))
      const sheet = await TestSheet.make(t, open, { properties, records })
      const changedSince = async (seq: number, fields = sheet.fields): Promise<unknown> =>
        (await sheet.store.pageAsOf({ fields, limit: 10, after: null, seq, changed: true })).changed
      await sheet.write([{ id: 'a', n: 2 }])
      await sheet.write([{ id: 'a', n: 3, list: [] }])
      await sheet.write([{ id: 'a', n: 2 }])
      await sheet.write([{ id: 'b', n: 5 }])
      await sheet.write([{ id: 'b', n: 1 }])
      await sheet.store.delete(['c'], HUMAN)
      await sheet.write([{ id: 'c', n: 1, list: ['c'] }])
      assert.deepEqual(await changedSince(1), [['n', 'list'], [], null, []])
      assert.deepEqual(await changedSince(2), [['list'], [], null, []])
      assert.deepEqual(await changedSince(2, ['id', 'n']), [[], [], null, []])
      const { last } = await sheet.store.history()
      assert.deepEqual(await changedSince(last), [[], [], [], []])
      const plain = await sheet.store.pageAsOf({ fields: ['id'], limit: 1, after: null, seq: 1 })
      assert.ok(!('changed' in plain), 'without the question there is no answer')
      await sheet.define(
        { properties: ['{name: n, logicalType: string}', '{name: list, logicalType: array}'] },
        { converted: new Map([['n', { onInvalid: 'refuse' }]]) },
      )
      const all = ['n', 'list']
      assert.deepEqual(await changedSince(1), [all, ['n'], null, ['n']])
    })

    test('a page of an earlier state begins at a position, among records that existed then', async (t) => {
      const records = Array.from({ length: 5000 }, (_, n) => ({ id: `r${n}` }))
      const sheet = await TestSheet.make(t, open, { properties: [], records })
      const ids = records.map(({ id }) => id)
      await sheet.store.delete(ids.slice(1000, 3000), HUMAN)
      const { last: seq } = await sheet.store.history()
      await sheet.store.delete(ids.slice(3000, 4000), HUMAN)
      await sheet.write([{ id: 'r1000' }, { id: 'late' }])
      const existed = [...ids.slice(0, 1000), ...ids.slice(3000)]
      assert.equal(await sheet.store.countAsOf(seq), existed.length)
      assert.equal(await sheet.store.countAsOf(1), 5000)
      assert.equal(await sheet.store.countAsOf(0), 0)
      for (const skip of [0, 1, 999, 1000, 1001, 2998, 2999, 3000, 10_000]) {
        const page = await sheet.store.pageAsOf({ fields: ['id'], limit: 2, after: null, skip, seq })
        const found = (JSON.parse(String(page.records)) as JsonObject[]).map(({ id }) => id)
        assert.deepEqual(found, existed.slice(skip, skip + 2), `from ${skip}`)
      }
    })

    test('an entry is found by its seq or the nearest, with its time, actor and source', async (t) => {
      const sheet = await TestSheet.make(t, open, { properties: ['{name: n, logicalType: integer}'] })
      assert.equal(await sheet.store.entryHead(0, 'upTo'), null)
      assert.equal(await sheet.store.entryHead(0, 'after'), null)
      await sheet.write([{ id: 'a', n: 1 }])
      await sheet.store.delete(['a'], HUMAN)
      const { at } = (await sheet.latest('a', 'n')) ?? {}
      const deletion = { seq: 2, at, actor: HUMAN, source: 'delete' }
      assert.deepEqual(await sheet.store.entryHead(2, 'upTo'), deletion)
      assert.deepEqual(await sheet.store.entryHead(9, 'upTo'), deletion)
      assert.deepEqual(await sheet.store.entryHead(1, 'after'), deletion)
      assert.equal((await sheet.store.entryHead(1, 'upTo'))?.source, 'write')
      assert.equal(await sheet.store.entryHead(2, 'after'), null)
    })

    test('a process that knows earlier names of fields reads no history under them', async (t) => {
      const sheet = await TestSheet.make(t, open, {
        properties: ['{name: n, logicalType: integer}'],
        records: [{ id: 'a', n: 0 }],
      })
      const other = await sheet.openAnother()
      t.after(() => other.close())
      const renamed = new Map([['n', 'm']])
      await sheet.define({ properties: ['{name: m, logicalType: integer}'] }, { renamed })
      const page = { from: null, limit: 10 }
      const changed = { code: 'definition_changed' }
      await assert.rejects(other.entries({ recordId: 'a', field: null, ...page }), changed)
      await assert.rejects(other.entries({ recordId: 'a', field: 'n', ...page }), changed)
      await assert.rejects(other.provenance('a', 'n', 1), changed)
    })

    test('the entries of a cell can be read up to an entry', async (t) => {
      const sheet = await TestSheet.make(t, open, {
        properties: ['{name: n, logicalType: integer}'],
        records: [{ id: 'a', n: 0 }],
      })
      await sheet.write([{ id: 'a', n: 1 }])
      await sheet.store.delete(['a'], HUMAN)
      await sheet.write([{ id: 'a', n: 2 }])
      for (const upTo of [0, 1, 2, 3, 4]) {
        const query = { recordId: 'a', field: 'n', from: null, limit: 10, upTo }
        const found = await sheet.store.entries(query)
        assert.deepEqual(
          found?.entries.map(({ value }) => value),
          [0, 1, null, 2].slice(0, upTo),
        )
        assert.equal(found?.next, null)
        const before = await sheet.store.provenanceBefore('a', 'n', upTo + 1)
        assert.deepEqual(before?.entry ?? null, found?.entries.at(-1) ?? null)
      }
      assert.equal(await sheet.store.provenanceBefore('nobody', 'n', 9), null)
    })

    test('computed and reverted cells have their earlier values; failed tries and late results do not appear', async (t) => {
      const properties = ['{name: a, logicalType: string}', '{name: one, logicalType: object}']
      const sheet = await TestSheet.make(t, open, { properties, targets: [target('one', ['a'])] })
      await sheet.write([{ id: 'x', a: 'a' }])
      const late = await sheet.workOf('x', 'one')
      await sheet.compute('x', 'one', { previous: { field: 'a' } })
      await sheet.compute('x', 'one', null)
      await sheet.fail('x', 'one')
      await sheet.commit(sheet.result(late, 'one', { kind: 'unchanged' }))
      await sheet.compute('x', 'one', null, 'again')
      await sheet.compute('x', 'one', {})
      const { seq: computedAt } = (await sheet.latest('x', 'one')) ?? {}
      const entries = [{ seq: computedAt as number, recordId: 'x', field: 'one' }]
      assert.deepEqual(await sheet.store.revert({ actor: HUMAN, entries, run: null }), {
        reverted: 1,
        conflicts: [],
      })
      await sheet.write([{ id: 'x', a: 'b' }])
      const seen: unknown[] = []
      const { last } = await sheet.store.history()
      for (let seq = 1; seq <= last; seq += 1) seen.push((await pageOf(sheet, { seq }))[0]?.['one'])
      assert.deepEqual(seen, [null, { previous: { field: 'a' } }, null, null, {}, null, null])
    })

    test('a time selects the last entry that is not later', async (t) => {
      const sheet = await TestSheet.make(t, open, { properties: [] })
      assert.deepEqual(await sheet.store.history(), { first: 0, firstAt: null, last: 0 })
      assert.equal(await sheet.store.seqAt('2999-01-01T00:00:00.000Z'), 0)
      for (let round = 0; round < 9; round += 1) {
        await sheet.write(
          Array.from({ length: 1 + (round % 3) }, (_, index) => ({ id: `${round} ${index}` })),
        )
      }
      const { last } = await sheet.store.history()
      const entries = await Promise.all(
        (await sheet.all()).map(async ({ id }) => (await sheet.latest(id as string, 'id')) ?? {}),
      )
      assert.equal(entries.length, last)
      const times = entries.map(({ at }) => Date.parse(at as string))
      for (const time of new Set(times.flatMap((at) => [at - 1, at, at + 1]))) {
        const wanted = times.filter((at) => at <= time).length
        assert.equal(await sheet.store.seqAt(new Date(time).toISOString()), wanted)
      }
    })

    test('D33: no entry is earlier than the one before it, even if a clock was set back; deadlines follow the clock', async (t) => {
      const line = {
        actor: 'human:old',
        source: 'write',
        record_id: 'a',
        values: { n: 1 },
        previous: { n: null },
      }
      const future = '2999-01-01T00:00:00.000Z'
      const sheet = await TestSheet.make(t, open, {
        properties: ['{name: n, logicalType: integer}', '{name: one, logicalType: integer}'],
        targets: [target('one', ['n'])],
        log: [{ seq: 1, at: future, ...line }],
        records: [{ id: 'a', n: 1 }],
      })
      await sheet.write([{ id: 'a', n: 2 }])
      await sheet.compute('a', 'one', 1)
      await sheet.store.delete(['a'], HUMAN)
      assert.deepEqual(
        (await sheet.history('a', 'n')).map(({ at }) => at),
        [future, future, future, future],
      )
      assert.equal((await sheet.latest('a', 'one'))?.['at'], future)
      assert.equal(await sheet.store.now(), future)
      const gone = await sheet.store.startRun(newRun({ silentMs: -11 * 60_000 }))
      await sheet.store.interruptRuns(null)
      assert.equal((await sheet.store.run(gone))?.state, 'interrupted')
    })

    test('states before the store are unknown, with or without gaps in its log; later ones are known', async (t) => {
      const common = { actor: 'human:old', source: 'write', record_id: 'a', previous: { id: null, n: null } }
      const sheet = await TestSheet.make(t, open, {
        properties: ['{name: n, logicalType: integer}'],
        log: [
          { seq: 2, at: '2026-01-01T00:00:00.000Z', ...common, values: { id: 'a', n: 1 } },
          { seq: 7, at: '2026-01-03T00:00:00.000Z', ...common, values: { id: 'a', n: 2 } },
        ],
        records: [{ id: 'a', n: 3 }],
      })
      await sheet.write([{ id: 'a', n: 4 }])
      assert.deepEqual(await sheet.store.history(), {
        first: 8,
        firstAt: (await sheet.history('a', 'n')).at(-2)?.['at'],
        last: 9,
      })
      const seen = await Promise.all([8, 9].map((seq) => pageOf(sheet, { seq })))
      assert.deepEqual(seen, [[{ id: 'a', n: 3 }], [{ id: 'a', n: 4 }]])
      const times = ['2025-12-31', '2026-01-02', '2026-01-04'].map((day) => `${day}T00:00:00.000Z`)
      assert.deepEqual(await Promise.all(times.map((time) => sheet.store.seqAt(time))), [0, 2, 7])
    })

    test('a store with an earlier log knows no time before its own first entry', async (t) => {
      const entry = {
        actor: 'human:old',
        source: 'write',
        record_id: 'a',
        values: { n: 1 },
        previous: { n: null },
      }
      const sheet = await TestSheet.make(t, open, {
        properties: ['{name: n, logicalType: integer}'],
        log: [{ seq: 61, at: '2026-01-01T00:00:00.000Z', ...entry }],
      })
      assert.deepEqual(await sheet.store.history(), { first: 62, firstAt: null, last: 61 })
      await sheet.write([{ id: 'a', n: 2 }])
      const { at } = (await sheet.latest('a', 'n')) ?? {}
      assert.deepEqual(await sheet.store.history(), { first: 62, firstAt: at, last: 62 })
    })

    test('D9: earlier states have the present fields: a new one is null, a removed one is left out', async (t) => {
      const sheet = await TestSheet.make(t, open, {
        properties: ['{name: old, logicalType: string}', '{name: n, logicalType: integer}'],
      })
      await sheet.write([{ id: 'a', old: 'o', n: 1 }])
      await sheet.store.delete(['a'], HUMAN)
      await sheet.define({ properties: ['{name: n, logicalType: integer}'] })
      await sheet.write([{ id: 'a', n: 2 }])
      await sheet.define({
        properties: ['{name: extra, logicalType: array}', '{name: n, logicalType: integer}'],
      })
      await sheet.write([{ id: 'a', extra: [1] }])
      const seen = await Promise.all([1, 3, 4].map((seq) => sheet.store.recordAsOf('a', sheet.fields, seq)))
      assert.deepEqual(seen.map(String), [
        '{"id":"a","extra":null,"n":1}',
        '{"id":"a","extra":null,"n":2}',
        '{"id":"a","extra":[1],"n":2}',
      ])
    })

    test('D9: an earlier value of a field whose type has changed keeps its type', async (t) => {
      const values = { text: 'x', whole: 5, share: 1.5, ok: true, list: [1], thing: { a: 'b' } }
      const types = {
        text: 'string',
        whole: 'integer',
        share: 'number',
        ok: 'boolean',
        list: 'array',
        thing: 'object',
      }
      const sheet = await TestSheet.make(t, open, { properties: TYPES })
      await sheet.write([{ id: 'a', ...values }])
      await sheet.store.delete(['a'], HUMAN)
      const others = Object.values(types)
      for (const shift of [1, 2, 3, 4, 5]) {
        const properties = Object.keys(types).map(
          (name, index) => `{name: ${name}, logicalType: ${others[(index + shift) % others.length]}}`,
        )
        await sheet.define({ properties })
        assert.deepEqual(await pageOf(sheet, { seq: 1 }), [{ id: 'a', ...values }], `shifted by ${shift}`)
      }
    })

    test('an earlier state is reconstructed past later lines of many MiB', async (t) => {
      const sheet = await TestSheet.make(t, open, { properties: TYPES })
      const items = Array.from({ length: 400_000 }, (_, n) => n % 10)
      await sheet.write([{ id: 'r', text: 'first', list: items }])
      const { last: seq } = await sheet.store.history()
      const plain: unknown = JSON.parse(String((await sheet.store.record('r', sheet.fields))?.json))
      await sheet.write([{ id: 'r', key: 'k'.repeat(2 << 20) }])
      await sheet.write([{ id: 'r', list: [], text: 'second' }])
      const query = { fields: sheet.fields, limit: 10, after: null, seq }
      assert.deepEqual(JSON.parse(String((await sheet.store.pageAsOf(query)).records)), [plain])
    })

    test('the text of the log has each line once, as a snapshot has it, a mebibyte at a time', async (t) => {
      const long = 'x'.repeat(200 << 10)
      const sheet = await TestSheet.make(t, open, { properties: TYPES, records: RECORDS.slice(0, 5) })
      await sheet.write(RECORDS.slice(5))
      await sheet.write(Array.from({ length: 12 }, (_, index) => ({ id: `long${index}`, text: long })))
      await sheet.write([{ id: 'r0', text: 'short' }])
      const { last } = await sheet.store.history()
      const directory = mkdtempSync(join(tmpdir(), 'colophon-log-text-'))
      onEnd(t, () => rm(directory, { recursive: true, force: true }))
      await sheet.store.snapshot(directory)
      const whole = readFileSync(join(directory, 'provenance.jsonl'), 'utf8')
      const pages: string[] = []
      for (let after = 0; ;) {
        const page = await sheet.store.logText({ after, upTo: last })
        if (page === null) break
        pages.push(Buffer.from(page.text).toString())
        assert.equal(
          (JSON.parse(pages.at(-1)?.trimEnd().split('\n').at(-1) ?? '') as JsonObject)['seq'],
          page.last,
        )
        after = page.last
      }
      assert.equal(pages.join(''), whole)
      assert.ok(pages.length > 1)
      assert.ok(pages.every((page) => page.length < (1 << 20) + 2 * long.length))
      const earlier = await sheet.store.logText({ after: 2, upTo: 4 })
      assert.equal(String(Buffer.from(earlier?.text ?? [])), `${whole.split('\n').slice(2, 4).join('\n')}\n`)
      assert.equal(await sheet.store.logText({ after: last, upTo: last + 1 }), null)
    })

    test('a long response yields to other requests, and is not affected by their writes', async (t) => {
      const properties = ['{name: n, logicalType: integer}']
      const records = Array.from({ length: 10_000 }, (_, n) => ({ id: `r${n}`, n }))
      const sheet = await TestSheet.make(t, open, { properties, records })
      await sheet.write(Array.from({ length: 6000 }, (_, n) => ({ id: 'r1', n: n + 10_000 })))
      await sheet.store.delete(
        records.slice(3000, 6000).map(({ id }) => id),
        HUMAN,
      )
      await sheet.write(records.slice(6000, 8000).map(({ id }) => ({ id, n: 0 })))
      const query = { seq: 1, limit: 10_000 }
      const { answer, turns } = await countTurns(pageOf(sheet, query))
      assert.deepEqual(answer, records)
      assert.ok(turns >= 40, `${turns} turns for a page`)
      const one = await countTurns(sheet.store.recordAsOf('r1', ['n'], 1))
      assert.equal(String(one.answer), '{"n":1}')
      const oneLong = await countTurns(sheet.store.recordAsOf('r1', ['id', 'n'], 1))
      assert.equal(String(oneLong.answer), '{"id":"r1","n":1}')
      assert.ok(oneLong.turns >= 10, `${oneLong.turns} turns for a record with 6000 entries`)

      const { last: seq } = await sheet.store.history()
      const before = await pageOf(sheet, { seq, limit: 10_000 })
      const writes = (async () => {
        for (let start = 0; start < 10_000; start += 1000) {
          await sheet.store.delete(
            records.slice(start, start + 300).map(({ id }) => id),
            HUMAN,
          )
          await sheet.write(records.slice(start, start + 600).map(({ id, n }) => ({ id, n: -n })))
        }
      })()
      for (let reads = 0; reads < 3; reads += 1) {
        assert.deepEqual(await pageOf(sheet, { seq, limit: 10_000 }), before)
      }
      await writes
      assert.deepEqual(await pageOf(sheet, { seq, limit: 10_000 }), before)
    })
  })
}

async function pageOf(sheet: TestSheet, query: Partial<PageAsOfQuery>): Promise<JsonObject[]> {
  const page = await sheet.store.pageAsOf({ fields: sheet.fields, limit: 100, after: null, seq: 0, ...query })
  assert.equal(page.next, null)
  return JSON.parse(String(page.records)) as JsonObject[]
}

/** Compares a record as of an entry with a plain read. */
async function compare(
  sheet: TestSheet,
  id: string,
  { fields, seq }: { fields: readonly string[]; seq: number },
): Promise<void> {
  const plain = await sheet.store.record(id, fields)
  assert.equal(String(await sheet.store.recordAsOf(id, fields, seq)), String(plain?.json))
}
