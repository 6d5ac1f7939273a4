import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonValue } from '../../contract/json/json.ts'
import { PermissionDeniedError, SheetError, ValidationError } from '../../errors/service-error.ts'
import type { CellState, EntryRef, RevertRequest, RevertResult, RunEntry } from '../sheet-store.ts'
import type { RunId } from '../stored-run.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import { RANDOM_TIMES, seededRandom } from './support/random.ts'
import { refused } from './support/refused.ts'
import {
  AGENT,
  computed,
  hashOf,
  HUMAN,
  IN_TURN,
  newRun,
  target,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const NOBODY = 'visitor:eve'
const PROPERTIES = [
  ...CELL_PROPERTIES,
  "{name: owned, logicalType: string, customProperties: [{property: editableBy, value: ['human:*']}]}",
  '{name: must, logicalType: string, required: true}',
  '{name: tag, logicalType: string, unique: true}',
  '{name: list, logicalType: array}',
]

/** Tests of undoing entries. */
export function testRevert(open: OpenStore): void {
  suite('revert', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: PROPERTIES, targets: CELL_TARGETS })

    const write = (record: { readonly id: string; readonly [field: string]: JsonValue }): Promise<unknown> =>
      sheet.write([{ must: 'be', ...record }])
    const stateOf = async (id: string, field: string): Promise<CellState | undefined> =>
      (await sheet.workOf(id, field)).cells[0]?.state
    const valueOf = async (id: string, field: string): Promise<JsonValue | undefined> =>
      (await sheet.get(id))?.[field]
    /** Returns the latest entry of a cell. */
    const entryOf = async (recordId: string, field: string): Promise<EntryRef> => {
      const entry = await sheet.latest(recordId, field)
      return { seq: Number(entry?.['seq']), recordId, field }
    }
    const revert = (entries: readonly RunEntry[], more: Partial<RevertRequest> = {}): Promise<RevertResult> =>
      sheet.store.revert({ actor: AGENT, entries, run: null, ...more })
    const reverted = async (...entries: readonly EntryRef[]): Promise<void> =>
      assert.deepEqual(await revert(entries), { reverted: entries.length, conflicts: [] })
    const conflicts = async (...entries: readonly EntryRef[]): Promise<void> =>
      assert.deepEqual(await revert(entries, { actor: HUMAN }), {
        reverted: 0,
        conflicts: entries.map(({ recordId, field }) => ({ recordId, field })),
      })

    test('reverting a first computation leaves the cell missing, and its line names the entry', async () => {
      await write({ id: 'first', a: 'x' })
      await sheet.compute('first', 'one', 'v', 'h')
      const { version } = (await sheet.store.record('first', ['id'])) ?? {}
      const entry = await entryOf('first', 'one')
      await reverted(entry)
      assert.equal(await valueOf('first', 'one'), null)
      assert.equal(await stateOf('first', 'one'), 'missing')
      const { seq, at, ...line } = (await sheet.latest('first', 'one')) ?? {}
      assert.ok(Number(seq) > entry.seq)
      assert.match(at as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepEqual(line, {
        actor: AGENT,
        source: 'revert',
        record_id: 'first',
        field: 'one',
        value: null,
        previous: 'v',
        reverts: entry.seq,
      })
      assert.notEqual((await sheet.store.record('first', ['id']))?.version, version)
    })

    test('reverting a new value with the same hash leaves the cell fresh', async () => {
      await write({ id: 'bad', a: 'x' })
      await sheet.compute('bad', 'one', 'good', 'h')
      await sheet.compute('bad', 'one', 'wrong', 'h')
      await reverted(await entryOf('bad', 'one'))
      assert.equal(await valueOf('bad', 'one'), 'good')
      assert.equal(await stateOf('bad', 'one'), 'fresh')
      const line = await sheet.latest('bad', 'one')
      assert.deepEqual([line?.['input_hash'], line?.['derivation']], [hashOf('h'), 'pair.yaml'])
      await reverted(await entryOf('bad', 'one'))
      assert.equal(await valueOf('bad', 'one'), 'wrong')
      assert.equal(await stateOf('bad', 'one'), 'fresh', 'a revert taken back')
    })

    test('D32: a reverted value with another hash is stale, since its inputs may have changed', async () => {
      await write({ id: 'old', a: 'x' })
      await sheet.compute('old', 'one', 'v1', 'h1')
      await sheet.compute('old', 'one', 'v2', 'h2')
      await reverted(await entryOf('old', 'one'))
      const item = await sheet.workOf('old', 'one')
      assert.deepEqual([item.cells[0]?.state, item.cells[0]?.inputHash], ['stale', hashOf('h1')])
      await sheet.commit(sheet.result(item, 'one', { kind: 'unchanged' }))
      assert.equal(await stateOf('old', 'one'), 'fresh')
      assert.equal(await valueOf('old', 'one'), 'v1')
    })

    test('a cell that is stale or failed stays stale when its value is reverted', async () => {
      for (const meanwhile of ['stale', 'failed'] as const) {
        await write({ id: meanwhile, a: 'x' })
        await sheet.compute(meanwhile, 'one', 'v1', 'h')
        await sheet.compute(meanwhile, 'one', 'v2', 'h')
        if (meanwhile === 'stale') await sheet.write([{ id: meanwhile, a: 'y' }])
        else await sheet.fail(meanwhile, 'one')
        await reverted(await entryOf(meanwhile, 'one'))
        assert.equal(await stateOf(meanwhile, 'one'), 'stale')
        const [key = 0] = (await sheet.store.recordKeys([meanwhile])).values()
        assert.equal(await sheet.store.cellFailure(key, 'one'), null)
      }
    })

    test('D28: reverting a run restores an override that the run overwrote', async () => {
      await write({ id: 'over', a: 'x', one: 'by hand' })
      await sheet.compute('over', 'one', 'forced')
      await reverted(await entryOf('over', 'one'))
      assert.equal(await valueOf('over', 'one'), 'by hand')
      assert.equal(await stateOf('over', 'one'), 'overridden')
      await reverted(await entryOf('over', 'one'))
      assert.equal(await valueOf('over', 'one'), 'forced')
      assert.equal(await stateOf('over', 'one'), 'stale')
    })

    test('D26: a computed null is restored as computed', async () => {
      await write({ id: 'null', a: 'x' })
      await sheet.compute('null', 'one', null, 'h')
      await sheet.compute('null', 'one', 'v', 'h')
      await reverted(await entryOf('null', 'one'))
      assert.equal(await valueOf('null', 'one'), null)
      assert.equal(await stateOf('null', 'one'), 'fresh')
    })

    test('D27: dependants of a reverted cell are stale, in any order of the reverts', async () => {
      await write({ id: 'chain', a: 'x', b: 1 })
      await sheet.compute('chain', 'one', 'v1', 'h')
      await sheet.compute('chain', 'next', { n: 1 }, 'n1')
      await sheet.compute('chain', 'one', 'v2', 'h')
      await sheet.compute('chain', 'next', { n: 2 }, 'n2')
      await sheet.compute('chain', 'code', 'c', 'c')
      await reverted(await entryOf('chain', 'one'))
      assert.equal(await stateOf('chain', 'next'), 'stale')
      assert.equal(await stateOf('chain', 'code'), 'fresh', 'it is computed from b')
      await sheet.compute('chain', 'next', { n: 1 }, 'n1')
      const entries = [await entryOf('chain', 'next'), await entryOf('chain', 'one')]
      await reverted(...entries)
      assert.deepEqual(await valueOf('chain', 'next'), { n: 2 })
      assert.equal(await stateOf('chain', 'next'), 'stale')
    })

    test('a cell that no longer has the value of the entry is a conflict and is skipped', async () => {
      const cases: [what: string, meanwhile: () => Promise<unknown>][] = [
        ['written', () => sheet.write([{ id: 'later', one: 'corrected' }])],
        ['computed', () => sheet.compute('later', 'one', 'newer')],
        [
          'written there and back',
          () =>
            sheet.write([
              { id: 'later', one: 'x' },
              { id: 'later', one: 'v' },
            ]),
        ],
        ['deleted', () => sheet.store.delete(['later'], HUMAN)],
        [
          'created again',
          async () => {
            await sheet.store.delete(['later'], HUMAN)
            await write({ id: 'later', a: 'x', one: 'v' })
          },
        ],
      ]
      for (const [what, meanwhile] of cases) {
        await sheet.store.delete(['later'], HUMAN)
        await write({ id: 'later', a: 'x' })
        await sheet.compute('later', 'one', 'v')
        const entry = await entryOf('later', 'one')
        await meanwhile()
        const before = await sheet.get('later')
        const history = await sheet.history('later', 'one')
        await conflicts(entry)
        assert.deepEqual(await sheet.get('later'), before, what)
        assert.deepEqual(await sheet.history('later', 'one'), history, what)
      }
    })

    test('an entry of an earlier record with the same id is a conflict, even if nothing was written since', async () => {
      await write({ id: 'life', b: 1 })
      await sheet.write([{ id: 'life', b: null }])
      await sheet.write([{ id: 'life', one: 'x' }])
      await sheet.write([{ id: 'life', one: null }])
      const entry = await entryOf('life', 'b')
      const derived = await entryOf('life', 'one')
      await sheet.store.delete(['life'], HUMAN)
      assert.deepEqual(await entryOf('life', 'b'), entry, 'a deletion tells of values only')
      await conflicts(entry, derived)
      await write({ id: 'life' })
      assert.deepEqual(await entryOf('life', 'b'), entry)
      await conflicts(entry, derived)
      assert.equal(await valueOf('life', 'b'), null)
    })

    test('a value of the earlier record is never restored in a cell of the present one', async () => {
      await write({ id: 'again', a: 'x' })
      await sheet.compute('again', 'one', null, 'h')
      await sheet.store.delete(['again'], HUMAN)
      await write({ id: 'again', a: 'x', one: 'by hand' })
      assert.deepEqual(await revert([await entryOf('again', 'one')], { actor: HUMAN }), {
        reverted: 1,
        conflicts: [],
      })
      assert.equal(await stateOf('again', 'one'), 'missing')
    })

    test('changes in the same transaction as a revert count', async () => {
      await write({ id: 'shared', a: 'x' })
      await sheet.compute('shared', 'one', 'v')
      const entry = await entryOf('shared', 'one')
      const all = await Promise.all([
        sheet.write([{ id: 'shared', b: 1 }]),
        sheet.write([{ id: 'shared', b: 2 }]),
        sheet.write([{ id: 'shared', one: 'corrected' }]),
        revert([entry]),
      ])
      assert.deepEqual(all.at(-1), { reverted: 0, conflicts: [{ recordId: 'shared', field: 'one' }] })
      assert.equal(await valueOf('shared', 'one'), 'corrected')
    })

    test('an entry is reverted once, however often it is named', async () => {
      await write({ id: 'twice', a: 'x' })
      await sheet.compute('twice', 'one', 'v')
      const entry = await entryOf('twice', 'one')
      const conflict = { recordId: 'twice', field: 'one' }
      assert.deepEqual(await revert([entry, { ...entry }]), { reverted: 1, conflicts: [conflict] })
      assert.deepEqual(await revert([entry]), { reverted: 0, conflicts: [conflict] })
      assert.equal((await sheet.history('twice', 'one')).length, 2)
    })

    test('a value written by hand can be reverted, and makes its dependants stale', async () => {
      await write({ id: 'hand', a: 'x', list: [1, { a: 'b' }] })
      await sheet.compute('hand', 'one', 'v')
      await sheet.write([{ id: 'hand', list: null }])
      await reverted(await entryOf('hand', 'list'))
      assert.deepEqual(await valueOf('hand', 'list'), [1, { a: 'b' }])
      assert.equal(await stateOf('hand', 'one'), 'fresh')
      await sheet.write([{ id: 'hand', a: 'y' }])
      await sheet.compute('hand', 'one', 'w')
      await reverted(await entryOf('hand', 'a'))
      assert.equal(await valueOf('hand', 'a'), 'x')
      assert.equal(await stateOf('hand', 'one'), 'stale')
    })

    test('D7: reverting a value written by hand requires the permission to write the field', async () => {
      await write({ id: 'mine', a: 'x', owned: 'first' })
      await sheet.write([{ id: 'mine', owned: 'second', one: 'by hand', a: 'y' }])
      const entries = await Promise.all(['a', 'owned', 'one'].map((field) => entryOf('mine', field)))
      const message = await refused(sheet, () => revert(entries, { actor: NOBODY }), PermissionDeniedError)
      assert.match(
        message,
        /"mine", field "owned": actor "visitor:eve" may not write it; .*human:\*.*; .*"one"/,
      )
      assert.doesNotMatch(message, /field "a"/)
      assert.deepEqual(await revert(entries, { actor: HUMAN }), { reverted: 3, conflicts: [] })
      assert.equal(await valueOf('mine', 'owned'), 'first')
      assert.equal(await stateOf('mine', 'one'), 'missing')
      const undone = [await entryOf('mine', 'one')]
      await refused(sheet, () => revert(undone, { actor: NOBODY }), PermissionDeniedError)
    })

    test('D7: anyone may revert a computed value, as anyone may compute it, and revert that revert', async () => {
      await write({ id: 'ours', a: 'x', one: 'by hand', b: 1 })
      await sheet.compute('ours', 'one', 'v')
      await sheet.compute('ours', 'next', { n: 1 })
      for (const field of ['one', 'next']) {
        for (const value of [field === 'one' ? 'by hand' : null, field === 'one' ? 'v' : { n: 1 }]) {
          const result = await revert([await entryOf('ours', field)], { actor: NOBODY })
          assert.deepEqual(result, { reverted: 1, conflicts: [] })
          assert.deepEqual(await valueOf('ours', field), value)
        }
      }
      assert.equal(await stateOf('ours', 'next'), 'stale')
    })

    test('entries of a cell are reverted one by one, the last first, whoever wrote them', async () => {
      await write({ id: 'stack', a: 'A' })
      await sheet.write([{ id: 'stack', a: 'B' }])
      await sheet.write([{ id: 'stack', a: 'C' }])
      const steps: [value: JsonValue, hash: string | null][] = [
        ['v0', 'h'],
        ['v1', 'h'],
        ['by hand', null],
        ['v2', 'h'],
        ['v3', 'g'],
      ]
      for (const [value, hash] of steps) {
        if (hash === null) await sheet.write([{ id: 'stack', one: value }])
        else await sheet.compute('stack', 'one', value, hash)
      }
      const undoAll = async (field: string, wanted: readonly JsonValue[]): Promise<void> => {
        const entries = await sheet.history('stack', field)
        for (const [index, { seq }] of entries.toReversed().entries()) {
          const entry = { seq: Number(seq), recordId: 'stack', field }
          assert.deepEqual(await revert([entry], { actor: HUMAN }), { reverted: 1, conflicts: [] })
          assert.equal(await valueOf('stack', field), wanted[index])
          await conflicts(entry)
          assert.equal((await sheet.latest('stack', field))?.['reverts'], entry.seq)
        }
      }
      await undoAll('a', ['B', 'A', null])
      const hashes: unknown[] = []
      const states: unknown[] = []
      const entries = (await sheet.history('stack', 'one')).toReversed()
      for (const { seq } of entries) {
        await revert([{ seq: Number(seq), recordId: 'stack', field: 'one' }], { actor: HUMAN })
        const cell = (await sheet.workOf('stack', 'one')).cells[0]
        states.push(`${JSON.stringify(await valueOf('stack', 'one'))} ${cell?.state}`)
        hashes.push(cell?.inputHash)
      }
      assert.deepEqual(states, [
        '"v2" stale',
        '"by hand" overridden',
        '"v1" stale',
        '"v0" stale',
        'null missing',
      ])
      assert.deepEqual(hashes, [hashOf('h'), null, hashOf('h'), hashOf('h'), null])
    })

    test('a revert among several can be reverted, and the others continue from there', async () => {
      await write({ id: 'pile', a: 'x' })
      for (const value of ['v0', 'v1', 'v2']) await sheet.compute('pile', 'one', value, 'h')
      const [v0, v1, v2] = (await sheet.history('pile', 'one')).map(({ seq }) => ({
        seq: Number(seq),
        recordId: 'pile',
        field: 'one',
      }))
      assert.ok(v0 && v1 && v2)
      await conflicts(v1)
      await reverted(v2)
      await reverted(v1)
      await conflicts(v2)
      await reverted(await entryOf('pile', 'one'))
      assert.equal(await valueOf('pile', 'one'), 'v1')
      assert.equal(await stateOf('pile', 'one'), 'fresh')
      await conflicts(v2)
      await conflicts(v0)
      await reverted(v1)
      await sheet.write([{ id: 'pile', one: 'by hand' }])
      await conflicts(v0)
      await refused(
        sheet,
        async () => revert([await entryOf('pile', 'one')], { actor: NOBODY }),
        PermissionDeniedError,
      )
      await revert([await entryOf('pile', 'one')], { actor: HUMAN })
      assert.equal(await valueOf('pile', 'one'), 'v0')
      await reverted(v0)
      assert.equal(await stateOf('pile', 'one'), 'missing')
    })

    test('after any reverts in any order, a cell has the value of a model', async () => {
      const random = seededRandom(20_260_401)
      for (let round = 0; round < 2 * RANDOM_TIMES; round += 1) {
        const id = `model${round}`
        await write({ id, a: 'x' })
        const model = new CellModel()
        for (let step = 0; step < 25; step += 1) {
          const what = `seed ${random.seed}, round ${round}, step ${step}`
          const asked = model.entries.length === 0 ? null : random.pick(model.entries)
          if (asked === null || random.chance(0.4)) {
            const hash = random.chance(0.6) ? random.pick(['h', 'g']) : null
            const value = `v${step}`
            if (hash === null) await sheet.write([{ id, one: value }])
            else await sheet.compute(id, 'one', value, hash)
            model.wrote((await entryOf(id, 'one')).seq, { value, hash })
          } else {
            const latest = model.entries.at(-1) ?? asked
            const { seq } = random.chance(0.3) ? latest : asked
            const possible = model.undo(seq)
            const result = await revert([{ seq, recordId: id, field: 'one' }], { actor: HUMAN })
            assert.equal(result.reverted, possible ? 1 : 0, `${what}: undo ${seq}`)
            if (possible) model.undid((await entryOf(id, 'one')).seq)
          }
          const { value, hash } = model.now
          assert.equal(await valueOf(id, 'one'), value, what)
          const cell = (await sheet.workOf(id, 'one')).cells[0]
          assert.equal(cell?.inputHash ?? null, hash === null ? null : hashOf(hash), what)
          const byHand = value === null ? 'missing' : 'overridden'
          if (hash === null) assert.equal(cell?.state, byHand, what)
        }
      }
    })

    test('a reverted result is removed from the cache, and the others of its call are kept', async () => {
      await write({ id: 'paid', a: 'x', b: 1 })
      const hash = hashOf('paid')
      const provenance = {
        cached: false,
        method: 'GET',
        url: 'https://a.example/',
        status: 200,
        duration_ms: 1,
      }
      const [one, code] = [await sheet.workOf('paid', 'one'), await sheet.workOf('paid', 'code')]
      await sheet.store.commitCells({
        ...(await sheet.commitOf()),
        cells: [
          sheet.result(one, 'one', computed('bad', 'paid')),
          sheet.result(code, 'code', computed('good', 'paid')),
        ],
        cache: [{ inputHash: hash, values: { one: 'bad', code: 'good' }, provenance }],
      })
      const cached = async () => (await sheet.store.cached([hash])).get(hash)
      await sheet.write([{ id: 'paid', one: 'by hand' }])
      await conflicts({ ...(await entryOf('paid', 'one')), seq: (await entryOf('paid', 'code')).seq - 1 })
      await revert([await entryOf('paid', 'one')], { actor: HUMAN })
      assert.deepEqual((await cached())?.values, { one: 'bad', code: 'good' }, 'what is by hand is no answer')
      const first = (await sheet.history('paid', 'one'))[0]
      await reverted({ seq: Number(first?.['seq']), recordId: 'paid', field: 'one' })
      assert.deepEqual(await cached(), { inputHash: hash, values: { code: 'good' }, provenance })
      await reverted(await entryOf('paid', 'one'))
      assert.equal(await valueOf('paid', 'one'), 'bad')
      await reverted(await entryOf('paid', 'one'))
      assert.deepEqual((await cached())?.values, { code: 'good' }, 'a revert is no answer')
      await reverted(await entryOf('paid', 'code'))
      assert.equal(await cached(), undefined)
    })

    test('D7: the deletion of a record is a conflict for every actor, for derived fields too', async () => {
      await write({ id: 'dead', a: 'x', one: 'by hand', owned: 'mine' })
      await sheet.store.delete(['dead'], HUMAN)
      const entries = await Promise.all(['a', 'one', 'owned'].map((field) => entryOf('dead', field)))
      for (const again of [false, true]) {
        if (again) await write({ id: 'dead' })
        const { reverted: count, conflicts: left } = await revert(entries, { actor: NOBODY })
        assert.deepEqual([count, left.length], [0, 3])
      }
    })

    test('D7: a conflict needs no permission', async () => {
      await write({ id: 'left', one: 'by hand', owned: 'mine' })
      const entries = [await entryOf('left', 'one'), await entryOf('left', 'owned')]
      await sheet.write([{ id: 'left', one: 'other', owned: 'other' }])
      const { reverted: count, conflicts: left } = await revert(entries, { actor: NOBODY })
      assert.deepEqual([count, left.length], [0, 2])
    })

    test('a value that the contract does not allow is a conflict', async () => {
      await write({ id: 'needed' })
      await conflicts(await entryOf('needed', 'must'))
      assert.equal(await valueOf('needed', 'must'), 'be')
    })

    test('values of a unique field can be exchanged; one that another record has is a conflict', async () => {
      await sheet.write([
        { id: 'u1', must: 'be', tag: 'x' },
        { id: 'u2', must: 'be', tag: 'y' },
      ])
      await sheet.write([
        { id: 'u1', tag: 'y' },
        { id: 'u2', tag: 'x' },
      ])
      const [first, second] = [await entryOf('u1', 'tag'), await entryOf('u2', 'tag')]
      await conflicts(first)
      await conflicts(second)
      await reverted(first, second)
      assert.deepEqual([await valueOf('u1', 'tag'), await valueOf('u2', 'tag')], ['x', 'y'])
    })

    test('a conflict can prevent the revert of other values of a unique field', async () => {
      await sheet.write(['p', 'q', 'r'].map((tag) => ({ id: tag, must: 'be', tag })))
      await sheet.write([
        { id: 'p', tag: 's' },
        { id: 'q', tag: 'p' },
        { id: 'r', tag: 'q' },
      ])
      const entries = await Promise.all(['p', 'q', 'r'].map((id) => entryOf(id, 'tag')))
      await write({ id: 'other', tag: 'r' })
      await conflicts(...entries)
      await sheet.store.delete(['other'], HUMAN)
      await reverted(...entries)
      assert.deepEqual(await Promise.all(['p', 'q', 'r'].map((id) => valueOf(id, 'tag'))), ['p', 'q', 'r'])
    })

    test('D28: a late result does not overwrite a reverted value', async () => {
      await write({ id: 'late', a: 'x' })
      await sheet.compute('late', 'one', 'v1', 'h')
      await sheet.compute('late', 'one', 'v2', 'h')
      await sheet.compute('late', 'next', { n: 1 })
      const one = await sheet.workOf('late', 'one')
      const next = await sheet.workOf('late', 'next')
      await reverted(await entryOf('late', 'one'))
      assert.deepEqual(await sheet.commit(sheet.result(one, 'one', computed('v3', 'h'))), [
        { outcome: 'superseded' },
      ])
      assert.deepEqual(await sheet.commit(sheet.result(next, 'next', computed({ n: 2 }, 'n'))), [
        { outcome: 'superseded' },
      ])
      assert.equal(await valueOf('late', 'one'), 'v1')
    })

    test('entries, records and fields that do not exist', async () => {
      await write({ id: 'there', a: 'x' })
      const entry = await entryOf('there', 'a')
      await assert.rejects(revert([{ ...entry, seq: entry.seq + 1000 }]), (error) => {
        assert.ok(error instanceof SheetError)
        assert.match(error.message, /record "there", field "a": there is no provenance entry \d+/)
        return true
      })
      await assert.rejects(revert([{ ...entry, field: 'b' }]), SheetError)
      for (const recordId of ['nobody', '\ud800']) {
        await assert.rejects(revert([{ ...entry, recordId }]), SheetError)
      }
      await assert.rejects(revert([{ ...entry, field: 'id' }]), ValidationError)
      await conflicts({ ...entry, field: 'gone' })
      assert.equal(await valueOf('there', 'a'), 'x')
    })

    test('a run of computations is reverted completely, as a run of its own, and so is that run', async () => {
      const ids = Array.from({ length: 40 }, (_, index) => `run${index}`)
      await sheet.write(ids.map((id) => ({ id, must: 'be', a: id })))
      const run = await sheet.store.startRun(newRun({ kind: 'materialize' }))
      for (const id of ids) {
        const item = await sheet.workOf(id, 'one')
        await sheet.store.commitCells({
          ...(await sheet.commitOf()),
          run,
          cells: [sheet.result(item, 'one', computed(`<${id}>`, id))],
        })
      }
      await sheet.write([{ id: 'run7', one: 'corrected' }])

      const undo = async (of: RunId): Promise<{ id: RunId; result: RevertResult }> => {
        const id = await sheet.store.startRun(newRun({ kind: 'revert', reverts: of }))
        const entries = await sheet.store.runEntries({ run: of, before: null, limit: 1000 })
        return { id, result: await revert(entries, { run: id }) }
      }
      const first = await undo(run)
      const conflict = { recordId: 'run7', field: 'one' }
      assert.deepEqual(first.result, { reverted: 39, conflicts: [conflict] })
      for (const id of ids) {
        assert.equal(await valueOf(id, 'one'), id === 'run7' ? 'corrected' : null)
        assert.equal(await stateOf(id, 'one'), id === 'run7' ? 'overridden' : 'missing')
      }
      const stored = await sheet.store.run(first.id)
      assert.deepEqual([stored?.materialized, stored?.skipped], [39, 1])
      assert.equal((await sheet.latest('run3', 'one'))?.['run_id'], first.id)
      const again = await undo(run)
      assert.deepEqual([again.result.reverted, again.result.conflicts.length], [0, 40])

      const second = await undo(first.id)
      assert.deepEqual(second.result, { reverted: 39, conflicts: [] })
      assert.equal(await valueOf('run3', 'one'), '<run3>')
      assert.equal(await valueOf('run7', 'one'), 'corrected')
      assert.equal(await stateOf('run3', 'one'), 'stale')
    })

    test('D32: after all this the counters equal the states of the cells', async () => {
      const ids = (await sheet.all()).map(({ id }) => id as string)
      for (const { field } of CELL_TARGETS) {
        const found = { fresh: 0, stale: 0, missing: 0, failed: 0, overridden: 0 }
        for (const id of ids) found[(await stateOf(id, field)) ?? 'fresh'] += 1
        const { fresh, stale, missing, failed, overridden } = await sheet.counts(field)
        assert.deepEqual({ fresh, stale, missing, failed, overridden }, found, field)
      }
    })
  })

  test('D34: after a revert the log file and the store agree, and a restart finds both unchanged', async (t) => {
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: a, logicalType: string}', '{name: one, logicalType: string}'],
      targets: [target('one', ['a'])],
      records: [{ id: 'r', a: 'x', one: 'imported' }],
    })
    await sheet.compute('r', 'one', 'v')
    const entry = await sheet.latest('r', 'one')
    const ref = { seq: Number(entry?.['seq']), recordId: 'r', field: 'one' }
    const run = await sheet.store.startRun(newRun({ kind: 'revert' }))
    await sheet.store.revert({ actor: AGENT, entries: [ref], run })
    assert.equal((await sheet.get('r'))?.['one'], 'imported')
    assert.equal((await sheet.counts('one')).overridden, 1)
    const before = await sheet.latest('r', 'one')
    await sheet.reopen()
    assert.deepEqual(await sheet.latest('r', 'one'), before)
    await sheet.close()
    const log = await sheet.log()
    assert.deepEqual(log.at(-1), before)
    assert.deepEqual(
      log.map(({ seq, source }) => [seq, source]),
      [
        [1, 'import'],
        [2, 'http'],
        [3, 'revert'],
      ],
    )
  })

  test('a derived cell becomes missing again even if the contract requires a value', async (t) => {
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: a, logicalType: string}', '{name: one, logicalType: string, required: true}'],
      targets: [target('one', ['a'])],
      records: [{ id: 'r', a: 'x' }],
    })
    await sheet.compute('r', 'one', 'v')
    const entries = [{ seq: 2, recordId: 'r', field: 'one' }]
    const result = await sheet.store.revert({ actor: AGENT, entries, run: null })
    assert.deepEqual(result, { reverted: 1, conflicts: [] })
    assert.equal((await sheet.counts('one')).missing, 1)
  })

  test('an entry of an earlier log that claims to revert itself, or nothing, is a conflict like others of that log', async (t) => {
    const common = { at: '2026-01-01T00:00:00.000Z', actor: 'human:old', source: 'revert', record_id: 'r' }
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: a, logicalType: string}', '{name: one, logicalType: string}'],
      targets: [target('one', ['a'])],
      log: [
        { seq: 1, ...common, field: 'one', value: 'x', previous: null, reverts: 1 },
        { seq: 2, ...common, field: 'one', value: 'y', previous: 'x' },
      ],
    })
    for (const seq of [1, 2]) {
      const entries = [{ seq, recordId: 'r', field: 'one' }]
      const { reverted, conflicts } = await sheet.store.revert({ actor: HUMAN, entries, run: null })
      assert.deepEqual([reverted, conflicts.length], [0, 1])
    }
  })

  test('D2: reverting imported values requires the permission to write them', async (t) => {
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: a, logicalType: string}', '{name: one, logicalType: string}'],
      targets: [target('one', ['a'])],
      records: [{ id: 'r', a: 'x', one: 'imported' }],
    })
    const entry = (field: string): EntryRef => ({ seq: 1, recordId: 'r', field })
    await assert.rejects(
      sheet.store.revert({ actor: HUMAN, entries: [entry('one')], run: null }),
      PermissionDeniedError,
    )
    await sheet.compute('r', 'one', 'v')
    const result = await sheet.store.revert({ actor: HUMAN, entries: [entry('a')], run: null })
    assert.deepEqual(result, { reverted: 1, conflicts: [] })
    assert.deepEqual(await sheet.get('r'), { id: 'r', a: null, one: 'v' })
    assert.equal((await sheet.counts('one')).stale, 1)
  })
}

/** The value of a cell; `hash` is null for an overridden and for an empty cell. */
interface Held {
  readonly value: string | null
  readonly hash: string | null
}

/**
 * A model of a cell as a stack: a write pushes a value, undoing the top pops it, undoing a revert restores the stack before
 * it.
 */
class CellModel {
  /** Every entry with the stack before it, oldest first. */
  readonly entries: { seq: number; before: readonly (Held & { seq: number })[]; isRevert: boolean }[] = []
  #stack: readonly (Held & { seq: number })[] = []
  #next: readonly (Held & { seq: number })[] = []

  get now(): Held {
    return this.#stack.at(-1) ?? { value: null, hash: null }
  }

  wrote(seq: number, held: Held): void {
    this.entries.push({ seq, before: this.#stack, isRevert: false })
    this.#stack = [...this.#stack, { ...held, seq }]
  }

  /** Whether the entry can be undone; call {@link undid} when it was. */
  undo(seq: number): boolean {
    const entry = this.entries.find((candidate) => candidate.seq === seq)
    const possible =
      entry?.isRevert === true ? this.entries.at(-1) === entry : this.#stack.at(-1)?.seq === seq
    if (possible) this.#next = entry?.isRevert === true ? entry.before : this.#stack.slice(0, -1)
    return possible
  }

  undid(seq: number): void {
    this.entries.push({ seq, before: this.#stack, isRevert: true })
    this.#stack = this.#next
  }
}
