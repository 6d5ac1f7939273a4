import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { LogicalType } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { foldCase, MAX_FOLDED_LETTERS, type Condition, type Operand, type Operator } from '../condition.ts'
import type { PagePlace, PageQuery, Summary } from '../sheet-store.ts'
import { seededRandom } from './support/random.ts'
import { FIRST_PAGE, IN_TURN, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Fields, some of whose names have a meaning in SQL, or in the functions that conditions use. */
const TYPES = {
  id: 'string',
  order: 'string',
  size: 'integer',
  share: 'number',
  open: 'boolean',
  day: 'date',
  at: 'timestamp',
  hour: 'time',
  value: 'array',
  item: 'object',
} as const satisfies Readonly<Record<string, LogicalType>>

type FieldName = keyof typeof TYPES

const PROPERTIES = Object.entries(TYPES)
  .filter(([name]) => name !== 'id')
  .map(([name, type]) => `{name: ${name}, logicalType: ${type}}`)

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** Tests that conditions as data select the same records on every engine. */
export function testConditions(open: OpenStore): void {
  suite('conditions', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: PROPERTIES })

    /** Returns the ids of the records that meet a condition, joined. */
    const matching = async (where: Condition, more: Partial<PageQuery> = {}): Promise<string> => {
      const query = { ...FIRST_PAGE, fields: ['id'], limit: 1000, where, ...more }
      const { records } = await sheet.store.page(query)
      return (JSON.parse(String(records)) as { id: string }[]).map(({ id }) => id).join('')
    }
    /**
     * Creates records `a`, `b`, `c` … with these values of a field; returns a function for those that meet a condition on
     * it.
     */
    const filled = async (field: FieldName, values: readonly JsonValue[]) => {
      await sheet.empty()
      await sheet.write(values.map((value, index) => ({ id: LETTERS.charAt(index), [field]: value })))
      return (operator: Operator, ...operands: Operand[]) => matching(on(field, operator, ...operands))
    }

    test('texts are compared by their characters, and searched ignoring case', async () => {
      const word = await filled('order', [
        "it's",
        '50%',
        'a_b',
        'A\\B',
        '',
        null,
        'Ärger',
        '"x"',
        "'; --",
        '*?[',
      ])
      assert.equal(await word('equals', "it's"), 'a')
      assert.equal(await word('equals', "IT'S"), '')
      assert.equal(await word('equals', ''), 'e')
      assert.equal(await word('notEquals', "it's"), 'bcdefghij')
      assert.equal(await word('contains', "T'"), 'a')
      assert.equal(await word('contains', ''), 'abcdeghij')
      assert.equal(await word('contains', 'äRG'), 'g')
      assert.equal(await word('contains', 'ÄRGER'), 'g')
      assert.equal(await word('notContains', 'a'), 'abefghij')
      assert.equal(await word('startsWith', 'a'), 'cd')
      assert.equal(await word('startsWith', 'Ä'), 'g')
      assert.equal(await word('startsWith', 'rg'), '')
      assert.equal(await word('anyOf', "it's", '"x"'), 'ah')
      assert.equal(await word('anyOf', '', null), 'ef')
      assert.equal(await word('anyOf', null), 'f')
      assert.equal(await word('noneOf', "it's", '50%'), 'cdefghij')
      assert.equal(await word('noneOf', "it's", null), 'bcdeghij')
      assert.equal(await word('noneOf', null), 'abcdeghij')
      assert.equal(await word('empty'), 'f')
      assert.equal(await word('notEmpty'), 'abcdeghij')
    })

    test('wildcards, quotes and SQL in a text are ordinary characters', async () => {
      const odd = [
        '%',
        '_',
        '\\',
        '*',
        '?',
        '[a]',
        "'",
        '"',
        "') OR 1=1 --",
        '$1',
        ':x',
        '{{x}}',
        '\n',
        '\u{1f600}',
      ]
      const word = await filled('order', odd)
      for (const [index, text] of odd.entries()) {
        const own = LETTERS.charAt(index)
        assert.equal(await word('equals', text), own, text)
        assert.equal(await word('startsWith', text), text === "'" ? 'gi' : own, text)
        assert.equal(await word('contains', text), { "'": 'gi' }[text] ?? own, text)
        assert.equal(await word('anyOf', text), own, text)
      }
    })

    test('letters without a single lower-case form are searched unchanged', async () => {
      const word = await filled('order', [
        'İstanbul',
        'straße',
        'STRASSE',
        'Σίσυφος',
        '\u{1f600}x',
        'ǅ',
        'ДОМ дом',
      ])
      assert.equal(await word('contains', 'İ'), 'a')
      assert.equal(await word('contains', 'ß'), 'b')
      assert.equal(await word('contains', 'σίσ'), 'd')
      assert.equal(await word('contains', '\u{1f600}X'), 'e')
      assert.equal(await word('startsWith', 'STRAß'), 'b')
      assert.equal(await word('contains', 'Дом Д'), 'g')
      const letters = Array.from({ length: 1000 }, (_, index) => String.fromCodePoint(0x430 + index))
      const folded = letters.filter((letter) => foldCase(letter).replaced.length === 1)
      assert.equal(await word('contains', folded.slice(0, MAX_FOLDED_LETTERS).join('')), '')
    })

    test('texts and times are ordered by their characters', async () => {
      const word = await filled('order', ['B', 'a', 'b', 'é', 'Z', null])
      assert.equal(await word('lessThan', 'a'), 'ae')
      assert.equal(await word('atLeast', 'b'), 'cd')
      assert.equal(await word('between', 'B', 'a'), 'abe')
      const hour = await filled('hour', ['09:30:00', '12:00:00', '12:00:00.5', null])
      assert.equal(await hour('greaterThan', '09:30:00'), 'bc')
      assert.equal(await hour('equals', '12:00:00'), 'b')
      assert.equal(await hour('anyOf', '12:00:00', null), 'bd')
    })

    test('numbers of any size are compared exactly', async () => {
      const share = await filled('share', [-1.5, 0, 3, 1e21, -1e300, null, 5e-324, 0.1])
      assert.equal(await share('equals', 3), 'c')
      assert.equal(await share('equals', 1e21), 'd')
      assert.equal(await share('equals', 5e-324), 'g')
      assert.equal(await share('equals', 0.1), 'h')
      assert.equal(await share('equals', 0.1 + Number.EPSILON), '')
      assert.equal(await share('notEquals', 3), 'abdefgh')
      assert.equal(await share('lessThan', 0), 'ae')
      assert.equal(await share('atMost', -0), 'abe')
      assert.equal(await share('greaterThan', 0), 'cdgh')
      assert.equal(await share('atLeast', 3), 'cd')
      assert.equal(await share('between', -2, 3), 'abcgh')
      assert.equal(await share('between', 3, -2), '')
      assert.equal(await share('anyOf', 0, 3), 'bc')
      const size = await filled('size', [2, 3, 9007199254740991, -9007199254740991, null])
      assert.equal(await size('equals', 9007199254740991), 'c')
      assert.equal(await size('greaterThan', 2.5), 'bc')
      assert.equal(await size('lessThan', 1e300), 'abcd')
      assert.equal(await size('noneOf', 2, 2.5), 'bcde')
      assert.equal(await size('between', -1e20, 2), 'ad')
    })

    test('booleans', async () => {
      const isOpen = await filled('open', [true, false, null])
      assert.equal(await isOpen('equals', true), 'a')
      assert.equal(await isOpen('equals', false), 'b')
      assert.equal(await isOpen('notEquals', true), 'bc')
      assert.equal(await isOpen('anyOf', true, null), 'ac')
      assert.equal(await isOpen('noneOf', false), 'ac')
    })

    test('dates of every year are compared', async () => {
      const day = await filled('day', ['2024-02-29', '2024-03-01', '0000-01-01', '9999-12-31', null])
      assert.equal(await day('equals', '2024-02-29'), 'a')
      assert.equal(await day('lessThan', '2024-03-01'), 'ac')
      assert.equal(await day('equals', '0000-01-01'), 'c')
      assert.equal(await day('between', '2024-02-29', '2024-03-01'), 'ab')
      assert.equal(await day('anyOf', '9999-12-31', null), 'de')
      assert.equal(await day('notEquals', '2024-02-29'), 'bcde')
    })

    test('timestamps are compared as moments, to the millisecond', async () => {
      const at = await filled('at', [
        '2026-01-01T00:30:00+01:00',
        '2026-01-01T00:00:00Z',
        '2026-01-01T00:00:00.001Z',
        '2026-01-01T02:00:00+01:00',
        null,
        '2025-12-31T16:00:00-08:00',
      ])
      const [midnight, later] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.001Z']
      assert.equal(await at('lessThan', midnight), 'a')
      assert.equal(await at('atLeast', midnight), 'bcdf')
      assert.equal(await at('equals', midnight), 'bf')
      assert.equal(await at('equals', '2026-01-01T05:30:00+05:30'), 'bf')
      assert.equal(await at('notEquals', midnight), 'acde')
      assert.equal(await at('between', midnight, later), 'bcf')
      assert.equal(await at('anyOf', '2026-01-01T01:00:00.001+01:00', null), 'ce')
    })

    test('items of arrays are compared with their own types', async () => {
      const lists = [['a', "it's"], [1, 'true'], [true, 2.5], ['1', null], [], [['a'], { a: 'a' }], null]
      const has = await filled('value', lists)
      assert.equal(await has('hasAny', 'a'), 'a')
      assert.equal(await has('hasAny', "it's", 1), 'ab')
      assert.equal(await has('hasAny', '1'), 'd')
      assert.equal(await has('hasAny', true), 'c')
      assert.equal(await has('hasAny', 'true'), 'b')
      assert.equal(await has('hasAny', 2.5, null), 'cd')
      assert.equal(await has('hasAll', 'a', "it's"), 'a')
      assert.equal(await has('hasAll', 'a', 1), '')
      assert.equal(await has('hasNone', 'a'), 'bcdefg')
      assert.equal(await has('hasNone', 'a', 1), 'cdefg')
      assert.equal(await has('contains', 'IT'), 'a')
      assert.equal(await has('contains', 'a'), 'af')
      assert.equal(await has('empty'), 'g')
    })

    test('objects are searched in their keys, texts and numbers, at any depth', async () => {
      const has = await filled('item', [
        { name: 'Käse', tags: [{ Deep: 'yes' }] },
        { n: 42, x: true },
        { 'a"b.c': null },
        {},
        null,
      ])
      assert.equal(await has('contains', 'KÄSE'), 'a')
      assert.equal(await has('contains', 'deep'), 'a')
      assert.equal(await has('contains', '42'), 'b')
      assert.equal(await has('contains', '"b.'), 'c')
      assert.equal(await has('contains', '{'), '')
      assert.equal(await has('notContains', 'e'), 'bcde')
    })

    test('and, or and not combine conditions; a field without a value meets the negation of each condition', async () => {
      await filled('order', ['x', 'y', null])
      const isX = on('order', 'equals', 'x')
      const isY = on('order', 'equals', 'y')
      assert.equal(await matching({ kind: 'or', conditions: [isX, isY] }), 'ab')
      assert.equal(await matching({ kind: 'and', conditions: [isX, isY] }), '')
      assert.equal(await matching({ kind: 'not', condition: isX }), 'bc')
      assert.equal(
        await matching({ kind: 'not', condition: { kind: 'and', conditions: [isX, on('order', 'empty')] } }),
        'abc',
      )
      assert.equal(
        await matching({ kind: 'not', condition: { kind: 'not', condition: on('order', 'lessThan', 'y') } }),
        'a',
      )
      const negated = [on('order', 'noneOf', 'x'), on('order', 'notContains', 'z')] as const
      assert.equal(await matching({ kind: 'and', conditions: [...negated, isY] }), 'b')
      assert.equal(
        await matching({
          kind: 'and',
          conditions: [{ kind: 'or', conditions: [isX, on('order', 'empty')] }, on('order', 'notEmpty')],
        }),
        'a',
      )
    })

    test('a condition and a filter apply together, also in a sorted list, at a position and in a summary', async () => {
      await sheet.empty()
      await sheet.write(
        Array.from({ length: 26 }, (_, index) => ({
          id: LETTERS.charAt(index),
          size: index,
          order: `w${index % 3}`,
        })),
      )
      const where = on('order', 'equals', 'w0')
      assert.equal(await matching(where), 'adgjmpsvy')
      assert.equal(await matching(where, { filter: 'size > 4 OR size < 1' }), 'agjmpsvy')
      assert.equal(await matching(where, { sort: [{ field: 'size', descending: true }], limit: 3 }), 'yvs')
      assert.equal(await matching(where, { sort: [{ field: 'id', descending: false }], skip: 7 }), 'vy')
      const found: string[] = []
      for (let after: PagePlace | null = null; ;) {
        const query = { ...FIRST_PAGE, fields: ['id'], limit: 2, where, filter: 'size > 4', after }
        const page = await sheet.store.page(query)
        found.push(...(JSON.parse(String(page.records)) as { id: string }[]).map(({ id }) => id))
        after = page.next
        if (after === null) break
      }
      assert.equal(found.join(''), 'gjmpsvy')
      const summary = JSON.parse(
        String(await sheet.store.summary({ fields: ['order', 'size'], filter: 'size > 4', where })),
      ) as Summary
      assert.equal(summary.count, 7)
      assert.deepEqual(summary.fields['order']?.top, [{ value: 'w0', count: 7 }])
      assert.equal(summary.fields['size']?.histogram?.from, 6)
    })

    test('a summary lists the values that contain a text, those that begin with it first', async () => {
      await sheet.empty()
      await sheet.write([
        { id: 'a', order: 'Asia', value: ['x', 'Äx"y', 7] },
        { id: 'b', order: 'Eurasia', value: ['x', ['x']] },
        { id: 'c', order: 'Eurasia', value: null },
        { id: 'd', order: null, value: ['%'] },
        { id: 'e', order: 'Oceania' },
      ])
      const search = async (
        field: FieldName,
        text: string,
        where: Condition | null = null,
      ): Promise<JsonValue> => {
        const query = { fields: [field], filter: null, where, search: text }
        const { fields } = JSON.parse(String(await sheet.store.summary(query))) as Summary
        return (fields[field]?.top ?? []).map(({ value, count }) => [value, count])
      }
      assert.deepEqual(await search('order', 'AS'), [['Asia', 1], ['Eurasia', 2]]) // prettier-ignore
      assert.deepEqual(await search('order', 'as', on('id', 'notEquals', 'a')), [['Eurasia', 2]])
      assert.deepEqual(await search('value', 'äX"'), [['Äx"y', 1]])
      assert.deepEqual(await search('value', '%'), [['%', 1]])
      assert.deepEqual(await search('value', 'X', on('id', 'equals', 'a')), [['x', 1], ['Äx"y', 1]]) // prettier-ignore
      assert.deepEqual(await search('order', "'"), [])
    })

    test('the position of a record is the number of records before it in the list', async () => {
      const random = seededRandom(7)
      const records = Array.from({ length: 40 }, (_, index) => {
        const long = `${'x'.repeat(600)}${random.below(2)}`
        return {
          id: `r${index}`,
          order: random.chance(0.2) ? null : random.chance(0.2) ? long : `w${random.below(4)}`,
          size: random.chance(0.2) ? null : random.below(5),
          at: random.chance(0.3) ? null : `2026-01-01T0${random.below(3)}:00:00+0${random.below(3)}:00`,
        }
      })
      await sheet.empty()
      await sheet.write(records)
      const lists: Pick<PageQuery, 'sort' | 'filter' | 'where'>[] = [
        { sort: [], filter: null },
        { sort: [], filter: 'size > 1' },
        { sort: [{ field: 'order', descending: true }], filter: null },
        { sort: [{ field: 'at', descending: false }, { field: 'size', descending: true }], filter: null }, // prettier-ignore
        { sort: [{ field: 'order', descending: false }], filter: 'size < 4', where: on('order', 'notEmpty') },
      ]
      for (const list of lists) {
        const page = await sheet.store.page({ ...FIRST_PAGE, ...list, fields: ['id'], limit: 100 })
        const ids = (JSON.parse(String(page.records)) as { id: string }[]).map(({ id }) => id)
        const position = (id: string): Promise<number | null> => sheet.store.position({ ...list, id })
        for (const { id } of records) {
          const place = ids.indexOf(id)
          assert.equal(await position(id), place < 0 ? null : place, `${id} ${JSON.stringify(list)}`)
        }
      }
      const all = { sort: [], filter: null }
      for (const id of ['absent', "' OR 1=1 --", 'a\0b', '\ud800'])
        assert.equal(await sheet.store.position({ ...all, id }), null)
    })

    test('a text is searched in all fields, as their values are shown', async () => {
      await sheet.empty()
      await sheet.write([
        { id: 'a', order: 'Ärger 12', size: 83_600, share: 0.5, open: true, day: '2024-02-29', hour: '12:30:00', value: ['x"y', 1], item: { key: 'Ö', n: [2.5] } },
        { id: 'b', order: '50% a_b', size: 12, share: 100, at: '2026-01-01T00:30:00.000Z', hour: '12:30:00.98765', value: ['x', 'y', null] },
        { id: 'c', share: 3 },
      ]) // prettier-ignore
      const every = Object.entries(TYPES).map(([name, type]) => ({ name, type }))
      const found = (text: string, names?: readonly FieldName[]): Promise<string> =>
        matching({
          kind: 'search',
          text,
          fields: every.filter(({ name }) => names?.includes(name as FieldName) ?? true),
        })
      const cases: readonly (readonly [text: string, ids: string])[] = [
        ['ärger', 'a'],
        ['ÖR', ''],
        ['ö', 'a'],
        ['KEY', 'a'],
        ['12', 'ab'],
        ['3,6', 'a'],
        ['83600', 'a'],
        ['100.0', ''],
        ['100', 'b'],
        ['0.5', 'a'],
        ['2.5', 'a'],
        ['2024-02', 'a'],
        ['2026-01-01 00:30', 'b'],
        ['2:30:0', 'ab'],
        ['.98', 'b'],
        ['98765', ''],
        ['0012', ''],
        ['600', 'a'],
        ['00', 'ab'],
        ['a_b', 'b'],
        ['0%', 'b'],
        ['x"y', 'a'],
        ['"', 'a'],
        [',', ''],
        ['["x', ''],
        ['true', ''],
        ['absent', ''],
      ]
      for (const [text, ids] of cases) assert.equal(await found(text), ids, text)
      assert.equal(await found('12', ['size']), 'b')
      assert.equal(await found('12', ['open']), '')
      assert.equal(await found('0', ['share']), 'ab')
      const all = { kind: 'search', text: '12', fields: every } as const
      assert.equal(await matching({ kind: 'not', condition: all }), 'c')
      assert.equal(await matching(all, { filter: 'size = 12' }), 'b')
    })

    test('a text is searched in more fields than a function takes arguments', async () => {
      await sheet.empty()
      await sheet.write([{ id: 'a', order: 'found' }])
      const fields = Array.from({ length: 1000 }, () => ({ name: 'id', type: 'string' }) as const)
      const text = { kind: 'search', text: 'found', fields: [...fields, { name: 'order', type: 'string' }] }
      assert.equal(await matching(text as Condition), 'a')
    })

    test('the position among some records is the number of those before it', async () => {
      await sheet.empty()
      await sheet.write(
        [3, null, 1, 4, 1, 5, 9, 2, 6].map((size, index) => ({ id: LETTERS.charAt(index), size })),
      )
      const among = on('size', 'greaterThan', 2)
      const position = (id: string, more: Partial<PageQuery> = {}): Promise<number | null> =>
        sheet.store.position({ filter: null, sort: [], id, among, ...more })
      assert.equal(await position('a'), 0)
      assert.equal(await position('b'), 1)
      assert.equal(await position('d'), 1)
      assert.equal(await position('i'), 4)
      const descending = { sort: [{ field: 'size', descending: true }] }
      assert.equal(await position('b', descending), 5)
      assert.equal(await position('a', descending), 4)
      assert.equal(await position('a', { ...descending, where: on('size', 'lessThan', 6) }), 2)
      assert.equal(await position('g', { where: on('size', 'lessThan', 6) }), null)
    })

    suite('as text', () => {
      before(async () => {
        await sheet.empty()
        await sheet.write([
          { id: 'a', order: "it's", size: 3, share: -0.5, open: true, day: '2024-02-29', at: '2026-01-01T00:30:00+01:00', hour: '12:00:00', value: ['x', 1], item: { k: 'Ä' } },
          { id: 'b', order: 'Ärger', size: 4, share: 1e21, open: false, day: '2024-03-01', at: '2026-01-01T00:00:00Z', value: [true, null] },
          { id: 'c' },
        ]) // prettier-ignore
      })

      const cases: readonly Condition[] = [
        on('order', 'equals', "it's"),
        on('order', 'contains', 'ÄR'),
        { kind: 'search', text: '4', fields: Object.entries(TYPES).map(([name, type]) => ({ name, type })) },
        on('size', 'between', -3, 3),
        on('share', 'lessThan', 1e22),
        on('open', 'anyOf', true, null),
        on('day', 'atLeast', '2024-03-01'),
        on('at', 'lessThan', '2026-01-01T00:00:00Z'),
        on('hour', 'notEquals', '12:00:00'),
        on('value', 'hasAny', 'x', true),
        on('value', 'hasNone', 1, null),
        on('item', 'contains', 'ä'),
        { kind: 'not', condition: on('open', 'equals', true) },
        { kind: 'or', conditions: [on('size', 'equals', 3), on('order', 'empty')] },
      ]
      for (const where of cases) {
        test(`a condition can be used as a filter: ${JSON.stringify(where)}`, async () => {
          const filter = sheet.store.conditionText(where)
          assert.equal(await matching(ALL, { filter }), await matching(where), filter)
        })
      }
    })
  })
}

const ALL = on('id', 'notEmpty')

function on(name: FieldName, operator: Operator, ...operands: Operand[]): Condition {
  return { kind: 'field', field: { name, type: TYPES[name] }, operator, operands }
}
