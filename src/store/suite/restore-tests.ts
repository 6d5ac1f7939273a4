import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import {
  ConflictError,
  PermissionDeniedError,
  SheetError,
  ValidationError,
} from '../../errors/service-error.ts'
import type { CellHash, CellState, RestoreRequest, RestoreResult } from '../sheet-store.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import {
  entriesOf,
  hashOf,
  HUMAN,
  IN_TURN,
  sha256,
  target,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const PROPERTIES = [
  ...CELL_PROPERTIES,
  "{name: owned, logicalType: string, customProperties: [{property: editableBy, value: ['user:bob']}]}",
  '{name: tag, logicalType: string, unique: true}',
]

/** Tests of restoring deleted records. */
export function testRestore(open: OpenStore): void {
  suite('restore', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: PROPERTIES, targets: CELL_TARGETS })

    const stateOf = async (id: string, field: string): Promise<CellState | undefined> =>
      (await sheet.workOf(id, field)).cells[0]?.state
    const restore = (
      ids: readonly string[],
      more: Partial<RestoreRequest> & { seq?: number; hashes?: readonly CellHash[] } = {},
    ): Promise<RestoreResult> => {
      const { seq = null, hashes = [], actor = HUMAN } = more
      const records = ids.map((recordId) => ({ recordId, seq, hashes }))
      return sheet.store.restore({ actor, records })
    }
    const remove = (...ids: readonly string[]): Promise<unknown> => sheet.store.delete(ids, HUMAN)
    /** Returns the seq of the latest deletion of a record. */
    const deletionOf = async (id: string): Promise<number> =>
      Number((await sheet.history(id, 'id')).at(-1)?.['seq'])

    test('deleted records are listed by their deletions, newest first, until they are restored', async () => {
      const first = await sheet.store.deletedRecords({ before: null, limit: 1 })
      const since = first[0]?.seq ?? 0
      const listed = async (): Promise<readonly [string, boolean][]> => {
        const all = await sheet.store.deletedRecords({ before: null, limit: 1000 })
        return all.filter(({ seq }) => seq > since).map(({ recordId, isLatest }) => [recordId, isLatest])
      }
      await sheet.write(['bin1', 'bin2', 'bin3'].map((id) => ({ id, a: id })))
      await remove('bin2')
      await remove('bin1', 'bin3')
      assert.deepEqual(await listed(), [
        ['bin3', true],
        ['bin1', true],
        ['bin2', true],
      ])
      const [newest] = await sheet.store.deletedRecords({ before: null, limit: 1 })
      assert.equal(newest?.seq, await deletionOf('bin3'))
      const [next] = await sheet.store.deletedRecords({ before: newest.seq, limit: 1 })
      assert.equal(next?.recordId, 'bin1')
      const [deletion] = await sheet.store.deletions([next])
      const { at, actor, values } = deletion ?? {}
      const entry = (await sheet.history('bin1', 'a')).at(-1)
      assert.deepEqual([at, actor, values?.['a']], [entry?.['at'], HUMAN, 'bin1'])
      await restore(['bin1', 'bin2'])
      assert.deepEqual(await listed(), [['bin3', true]])
      await sheet.write([{ id: 'bin3', a: 'again' }])
      await remove('bin3', 'bin1')
      assert.deepEqual(await listed(), [
        ['bin1', true],
        ['bin3', true],
        ['bin3', false],
      ])
      await restore(['bin3'], { seq: await deletionOf('bin3') })
      assert.deepEqual(await listed(), [
        ['bin1', true],
        ['bin3', false],
      ])
    })

    test('a record is restored with its values and states, also of fields that the actor may not write', async () => {
      const values: JsonObject = { id: 'whole', a: 'x', b: 7, one: 'by hand', tag: 't' }
      await sheet.write([values])
      await sheet.write([{ id: 'whole', owned: 'mine' }], 'user:bob')
      await sheet.compute('whole', 'two', 'v', 'h')
      await sheet.compute('whole', 'next', { deep: [1.5, null] }, 'n')
      const before = await sheet.get('whole')
      const counts = await sheet.counts('two')
      await remove('whole')
      assert.deepEqual(await restore(['whole']), { restored: 1 })
      assert.deepEqual(await sheet.get('whole'), before)
      assert.equal(await stateOf('whole', 'one'), 'overridden')
      assert.equal(await stateOf('whole', 'two'), 'stale', 'nobody said which hash it would have now')
      assert.equal(await stateOf('whole', 'code'), 'missing')
      assert.deepEqual(await sheet.counts('two'), {
        ...counts,
        fresh: counts.fresh - 1,
        stale: counts.stale + 1,
        ready: { ...counts.ready, stale: counts.ready.stale + 1 },
      })
      assert.equal((await sheet.workOf('whole', 'two')).cells[0]?.inputHash, hashOf('h'))
    })

    test('each cell has an entry with the reverted deletion, after all earlier entries', async () => {
      await sheet.write([{ id: 'told', a: 'x', one: 'by hand' }])
      await sheet.compute('told', 'two', 'v', 'h')
      await remove('told')
      const deletion = await deletionOf('told')
      await restore(['told'])
      const common = { actor: HUMAN, source: 'revert', reverts: deletion, record_id: 'told', previous: null }
      const latest = async (field: string): Promise<JsonObject> => {
        const { seq: _seq, at: _at, ...entry } = (await sheet.latest('told', field)) ?? {}
        return entry
      }
      assert.deepEqual(await latest('a'), { ...common, field: 'a', value: 'x' })
      assert.deepEqual(await latest('one'), { ...common, field: 'one', value: 'by hand' })
      assert.deepEqual(await latest('two'), {
        ...common,
        field: 'two',
        value: 'v',
        input_hash: hashOf('h'),
        derivation: 'pair.yaml',
      })
      const sources = (await sheet.history('told', 'two')).map(({ source }) => source)
      assert.deepEqual(sources, ['http', 'delete', 'revert'])
    })

    test('D32: a computed cell is fresh if the present derivation makes its hash', async () => {
      await sheet.write([{ id: 'fresh', a: 'x', b: 1 }])
      for (const field of ['one', 'two', 'next', 'code'])
        await sheet.compute('fresh', field, null, `${field}.`)
      const hash = (field: string, text: string, file: string): CellHash => ({
        field,
        sha256: sha256(file),
        inputHash: hashOf(text),
      })
      const hashes = [
        hash('one', 'one.', 'one.yaml'),
        hash('two', 'another', 'two.yaml'),
        hash('next', 'next.', 'edited.yaml'),
      ]
      await remove('fresh')
      await restore(['fresh'], { hashes })
      const states = await Promise.all(['one', 'two', 'next', 'code'].map((field) => stateOf('fresh', field)))
      assert.deepEqual(states, ['fresh', 'stale', 'stale', 'stale'], 'also of values that are null')
    })

    test('a missing cell is restored as missing, whatever an earlier record of the id had', async () => {
      await sheet.write([{ id: 'empty', a: 'x' }])
      await sheet.compute('empty', 'one', null, 'h')
      await remove('empty')
      await sheet.write([{ id: 'empty', a: 'x' }])
      await remove('empty')
      await restore(['empty'])
      assert.equal(await stateOf('empty', 'one'), 'missing')
    })

    test('the entry of a deletion selects which record of an id is restored', async () => {
      await sheet.write([{ id: 'twice', a: 'first' }])
      await remove('twice')
      const seq = await deletionOf('twice')
      await sheet.write([{ id: 'twice', a: 'second' }])
      await remove('twice')
      const latest = await deletionOf('twice')
      const found = await sheet.store.deletions([
        { recordId: 'twice', seq },
        { recordId: 'twice', seq: null },
        { recordId: 'twice', seq: seq - 1 },
        { recordId: 'nobody', seq: null },
      ])
      assert.deepEqual(
        found.map((deletion) => [deletion?.seq, deletion?.values['a']]),
        [
          [seq, 'first'],
          [latest, 'second'],
          [undefined, undefined],
          [undefined, undefined],
        ],
      )
      await restore(['twice'], { seq })
      assert.equal((await sheet.get('twice'))?.['a'], 'first')
      await remove('twice')
      await restore(['twice'])
      assert.equal((await sheet.get('twice'))?.['a'], 'first', 'by its latest deletion')
    })

    test('an existing record is never overwritten, and then nothing is restored', async () => {
      await sheet.write(['p', 'q', 'r'].map((id) => ({ id, a: 'old' })))
      await remove('p', 'q', 'r')
      await sheet.write([{ id: 'q', a: 'new' }])
      const { total } = await sheet.store.status()
      await assert.rejects(restore(['p', 'q', 'r']), (error: Error) => {
        assert.ok(error instanceof ConflictError)
        assert.equal(
          error.message,
          'record "q" exists; nothing was restored, since restoring never overwrites a record',
        )
        return true
      })
      assert.equal((await sheet.store.status()).total, total)
      assert.deepEqual(await restore(['r', 'p']), { restored: 2 })
      assert.deepEqual(
        (await sheet.all()).slice(-3).map(({ id, a }) => [id, a]),
        [
          ['q', 'new'],
          ['r', 'old'],
          ['p', 'old'],
        ],
      )
      assert.equal((await sheet.store.status()).total, total + 2)
    })

    test('a deletion that is not in the log is a SheetError with the record', async () => {
      await sheet.write([{ id: 'alive', a: 'x' }])
      await remove('alive')
      const seq = (await deletionOf('alive')) - 1
      await assert.rejects(restore(['nobody']), /^Error: the log has no deletion of a record "nobody"$/)
      const wrong = new RegExp(`^record "alive": the provenance entry ${seq} is no deletion of it$`)
      await assert.rejects(restore(['alive'], { seq }), (error: Error) => {
        assert.ok(error instanceof SheetError)
        assert.match(error.message, wrong)
        return true
      })
    })

    test('a value of a unique field that another record has now is reported', async () => {
      await sheet.write([{ id: 'was', tag: 'mine' }])
      await remove('was')
      await sheet.write([{ id: 'is', tag: 'mine' }])
      await assert.rejects(restore(['was']), (error: Error) => {
        assert.ok(error instanceof ValidationError)
        assert.match(
          error.message,
          /\(id "was"\), field "tag": must be unique, but record "is" has "mine" already$/,
        )
        return true
      })
      assert.equal(await sheet.get('was'), null)
    })

    test('entries from before the deletion can be reverted once the record is restored', async () => {
      await sheet.write([{ id: 'back', a: 'x' }])
      await sheet.compute('back', 'one', 'v1', 'h1')
      await sheet.compute('back', 'one', 'v2', 'h2')
      const { seq } = (await sheet.latest('back', 'one')) ?? {}
      const entries = [{ seq: Number(seq), recordId: 'back', field: 'one' }]
      await remove('back')
      assert.equal((await sheet.store.revert({ actor: HUMAN, entries, run: null })).reverted, 0)
      await restore(['back'])
      await remove('back')
      await restore(['back'])
      assert.deepEqual(await sheet.store.revert({ actor: HUMAN, entries, run: null }), {
        reverted: 1,
        conflicts: [],
      })
      assert.equal((await sheet.get('back'))?.['one'], 'v1')
      assert.equal((await sheet.workOf('back', 'one')).cells[0]?.inputHash, hashOf('h1'))
    })

    test('as_of: a restored record did not exist between its deletion and its return', async () => {
      await sheet.write([{ id: 'past', a: 'x', b: 3 }])
      await sheet.compute('past', 'one', 'v', 'h')
      const whole = await sheet.get('past')
      const alive = (await sheet.store.history()).last
      await remove('past')
      const gone = (await sheet.store.history()).last
      await restore(['past'])
      const back = (await sheet.store.history()).last
      await sheet.write([{ id: 'past', a: 'y' }])
      const asOf = async (seq: number): Promise<unknown> =>
        JSON.parse(String(await sheet.store.recordAsOf('past', sheet.fields, seq)))
      assert.deepEqual([await asOf(alive), await asOf(gone), await asOf(back)], [whole, null, whole])
    })
  })

  test('D7: restoring requires the permission to delete', async (t) => {
    const sheet = await TestSheet.make(t, open, { properties: [], deletableBy: ['human:*'] })
    await sheet.write([{ id: 'r' }], 'agent:x')
    await sheet.store.delete(['r'], HUMAN)
    const records = [{ recordId: 'r', seq: null, hashes: [] }]
    await assert.rejects(sheet.store.restore({ actor: 'agent:x', records }), (error: Error) => {
      assert.ok(error instanceof PermissionDeniedError)
      assert.equal(
        error.message,
        'actor "agent:x" may not restore deleted records; the contract\'s deletableBy allows human:*',
      )
      return true
    })
    assert.deepEqual(await sheet.store.restore({ actor: HUMAN, records }), { restored: 1 })
  })

  test('D9: values that the contract no longer allows prevent a restore, with their fields', async (t) => {
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: gone, logicalType: string}', '{name: kind, logicalType: string}'],
    })
    await sheet.write([{ id: 'r', gone: 'x', kind: 'y' }])
    await sheet.empty()
    await sheet.define({
      properties: ['{name: kind, logicalType: integer}', '{name: must, logicalType: string, required: true}'],
    })
    const records = [{ recordId: 'r', seq: null, hashes: [] }]
    await assert.rejects(sheet.store.restore({ actor: HUMAN, records }), (error: Error) => {
      assert.ok(error instanceof ValidationError)
      assert.match(error.message, /field "kind": "y" is not an integer/)
      assert.match(error.message, /field "gone": the contract has no such field/)
      assert.match(error.message, /field "must": is required/)
      return true
    })
  })

  test('imported records are restored unchanged, with overridden cells and their history', async (t) => {
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: a, logicalType: string}', '{name: one, logicalType: string}'],
      targets: [target('one', ['a'])],
      records: [
        { id: 'r', a: 'x', one: 'imported' },
        { id: 's', a: 'y' },
      ],
    })
    await sheet.compute('s', 'one', 'v', 'h')
    await sheet.empty()
    const records = ['r', 's'].map((recordId) => ({ recordId, seq: null, hashes: [] }))
    assert.deepEqual(await sheet.store.restore({ actor: HUMAN, records }), { restored: 2 })
    await sheet.reopen()
    assert.deepEqual(await sheet.all(), [
      { id: 'r', a: 'x', one: 'imported' },
      { id: 's', a: 'y', one: 'v' },
    ])
    const { overridden, stale } = await sheet.counts('one')
    assert.deepEqual([overridden, stale], [1, 1])
    const sources = (await entriesOf(sheet.store, 'r', 'a'))?.map(({ source }) => source)
    assert.deepEqual(sources, ['import', 'delete', 'revert'])
    const lines = (await sheet.log()).map(({ source, field = null }): JsonValue => [source ?? null, field])
    assert.deepEqual(lines.slice(-3), [
      ['revert', null],
      ['revert', null],
      ['revert', 'one'],
    ])
  })

  test('D2: a deletion in a log from before the store can be reverted', async (t) => {
    const at = '2026-01-01T00:00:00.000Z'
    const common = { actor: HUMAN, record_id: 'old' }
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: a, logicalType: string}', '{name: one, logicalType: string}'],
      targets: [target('one', ['a'])],
      log: [
        { seq: 1, at, ...common, source: 'write', values: { id: 'old', a: 'x' }, previous: {} },
        {
          seq: 2,
          at,
          ...common,
          source: 'http',
          field: 'one',
          value: 'v',
          previous: null,
          input_hash: hashOf('h'),
          derivation: 'one.yaml',
          cached: false,
        },
        { seq: 3, at, ...common, source: 'delete', values: {}, previous: { id: 'old', a: 'x', one: 'v' } },
      ],
    })
    const records = [{ recordId: 'old', seq: null, hashes: [] }]
    await sheet.store.restore({ actor: HUMAN, records })
    assert.deepEqual(await sheet.get('old'), { id: 'old', a: 'x', one: 'v' })
    assert.equal((await sheet.workOf('old', 'one')).cells[0]?.inputHash, hashOf('h'))
  })
}
