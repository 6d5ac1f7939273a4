import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { ContractError } from '../../errors/service-error.ts'
import type { TargetDefinition } from '../sheet-store.ts'
import {
  computed,
  FIRST_PAGE,
  HUMAN,
  IN_TURN,
  sha256,
  target,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const PROPERTIES = [
  '{name: name, logicalType: string, required: true, logicalTypeOptions: {minLength: 1}}',
  '{name: n, logicalType: integer}',
  '{name: code, logicalType: string, unique: true}',
  '{name: label, logicalType: string}',
]

/** Tests of changed contracts on stored records (D9), and of changed derivations on their cells (D3). */
export function testDefinitions(open: OpenStore): void {
  suite('contract changes', IN_TURN, () => {
    const setup = { properties: PROPERTIES, targets: [target('label', ['name'])] }
    const sheet = TestSheet.shared(open, setup)
    beforeEach(async () => {
      await sheet.empty()
      await sheet.define(setup)
    })

    test('D9: a change that only adds or loosens applies automatically and keeps every value', async () => {
      await sheet.write([
        { id: 'a', name: 'A', n: 1, code: 'c' },
        { id: 'b', name: 'B' },
      ])
      await sheet.compute('a', 'label', 'LA')
      const loosened = [
        '{name: extra, logicalType: array}',
        '{name: label, logicalType: string, description: New text}',
        '{name: code, logicalType: string}',
        '{name: n, logicalType: integer, customProperties: [{property: editableBy, value: ["agent:*"]}]}',
        '{name: name, logicalType: string}',
        '{name: more, logicalType: string, unique: true}',
      ]
      await sheet.define({ properties: loosened })
      assert.deepEqual(await sheet.all(), [
        { id: 'a', extra: null, label: 'LA', code: 'c', n: 1, name: 'A', more: null },
        { id: 'b', extra: null, label: null, code: null, n: null, name: 'B', more: null },
      ])
      await sheet.write([{ id: 'b', name: null, code: 'c', extra: [1, { a: null }], more: 'm' }, { id: 'c' }])
      await assert.rejects(sheet.write([{ id: 'c', more: 'm' }]), /unique/)
      await assert.rejects(sheet.write([{ id: 'c', n: 2 }]), /agent:\*/)
      assert.deepEqual((await sheet.store.delete(['b'], HUMAN)).remaining, 2)
      assert.deepEqual((await sheet.latest('b', 'extra'))?.['previous'], [1, { a: null }])
      await sheet.reopen()
      assert.equal((await sheet.counts('label')).fresh, 1)
    })

    test('an index is added and removed without changing responses', async () => {
      await sheet.write([3, 1, 2].map((n) => ({ id: `r${n}`, name: `N${n}`, n, code: `c${n}` })))
      const query = { ...FIRST_PAGE, fields: ['id'], limit: 2, filter: 'n < 3' }
      const answers = async (): Promise<readonly string[]> => {
        const pages = [query, { ...query, sort: [{ field: 'n', descending: true }] }].map((asked) =>
          sheet.store.page(asked),
        )
        return (await Promise.all(pages)).map(({ records }) => String(records))
      }
      const before = await answers()
      assert.deepEqual(before, ['[{"id":"r1"},{"id":"r2"}]', '[{"id":"r2"},{"id":"r1"}]'])
      const [name = '', , , label = ''] = PROPERTIES
      const variants = [
        [
          '{name: n, logicalType: integer, x-indexed: true}',
          '{name: code, logicalType: string, unique: true, x-indexed: true}',
        ],
        ['{name: n, logicalType: integer}', '{name: code, logicalType: string, x-indexed: true}'],
        ['{name: n, logicalType: integer, unique: true}', '{name: code, logicalType: string}'],
      ]
      for (const variant of variants) {
        await sheet.define({ ...setup, properties: [name, ...variant, label] })
        assert.deepEqual(await answers(), before, String(variant))
        await sheet.reopen()
        assert.deepEqual(await answers(), before, String(variant))
      }
    })

    test('D9: each refusal has its effect and the number of records, and changes nothing', async () => {
      const records = [
        { id: 'a', name: 'long', n: 5, code: 'x' },
        { id: 'b', name: 's', n: 5, code: null },
        { id: 'c', name: 's', n: null, code: 'z' },
      ]
      await sheet.write(records)
      const before = await sheet.all()
      const instead = (index: number, ...properties: string[]): string[] =>
        PROPERTIES.toSpliced(index, 1, ...properties)
      const cases: [properties: string[], message: RegExp][] = [
        [instead(1), /"n" .*2 records/],
        [instead(1, '{name: m, logicalType: integer}'), /"n" .*2 records/],
        [instead(1, '{name: n, logicalType: string}'), /"n" .*integer.*string.*2 records/],
        [instead(1, '{name: n, logicalType: number}'), /"n" .*integer.*number.*2 records/],
        [instead(1, '{name: n, logicalType: integer, required: true}'), /"n" .*1 record /],
        [instead(1, '{name: n, logicalType: integer, logicalTypeOptions: {maximum: 4}}'), /"n" .*2 records/],
        [instead(1, '{name: n, logicalType: integer, unique: true}'), /"n" .*2 records/],
        [
          instead(0, '{name: name, logicalType: string, required: true, logicalTypeOptions: {minLength: 2}}'),
          /"name" .*2 records/,
        ],
        [instead(0, '{name: name, logicalType: string, unique: true, required: true}'), /"name" .*2 records/],
        [[...PROPERTIES, '{name: must, logicalType: string, required: true}'], /"must" .*3 records/],
        [['{name: must, logicalType: string, required: true}'], /"name".*3 records.*"n".*2 records.*"must"/],
      ]
      for (const [properties, message] of cases) {
        await assert.rejects(sheet.define({ properties, targets: [] }), (error) => {
          assert.ok(error instanceof ContractError, String(error))
          assert.match(error.message, message)
          return true
        })
      }
      assert.deepEqual(await sheet.all(), before)
      assert.equal((await sheet.counts('label')).missing, 3)
      await sheet.write([{ id: 'd', name: 's', n: 5 }])
      await sheet.reopen()
      assert.equal((await sheet.all()).length, 4)
    })

    test('D9: a tightened constraint that no stored record violates applies, with fields named n, last and value', async () => {
      const properties = ['n', 'last', 'value', 'records', 'count', 'key'].map(
        (field) => `{name: ${field}, logicalType: integer}`,
      )
      await sheet.define({ properties, targets: [] })
      const values = (n: number): Record<string, number> => ({
        n,
        last: n,
        value: n,
        records: n,
        count: n,
        key: n,
      })
      await sheet.write([2, 3, 4].map((n) => ({ id: `r${n}`, ...values(n) })))
      const tightened = ['n', 'last', 'value', 'records', 'count', 'key'].map(
        (field) =>
          `{name: ${field}, logicalType: integer, required: true, unique: true, logicalTypeOptions: {minimum: 2}}`,
      )
      await sheet.define({ properties: tightened })
      await assert.rejects(sheet.write([{ id: 'new', ...values(4) }]), /unique/)
    })

    test('D9: a required derived field may stay empty until it is computed', async () => {
      await sheet.write([{ id: 'a', name: 'A' }])
      await sheet.define({
        properties: PROPERTIES.toSpliced(3, 1, '{name: label, logicalType: string, required: true}'),
      })
      await sheet.write([{ id: 'b', name: 'B' }])
      assert.equal((await sheet.counts('label')).missing, 2)
    })

    test('D9: a sheet without records follows any contract', async () => {
      await sheet.write([{ id: 'a', name: 'A' }])
      await sheet.store.delete(['a'], HUMAN)
      const properties = [
        '{name: N, logicalType: string, required: true, unique: true}',
        '{name: label, logicalType: integer}',
      ]
      await sheet.define({ properties, targets: [target('label', ['N'])] })
      await sheet.write([{ id: 'a', N: '1', label: null }])
      assert.deepEqual(await sheet.all(), [{ id: 'a', N: '1', label: null }])
      await assert.rejects(sheet.write([{ id: 'b', N: '1' }]), /unique/)
    })

    test('D32: the cells of a new derivation are missing, or overridden if they have a value', async () => {
      await sheet.define({ targets: [] })
      await sheet.write([
        { id: 'a', name: 'A', label: 'by hand' },
        { id: 'b', name: 'B' },
      ])
      await sheet.define({ targets: setup.targets })
      const { overridden, missing } = await sheet.counts('label')
      assert.deepEqual({ overridden, missing }, { overridden: 1, missing: 1 })
      await assert.rejects(sheet.write([{ id: 'b', label: 'x' }]), /derived/)
      await sheet.write([{ id: 'a', label: 'by hand' }])
    })

    test('D32: an edited derivation file makes computed cells stale, and no others', async () => {
      const properties = PROPERTIES.toSpliced(
        3,
        1,
        "{name: label, logicalType: string, customProperties: [{property: editableBy, value: ['human:*']}]}",
      )
      await sheet.define({ properties })
      await sheet.write(['a', 'b', 'c', 'd'].map((id) => ({ id, name: id })))
      await sheet.compute('a', 'label', 'LA')
      await sheet.fail('b', 'label')
      await sheet.write([{ id: 'c', label: 'by hand' }])
      await sheet.define({ targets: [target('label', ['name'], { sha256: sha256('edited') })] })
      const { fresh, stale, missing, failed, overridden } = await sheet.counts('label')
      assert.deepEqual(
        { fresh, stale, missing, failed, overridden },
        { fresh: 0, stale: 1, missing: 1, failed: 1, overridden: 1 },
      )
      const item = await sheet.workOf('a', 'label')
      assert.deepEqual(await sheet.commit(sheet.result(item, 'label', { kind: 'unchanged' })), [
        { outcome: 'stored' },
      ])
      assert.equal((await sheet.counts('label')).fresh, 1)
    })

    test('D32: an edited file whose cells are checked by their hashes makes none stale by itself', async () => {
      const checked = (text: string): TargetDefinition =>
        target('label', ['name'], { sha256: sha256(text), sources: text, isChecked: true })
      await sheet.define({ targets: [checked('one')] })
      const unchecked = async (): Promise<unknown> =>
        (await sheet.store.uncheckedTargets()).map(({ field }) => field)
      // The file before was of a kind without hashes of its own.
      assert.deepEqual(await unchecked(), ['label'])
      await sheet.store.markOutdated({ cells: [], checked: { targets: ['label'], sources: 'one' } })
      await sheet.write(['a', 'b'].map((id) => ({ id, name: id })))
      for (const id of ['a', 'b']) {
        const item = await sheet.workOf(id, 'label')
        const result = sheet.result(item, 'label', computed('L', id))
        await sheet.commit({ ...result, sha256: sha256('one'), sources: 'one' })
      }
      const read = await sheet.workOf('b', 'label')
      await sheet.define({ targets: [checked('two')] })
      assert.deepEqual([(await sheet.counts('label')).fresh, await unchecked()], [2, ['label']])
      const cells = [{ id: 'a', targets: ['label'], skipped: [] }]
      await sheet.store.markOutdated({ cells, checked: { targets: ['label'], sources: 'two' } })
      const { fresh, stale } = await sheet.counts('label')
      assert.deepEqual([fresh, stale, await unchecked()], [1, 1, []])
      // A run that began before stores its result, which is stale at once.
      const late = sheet.result(read, 'label', computed('L2', 'b'))
      await sheet.commit({ ...late, sha256: sha256('one'), sources: 'one' })
      assert.equal((await sheet.counts('label')).stale, 2)
      const [newest] = await sheet.store.derivationVersions('label.yaml')
      assert.equal(newest?.sha256, sha256('two'))
    })

    test('D32: values computed with a file that was edited during the run are stored, and stale at once', async () => {
      await sheet.write(['missing', 'fresh', 'again'].map((id) => ({ id, name: id })))
      await sheet.compute('fresh', 'label', 'before')
      await sheet.compute('again', 'label', 'before')
      const results = []
      for (const id of ['missing', 'fresh']) {
        results.push(sheet.result(await sheet.workOf(id, 'label'), 'label', computed('after', id)))
      }
      results.push(sheet.result(await sheet.workOf('again', 'label'), 'label', { kind: 'unchanged' }))
      await sheet.define({ targets: [target('label', ['name'], { sha256: sha256('edited') })] })
      assert.deepEqual(
        await sheet.commit(...results),
        results.map(() => ({ outcome: 'stored' })),
      )
      assert.deepEqual(
        (await sheet.all()).map(({ label }) => label),
        ['after', 'after', 'before'],
      )
      const { fresh, stale } = await sheet.counts('label')
      assert.deepEqual({ fresh, stale }, { fresh: 0, stale: 3 })
    })

    test('D3: with an invalid derivation file the derived fields are unchanged', async () => {
      await sheet.write([{ id: 'a', name: 'A' }])
      await sheet.compute('a', 'label', 'LA')
      await sheet.define({ targets: null, properties: [...PROPERTIES, '{name: extra, logicalType: string}'] })
      assert.equal((await sheet.counts('label')).fresh, 1)
      await assert.rejects(sheet.write([{ id: 'a', label: 'x' }]), /derived/)
    })

    test('D3: without its derivation a field is ordinary; when the file is back, the states of its cells hold', async () => {
      await sheet.write(['a', 'b', 'c'].map((id) => ({ id, name: id })))
      await sheet.compute('a', 'label', 'LA')
      await sheet.compute('b', 'label', 'LB')
      await sheet.define({ targets: [] })
      assert.deepEqual((await sheet.store.status()).targets, [])
      await sheet.write([
        { id: 'b', label: 'by hand' },
        { id: 'd', name: 'D', label: 'new' },
      ])
      await sheet.store.delete(['c'], HUMAN)
      await sheet.define({ targets: setup.targets })
      const { fresh, stale, missing, overridden } = await sheet.counts('label')
      assert.deepEqual(
        { fresh, stale, missing, overridden },
        { fresh: 1, stale: 0, missing: 0, overridden: 2 },
      )
    })
  })
}
