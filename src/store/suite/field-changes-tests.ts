import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import { ContractError } from '../../errors/service-error.ts'
import type { CellResult } from '../cell-work.ts'
import type { FieldChanges } from '../field-changes.ts'
import { OutdatedDefinitionError } from '../revision-store.ts'
import {
  computed,
  HUMAN,
  IN_TURN,
  newRun,
  sha256,
  target,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const NAME = '{name: name, logicalType: string, required: true}'
const N = '{name: n, logicalType: integer}'
const CODE = '{name: code, logicalType: string, unique: true}'
const AT = '{name: at, logicalType: timestamp, x-indexed: true}'
const LABEL = '{name: label, logicalType: string}'
const PROPERTIES = [NAME, N, CODE, AT, LABEL]
const SETUP = { properties: PROPERTIES, targets: [target('label', ['name'])] }
const RECORDS = [
  { id: 'a', name: 'A', n: 1, code: '10', at: '2024-01-01T00:00:00+02:00', label: null },
  { id: 'b', name: 'B', n: 2, code: ' 7', at: null, label: null },
  { id: 'c', name: 'C', n: null, code: null, at: '2024-01-02T00:00:00.5Z', label: null },
]

function renamed(...names: readonly (readonly [string, string])[]): Partial<FieldChanges> {
  return { renamed: new Map(names) }
}

function removed(field: string, count: number | null): Partial<FieldChanges> {
  return { removed: new Map([[field, count]]) }
}

function converted(field: string, onInvalid: 'refuse' | 'null' = 'refuse'): Partial<FieldChanges> {
  return { converted: new Map([[field, { onInvalid }]]) }
}

/** Tests of fields that are renamed, removed, converted and restored with their values. */
export function testFieldChanges(open: OpenStore): void {
  suite('changes of fields', IN_TURN, () => {
    const sheet = TestSheet.shared(open, SETUP)
    beforeEach(async () => {
      await sheet.empty()
      await sheet.define(SETUP)
      await sheet.write(RECORDS.map(({ label: _label, ...record }) => record))
    })

    const without = (field: string, ...properties: readonly string[]): string[] => [
      ...PROPERTIES.filter((property) => !property.startsWith(`{name: ${field},`)),
      ...properties,
    ]

    test('a renamed field keeps every value, index and derived cell', async () => {
      await sheet.compute('a', 'label', 'LA')
      const properties = [
        '{name: called, logicalType: string, required: true}',
        N,
        '{name: key, logicalType: string, unique: true}',
        '{name: since, logicalType: timestamp, x-indexed: true}',
        '{name: tag, logicalType: string}',
      ]
      const names = renamed(['name', 'called'], ['code', 'key'], ['at', 'since'], ['label', 'tag'])
      const request = [
        { properties, targets: [{ ...target('label', ['called']), field: 'tag' }] },
        names,
      ] as const
      const tried = await sheet.tryDefine(...request)
      const effect = await sheet.define(...request)
      assert.deepEqual(tried, effect)
      assert.deepEqual(
        effect.fields.map(({ change, before, field, kept }) => [change, before, field, kept]),
        [
          ['renamed', 'name', 'called', 3],
          ['renamed', 'code', 'key', 2],
          ['renamed', 'at', 'since', 2],
          ['renamed', 'label', 'tag', 1],
        ],
      )
      const expected = RECORDS.map(({ id, name, n, code, at }) => ({
        id,
        called: name,
        n,
        key: code,
        since: at,
        tag: id === 'a' ? 'LA' : null,
      }))
      assert.deepEqual(await sheet.all(), expected)
      assert.deepEqual(
        (({ fresh, missing, stale }) => ({ fresh, missing, stale }))(await sheet.counts('tag')),
        { fresh: 1, missing: 2, stale: 0 },
      )
      await assert.rejects(sheet.write([{ id: 'b', key: '10' }]), /unique/)
      await sheet.write([{ id: 'a', called: 'AA' }])
      assert.equal((await sheet.counts('tag')).stale, 1)
      const page = await sheet.store.page({
        fields: ['id'],
        limit: 1,
        after: null,
        filter: null,
        sort: [{ field: 'since', descending: true }],
        skip: 0,
      })
      assert.equal(String(page.records), '[{"id":"c"}]')
      await sheet.reopen()
      assert.deepEqual((await sheet.all())[1], expected[1])
      const back = renamed(['called', 'name'], ['key', 'code'], ['since', 'at'], ['tag', 'label'])
      await sheet.define(SETUP, back)
    })

    test('two fields swap their names, and three rotate theirs', async () => {
      const text = '{name: other, logicalType: string}'
      await sheet.define({ properties: [...PROPERTIES, text] })
      await sheet.write([{ id: 'a', other: 'O' }])
      const swapped = [
        ...without('name', '{name: name, logicalType: string}'),
        '{name: other, logicalType: string}',
      ]
      await sheet.define({ properties: swapped }, renamed(['name', 'other'], ['other', 'name']))
      const shown = async (): Promise<unknown[]> =>
        (await sheet.all()).map(({ name, other, code }) => [name, other, code])
      assert.deepEqual(await shown(), [
        ['O', 'A', '10'],
        [null, 'B', ' 7'],
        [null, 'C', null],
      ])
      const rotated = [
        ...without('code', '{name: code, logicalType: string}', text).filter((property) => property !== NAME),
        '{name: name, logicalType: string}',
      ]
      await sheet.define(
        { properties: rotated },
        renamed(['name', 'code'], ['code', 'other'], ['other', 'name']),
      )
      assert.deepEqual(await shown(), [
        ['A', '10', 'O'],
        ['B', ' 7', null],
        ['C', null, null],
      ])
      const settled = [NAME, N, '{name: code, logicalType: string}', AT, LABEL, text]
      await sheet.define({ properties: settled }, renamed(['code', 'other'], ['other', 'code']))
      await sheet.define({ properties: PROPERTIES }, removed('other', 1))
      assert.deepEqual(await sheet.all(), RECORDS)
    })

    test('a removed field needs the number of its values, and comes back with them', async () => {
      const properties = without('at')
      const tried = await sheet.tryDefine({ properties }, removed('at', null))
      assert.match(tried.conflicts.join(), /2 records: confirm that number/)
      assert.deepEqual(
        tried.fields.map(({ change, field, lost }) => [change, field, lost]),
        [['removed', 'at', 2]],
      )
      assert.match(
        (await sheet.tryDefine({ properties }, removed('at', 3))).conflicts.join(),
        /3 were confirmed/,
      )
      for (const count of [null, 3]) {
        await assert.rejects(
          sheet.define({ properties }, removed('at', count)),
          /"at" loses .* 2 records.*confirm/,
        )
      }
      await assert.rejects(sheet.define({ properties }, {}), /"at" is gone/)
      const { seq } = await sheet.define({ properties }, removed('at', 2))
      assert.deepEqual(await sheet.get('a'), { id: 'a', name: 'A', n: 1, code: '10', label: null })
      await sheet.write([{ id: 'd', name: 'D' }])
      await sheet.store.delete(['b'], HUMAN)
      await sheet.reopen()
      const effect = await sheet.define(SETUP, { restored: new Map([['at', seq ?? 0]]) })
      assert.deepEqual(
        effect.fields.map(({ change, field, kept }) => [change, field, kept]),
        [['restored', 'at', 2]],
      )
      assert.deepEqual(
        (await sheet.all()).map(({ id, at }) => [id, at]),
        [
          ['a', RECORDS[0]?.at],
          ['c', RECORDS[2]?.at],
          ['d', null],
        ],
      )
    })

    test('a removed field without values needs no number', async () => {
      await sheet.define({ properties: [...PROPERTIES, '{name: empty, logicalType: string}'] }, {})
      assert.deepEqual((await sheet.tryDefine(SETUP, removed('empty', null))).conflicts, [])
      await sheet.define(SETUP, removed('empty', null))
    })

    test('a field takes the name of a removed one', async () => {
      const { seq } = await sheet.define({ properties: without('code') }, removed('code', 2))
      await sheet.define(
        { properties: [NAME, '{name: code, logicalType: integer}', AT, LABEL] },
        renamed(['n', 'code']),
      )
      assert.deepEqual(
        (await sheet.all()).map(({ code }) => code),
        [1, 2, null],
      )
      await sheet.define(SETUP, { ...renamed(['code', 'n']), restored: new Map([['code', seq ?? 0]]) })
      assert.deepEqual(await sheet.all(), RECORDS)
    })

    test('a converted field has every value in the new type, or lists those that do not fit', async () => {
      const properties = without('code', '{name: code, logicalType: integer, unique: true}')
      const effect = await sheet.define({ properties }, converted('code'))
      assert.deepEqual(
        effect.fields.map(({ change, kept, converted: changed, lost }) => [change, kept, changed, lost]),
        [['converted', 0, 2, 0]],
      )
      assert.deepEqual(
        (await sheet.all()).map(({ code }) => code),
        [10, 7, null],
      )
      await assert.rejects(sheet.write([{ id: 'c', code: 7 }]), /unique/)
      await sheet.write([{ id: 'c', code: 8 }])
      await sheet.reopen()
      await sheet.define(SETUP, { ...converted('code'), restored: new Map([['code', effect.seq ?? 0]]) })
      assert.deepEqual(
        (await sheet.all()).map(({ code }) => code),
        ['10', ' 7', '8'],
      )
      await sheet.define({ properties: without('at', '{name: at, logicalType: string}') }, converted('at'))
      assert.deepEqual(
        (await sheet.all()).map(({ at }) => at),
        RECORDS.map(({ at }) => at),
      )
      await sheet.define(SETUP, converted('at'))
      assert.deepEqual(
        (await sheet.all()).map(({ at }) => at),
        RECORDS.map(({ at }) => at),
      )
    })

    test('values that do not fit refuse a conversion, or are lost as listed', async () => {
      await sheet.write([{ id: 'a', code: 'x' }])
      const properties = without('code', '{name: code, logicalType: number}')
      const before = await sheet.all()
      for (const onInvalid of ['refuse', 'null'] as const) {
        const { fields, conflicts } = await sheet.tryDefine({ properties }, converted('code', onInvalid))
        assert.equal(conflicts.length, onInvalid === 'refuse' ? 1 : 0)
        assert.deepEqual(
          fields.map(({ converted: changed, lost, misfits }) => [changed, lost, misfits]),
          [[1, 1, [{ recordId: 'a', value: 'x', error: '"x" is not of type number' }]]],
        )
      }
      await assert.rejects(sheet.define({ properties }, converted('code')), (error) => {
        assert.ok(error instanceof ContractError)
        assert.match(
          error.message,
          /"code" is converted from string to number, and 1 record .*"a": "x" is not of type number/,
        )
        return true
      })
      assert.deepEqual(await sheet.all(), before)
      const { seq } = await sheet.define({ properties }, converted('code', 'null'))
      assert.deepEqual(
        (await sheet.all()).map(({ code }) => code),
        [null, 7, null],
      )
      await sheet.define(SETUP, { ...converted('code'), restored: new Map([['code', seq ?? 0]]) })
      assert.deepEqual(await sheet.all(), before)
    })

    test('values that would be equal refuse the conversion of a unique field, and missing ones a required one', async () => {
      await sheet.write([{ id: 'c', code: '7.0' }])
      const number = without('code', '{name: code, logicalType: number, unique: true}')
      await assert.rejects(sheet.define({ properties: number }, converted('code')), /1 record would share/)
      const required = without('n', '{name: n, logicalType: string, required: true}')
      await assert.rejects(
        sheet.define({ properties: required }, converted('n', 'null')),
        /"n".*1 record .*required/,
      )
    })

    test('a conversion makes the cells computed from the field stale, and lost cells of its own missing', async () => {
      const input = { properties: PROPERTIES, targets: [target('label', ['n'], { required: ['n'] })] }
      await sheet.define(input)
      for (const id of ['a', 'b']) await sheet.compute(id, 'label', id === 'a' ? '5' : 'five')
      const text = { ...input, properties: without('n', '{name: n, logicalType: string}') }
      await sheet.define(text, converted('n'))
      const states = async (): Promise<Record<string, number>> => {
        const { fresh, stale, missing, blocked } = await sheet.counts('label')
        return { fresh, stale, missing, blocked }
      }
      assert.deepEqual(await states(), { fresh: 0, stale: 2, missing: 1, blocked: 1 })
      for (const id of ['a', 'b']) await sheet.compute(id, 'label', id === 'a' ? '5' : 'five')
      const properties = [
        NAME,
        '{name: n, logicalType: string}',
        CODE,
        AT,
        '{name: label, logicalType: integer}',
      ]
      const { seq } = await sheet.define({ ...text, properties }, converted('label', 'null'))
      assert.deepEqual(await states(), { fresh: 1, stale: 0, missing: 2, blocked: 1 })
      await sheet.define(text, { ...converted('label'), restored: new Map([['label', seq ?? 0]]) })
      assert.deepEqual(await states(), { fresh: 1, stale: 1, missing: 1, blocked: 1 })
      await sheet.define(SETUP, converted('n'))
    })

    test('results of a run are not stored under another name or type', async () => {
      const two = { ...SETUP, properties: [...PROPERTIES, '{name: mark, logicalType: string}'] }
      const targets = [target('label', ['name']), target('mark', ['name'])]
      await sheet.define({ ...two, targets })
      const results = async (): Promise<CellResult[]> => [
        sheet.result(await sheet.workOf('a', 'label'), 'label', computed('L', 'label')),
        sheet.result(await sheet.workOf('a', 'mark'), 'mark', computed('M', 'mark')),
      ]
      const first = await results()
      const edited = targets.map((one) => ({ ...one, sha256: sha256(`${one.field} swapped`) }))
      const superseded = [{ outcome: 'superseded' }, { outcome: 'superseded' }]
      // The contract has to differ as a text.
      const swapped = [...PROPERTIES, '{name: mark, logicalType: string, description: swapped}']
      await sheet.define(
        { properties: swapped, targets: edited },
        renamed(['label', 'mark'], ['mark', 'label']),
      )
      assert.deepEqual(await sheet.commit(...first), superseded)
      const second = await results()
      // A run of the earlier derivations reads the cells anew, under names that are those of others by now.
      const stale = second.map((result) => ({ ...result, sha256: sha256(`${result.target}.yaml`) }))
      assert.deepEqual(await sheet.commit(...stale), superseded)
      const numbers = [
        NAME,
        N,
        CODE,
        AT,
        '{name: label, logicalType: array}',
        '{name: mark, logicalType: array}',
      ]
      await sheet.define(
        { properties: numbers },
        { converted: new Map(['label', 'mark'].map((field) => [field, { onInvalid: 'refuse' }])) },
      )
      assert.deepEqual(await sheet.commit(...second), superseded)
      const third = await results()
      await sheet.define(
        {
          properties: [
            NAME,
            N,
            CODE,
            AT,
            '{name: tag, logicalType: array}',
            '{name: mark, logicalType: array}',
          ],
          targets: [],
        },
        { ...renamed(['label', 'tag']) },
      )
      await sheet.define(
        {
          properties: [
            NAME,
            N,
            CODE,
            AT,
            '{name: tag, logicalType: array}',
            '{name: label, logicalType: array}',
          ],
          targets: [target('label', ['name'])],
        },
        removed('mark', 0),
      )
      assert.deepEqual(await sheet.commit(...third.slice(0, 1)), superseded.slice(1))
      assert.ok((await sheet.all()).every(({ label, tag }) => label === null && tag === null))
      await sheet.define(SETUP, {
        removed: new Map([
          ['tag', 0],
          ['label', 0],
        ]),
      })
    })

    test('a proposal and a run of before a swap of names are accepted and reverted under the present ones', async () => {
      const { proposals } = sheet.store
      const propose = (record: JsonObject): Promise<string> =>
        proposals.propose({ change: { records: [record] }, actor: 'agent:a', note: null })
      const editable = 'customProperties: [{property: editableBy, value: ["human:*"]}]'
      const two = [
        NAME,
        N,
        CODE,
        AT,
        `{name: label, logicalType: string, ${editable}}`,
        '{name: mark, logicalType: string}',
      ]
      await sheet.define({ properties: two })
      const run = await sheet.store.startRun(newRun())
      const item = await sheet.workOf('a', 'label')
      await sheet.commitTo(run, [sheet.result(item, 'label', computed('L', 'label'))])
      const accepted = await propose({ id: 'a', name: 'proposed', n: 5 })
      const moved = await propose({ id: 'b', code: '8' })
      const inParts = await propose({ id: 'b', name: 'part', code: 'rest', n: 7 })
      const decide = (field: string): Promise<void> =>
        proposals.reject({
          id: inParts,
          actor: HUMAN,
          reason: null,
          parts: [{ recordId: 'b', fields: [field] }],
        })
      await decide('name')
      const properties = [
        '{name: code, logicalType: string, required: true}',
        '{name: n, logicalType: string}',
        '{name: name, logicalType: string, unique: true}',
        AT,
        `{name: mark, logicalType: string, ${editable}}`,
        '{name: label, logicalType: string}',
      ]
      const targets = [{ ...target('label', ['code']), field: 'mark' }]
      await sheet.define(
        { properties, targets },
        {
          ...renamed(['name', 'code'], ['code', 'name'], ['label', 'mark'], ['mark', 'label']),
          ...converted('n'),
        },
      )
      const detail = await proposals.detail(accepted)
      assert.deepEqual(
        detail?.records.map(({ moved: since, fields }) => [
          since,
          fields.map(({ field, was, now, proposed }) => [field, was, now, proposed]),
        ]),
        [
          [
            null,
            [
              ['code', 'A', 'A', 'proposed'],
              ['n', '1', '1', '5'],
            ],
          ],
        ],
      )
      await assert.rejects(decide('code'), /field "code" of proposal \d+ does not wait any more/)
      await decide('name')
      assert.deepEqual(
        (await proposals.detail(inParts))?.records[0]?.fields.map(({ field, decision }) => [field, decision]),
        [
          ['code', 'rejected'],
          ['n', null],
          ['name', 'rejected'],
        ],
      )
      await proposals.accept({ id: accepted, actor: HUMAN })
      const { code, name, n } = (await sheet.get('a')) ?? {}
      assert.deepEqual([code, name, n], ['proposed', '10', '5'])
      await sheet.write([{ id: 'b', name: '9' }])
      await assert.rejects(proposals.accept({ id: moved, actor: HUMAN }), /"name"/)
      await proposals.reject({ id: moved, actor: HUMAN, reason: null })
      const entries = await sheet.store.runEntries({ run, before: null, limit: 10 })
      assert.deepEqual(
        entries.map(({ field }) => field),
        ['mark'],
      )
      const reverted = await sheet.store.revert({ actor: HUMAN, entries, run: null })
      assert.deepEqual(reverted, { reverted: 1, conflicts: [] })
      assert.equal((await sheet.get('a'))?.['mark'], null)
      await sheet.define(
        { properties: properties.filter((one) => !one.startsWith('{name: mark')), targets: [] },
        removed('mark', 0),
      )
      await sheet.define(
        { properties: [...properties.slice(0, -2), '{name: mark, logicalType: string}'], targets: [] },
        renamed(['label', 'mark']),
      )
      const gone = await sheet.store.runEntries({ run, before: null, limit: 10 })
      assert.deepEqual(await sheet.store.revert({ actor: HUMAN, entries: gone, run: null }), {
        reverted: 0,
        conflicts: [{ recordId: 'a', field: 'label (removed)' }],
      })
      await sheet.empty()
    })

    test('a process that knows earlier names reads nothing under them, and writes by the present ones', async () => {
      const other = await sheet.openAnother()
      try {
        const properties = without('n', '{name: m, logicalType: integer}')
        await sheet.define({ properties }, renamed(['n', 'm']))
        const { contract } = sheet
        await assert.rejects(other.record('a', ['id', 'n']), (error) => {
          assert.ok(error instanceof OutdatedDefinitionError, String(error))
          return true
        })
        const work = {
          targets: ['label'],
          inputs: ['n'],
          force: true,
          state: null,
          after: null,
          limit: 1,
          only: null,
        }
        await assert.rejects(other.work(work), OutdatedDefinitionError)
        const write = (record: JsonObject): Promise<unknown> =>
          other.upsert({ body: { records: [record] }, defaultActor: HUMAN, ifMatch: null })
        await assert.rejects(write({ id: 'a', n: 5 }), /"n"/)
        await write({ id: 'a', m: 5 })
        await other.define({ contract, targets: SETUP.targets })
        assert.equal(String((await other.record('a', ['m']))?.json), '{"m":5}')
        await sheet.define(SETUP, renamed(['m', 'n']))
      } finally {
        await other.close()
      }
    })

    test('a list is refused under names that fields have no longer, as that of an export that is continued', async () => {
      const page = { fields: ['id', 'n'], filter: null, sort: [], after: null, limit: 2, skip: 0 }
      assert.equal(JSON.parse(String((await sheet.store.page(page)).records)).length, 2)
      await sheet.define({ properties: without('n', '{name: m, logicalType: integer}') }, renamed(['n', 'm']))
      const changed = { code: 'definition_changed' }
      await assert.rejects(sheet.store.page(page), changed)
      await assert.rejects(sheet.store.page({ ...page, filter: 'true' }), changed)
      const sort = [{ field: 'n', descending: false }]
      await assert.rejects(sheet.store.page({ ...page, fields: ['id'], sort }), changed)
      await assert.rejects(sheet.store.position({ ...page, sort, id: 'a' }), changed)
      await sheet.define(SETUP, renamed(['m', 'n']))
    })

    test('the effect on a derived field that is renamed or removed has its states of before', async () => {
      await sheet.compute('a', 'label', 'L')
      const before = { fresh: 1, stale: 0, missing: 2, failed: 0, overridden: 0, blocked: 0 }
      const rename = {
        properties: without('label', '{name: title, logicalType: string}'),
        targets: [target('title', ['name'])],
      }
      const after = { ...before, fresh: 0, stale: 1 }
      assert.deepEqual((await sheet.tryChange(rename, renamed(['label', 'title']))).targets, [
        { field: 'title', derivation: 'title.yaml', change: 'changed', before, after },
      ])
      const removal = { properties: without('label'), targets: [] }
      assert.deepEqual((await sheet.tryChange(removal, removed('label', 1))).targets, [
        { field: 'label', derivation: 'label.yaml', change: 'removed', before, after: null },
      ])
    })

    test('a change that the contract does not show is refused', async () => {
      const cases: [properties: string[], changes: Partial<FieldChanges>, message: RegExp][] = [
        [without('n'), renamed(['n', 'm']), /"m" cannot be renamed/],
        [without('n', '{name: m, logicalType: integer}'), renamed(['x', 'm']), /"x" cannot be renamed/],
        [
          without('n', '{name: m, logicalType: string}'),
          renamed(['n', 'm']),
          /"n" of type integer .* "m" of type string/,
        ],
        [
          without('n', '{name: extra, logicalType: integer}'),
          renamed(['n', 'label']),
          /"n" cannot be renamed to "label": another has/,
        ],
        [without('n'), removed('x', 0), /"x" cannot be removed/],
        [PROPERTIES, removed('id', 3), /primary-key/],
        [
          [...PROPERTIES, '{name: back, logicalType: string}'],
          { restored: new Map([['back', 1]]) },
          /no values of property "back"/,
        ],
        [
          without('n', '{name: code2, logicalType: string}'),
          renamed(['n', 'code2'], ['code', 'code2']),
          /same name/,
        ],
      ]
      for (const [properties, changes, message] of cases) {
        const text =
          properties === PROPERTIES
            ? [...PROPERTIES.slice(0, -1), '{name: label, logicalType: string, description: new}']
            : properties
        await assert.rejects(sheet.define({ properties: text }, changes), message)
      }
      assert.deepEqual(await sheet.all(), RECORDS)
    })
  })
}
