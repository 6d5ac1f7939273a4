import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { InputBytes, RecordKey, WorkItem, WorkQuery } from '../cell-work.ts'
import type { SheetStore, TargetDefinition, WorkState } from '../sheet-store.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import { hashOf, HUMAN, IN_TURN, sha256, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

async function failureNote(sheet: TestSheet, id: string): ReturnType<SheetStore['cellFailure']> {
  const key = (await sheet.store.recordKeys([id])).get(id)
  assert.ok(key)
  return sheet.store.cellFailure(key, 'one')
}

/** Tests of the facts that explain the state of a cell, and of finding cells by state. */
export function testExplanations(open: OpenStore): void {
  suite('the explanation of a cell', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })

    const failureOf = async (id: string, field: string): ReturnType<SheetStore['cellFailure']> => {
      const key = (await sheet.store.recordKeys([id])).get(id)
      assert.ok(key)
      return sheet.store.cellFailure(key, field)
    }

    test('the failure of a cell is kept until the cell succeeds, is written by hand, or is deleted', async () => {
      await sheet.write([{ id: 'fails', a: 'x' }])
      assert.equal(await failureOf('fails', 'one'), null)
      for (const end of ['success', 'by hand', 'unchanged']) {
        if (end === 'unchanged') await sheet.compute('fails', 'one', 'v')
        await sheet.fail('fails', 'one', 'GET https://a.example/ -> 500')
        assert.equal((await failureOf('fails', 'one'))?.responseBody, undefined)
        await sheet.commit(
          sheet.result(await sheet.workOf('fails', 'one'), 'one', {
            kind: 'failed',
            error: 'GET https://a.example/ -> 503',
            errorType: 'ServiceError',
            reason: 'status',
            responseBody: 'down',
            ...(end === 'success' && { inputHash: hashOf(end) }),
          }),
        )
        const failure = await failureOf('fails', 'one')
        assert.match(failure?.at ?? '', /Z$/)
        assert.deepEqual(
          { ...failure, at: '' },
          {
            error: 'GET https://a.example/ -> 503',
            errorType: 'ServiceError',
            reason: 'status',
            responseBody: 'down',
            ...(end === 'success' && { inputHash: hashOf(end) }),
            at: '',
          },
        )
        assert.equal(await failureOf('fails', 'two'), null)
        await sheet.write([{ id: 'fails', a: end }])
        assert.notEqual(await failureOf('fails', 'one'), null, 'an input was written')
        const item = await sheet.workOf('fails', 'one')
        if (end === 'success') await sheet.compute('fails', 'one', 'v')
        else if (end === 'by hand') await sheet.write([{ id: 'fails', one: 'by hand' }])
        else await sheet.commit(sheet.result(item, 'one', { kind: 'unchanged' }))
        assert.equal(await failureOf('fails', 'one'), null, end)
        await sheet.write([{ id: 'fails', one: null }])
      }
      await sheet.fail('fails', 'one')
      const key = (await sheet.store.recordKeys(['fails'])).get('fails') ?? 0
      await sheet.store.delete(['fails'], HUMAN)
      assert.equal(await sheet.store.cellFailure(key, 'one'), null)
    })

    test('a run can be limited to cells of one state, with force and for some records too', async () => {
      const ids = Array.from({ length: 9 }, (_, index) => `state${index}`)
      await sheet.write(ids.map((id) => ({ id, a: id })))
      for (const id of ids.slice(0, 6)) {
        await sheet.compute(id, 'one', 'v')
        await sheet.compute(id, 'two', 'v')
      }
      await sheet.fail('state1', 'two')
      await sheet.write([{ id: 'state2', a: 'changed' }])
      await sheet.fail('state6', 'one')
      await sheet.write([{ id: 'state5', one: 'by hand' }])
      const keys = await sheet.store.recordKeys(ids)
      const find = async (state: WorkState | null, more: Partial<WorkQuery> = {}): Promise<string[]> => {
        const query = {
          targets: ['one', 'two'],
          inputs: ['a'],
          force: false,
          after: null,
          limit: 100,
          only: null,
        }
        const items = await sheet.store.work({ ...query, state, ...more })
        return items.map(({ id }) => id).filter((id) => id.startsWith('state'))
      }
      const expected: [WorkState | null, string[]][] = [
        ['failed', ['state1', 'state6']],
        ['stale', ['state2']],
        ['missing', ['state6', 'state7', 'state8']],
        [null, ['state1', 'state2', 'state6', 'state7', 'state8']],
      ]
      const only = [...keys.values()]
      for (const [state, wanted] of expected) {
        assert.deepEqual(await find(state), wanted, `${state}`)
        assert.deepEqual(await find(state, { only }), wanted, `${state} of these records`)
        const half = { only: only.slice(0, 7) }
        assert.deepEqual(
          await find(state, half),
          wanted.filter((id) => id <= 'state6'),
        )
        const forced = state === null ? ids : wanted
        assert.deepEqual(await find(state, { force: true }), forced, `${state} by force`)
        assert.deepEqual(await find(state, { force: true, only }), forced)
      }
      assert.deepEqual(await find('failed', { targets: ['one'] }), ['state6'])
      assert.deepEqual(await find('stale', { targets: ['next'] }), [])
      const from = { after: keys.get('state6') ?? null, limit: 1 }
      assert.deepEqual(await find('missing', from), ['state7'])
      assert.deepEqual(await find('missing', { ...from, only }), ['state7'])
      assert.deepEqual(await find('failed', from), [])
    })
  })

  test('pending cells are read with their failures if requested: the time, and the inputs of permanent ones', async (t) => {
    const sheet = await TestSheet.make(t, open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })
    await sheet.write(['lasts', 'passes', 'missing'].map((id) => ({ id, a: 'x' })))
    const failed = {
      kind: 'failed',
      error: 'GET https://a.example/ -> 404',
      errorType: 'ServiceError',
      reason: 'status',
    } as const
    const lasting = { ...failed, inputHash: hashOf('lasts') }
    await sheet.commit(sheet.result(await sheet.workOf('lasts', 'one'), 'one', lasting))
    await sheet.commit(sheet.result(await sheet.workOf('passes', 'one'), 'one', failed))
    const query = { inputs: ['a'], force: false, state: null, after: null, limit: 100, only: null }
    const targets = ['one', 'two']
    const found = await sheet.store.work({ ...query, targets, failures: true })
    const at = (await failureNote(sheet, 'lasts'))?.at
    assert.deepEqual(
      found.map(({ id, cells }) => [id, ...cells.map(({ failure }) => failure)]),
      [
        ['lasts', { at, inputHash: hashOf('lasts') }, undefined],
        ['passes', { at: (await failureNote(sheet, 'passes'))?.at, inputHash: null }, undefined],
        ['missing', undefined, undefined],
      ],
    )
    const plain = await sheet.store.work({ ...query, targets })
    assert.ok(plain.every(({ cells }) => cells.every((cell) => !('failure' in cell))))
  })

  test('records with more inputs than the limit come alone, without their long values', async (t) => {
    const sheet = await TestSheet.make(t, open, {
      properties: ['a: string', 'list: array', 'n: number', 'b: string'].map((property) => {
        const [name, type] = property.split(': ')
        return `{name: ${name}, logicalType: ${type}}`
      }),
      targets: [target('b', ['a', 'list', 'n'])],
    })
    const list = Array.from({ length: 1000 }, (_, n) => ({ z: n, a: n }))
    await sheet.write([
      { id: 'p', a: 'x' },
      { id: 'r', a: 'é'.repeat(600), list, n: 1.5 },
      { id: 's', a: 'x', list: [], n: 2 },
      { id: 't' },
    ])
    const query = {
      targets: ['b'],
      inputs: ['a', 'list', 'n'],
      force: true,
      state: null,
      limit: 10,
      only: null,
    }
    const pages = async (inputLimit?: InputBytes): Promise<unknown[]> => {
      const found: unknown[] = []
      for (let after: RecordKey | null = null; ;) {
        const items: readonly WorkItem[] = await sheet.store.work({
          ...query,
          after,
          ...(inputLimit !== undefined && { inputLimit }),
        })
        after = items.at(-1)?.key ?? null
        if (after === null) return found
        found.push(items.map(({ id, inputs, tooLong }) => [id, inputs['a'], inputs['list'], tooLong?.text]))
      }
    }
    const [a, long] = ['é'.repeat(600), 1200]
    const [p, ...rest] = [
      ['p', 'x', null, undefined],
      ['s', 'x', [], undefined],
      ['t', null, null, undefined],
    ]
    assert.deepEqual(await pages(), [[p, ['r', a, list, undefined], ...rest]])
    assert.deepEqual(await pages({ text: long, json: 1 << 20 }), [[p, ['r', a, list, undefined], ...rest]])
    assert.deepEqual(await pages({ text: long - 1, json: 1 << 20 }), [[p], [['r', true, true, long]], rest])
    assert.deepEqual(await pages({ text: long, json: 1 << 10 }), [[p], [['r', true, true, long]], rest])
  })

  test('inputs are read 256 KiB at a time', async (t) => {
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: a, logicalType: string}', '{name: b, logicalType: string}'],
      targets: [target('b', ['a'])],
    })
    await sheet.write(['1', '2', '3', '4', '5'].map((id) => ({ id, a: id.repeat(100 << 10) })))
    const query = { targets: ['b'], inputs: ['a'], force: true, state: null, limit: 10, only: null }
    const inputLimit = { text: 1 << 20, json: 0 }
    const first = await sheet.store.work({ ...query, inputLimit, after: null })
    const second = await sheet.store.work({ ...query, inputLimit, after: first.at(-1)?.key ?? null })
    assert.deepEqual(
      [first, second].map((items) => items.map(({ id }) => id)),
      [
        ['1', '2'],
        ['3', '4'],
      ],
    )
  })

  test('every applied version of a derivation file is kept, newest first, each once', async (t) => {
    const version = (text: string, derivation = 'label.yaml'): TargetDefinition =>
      target('label', ['name'], { text, sha256: sha256(text), derivation })
    const properties = [
      '{name: name, logicalType: string}',
      '{name: label, logicalType: string}',
      '{name: b, logicalType: string}',
    ]
    const sheet = await TestSheet.make(t, open, { properties, targets: [version('first')] })
    const texts = async (): Promise<string[]> =>
      (await sheet.store.derivationVersions('label.yaml')).map(({ text }) => text)
    assert.deepEqual(await texts(), ['first'])
    const second = version('second \u2028')
    await sheet.define({ targets: [second, { ...second, field: 'b' }] })
    await sheet.define({ targets: [version('third')] })
    await sheet.define({ targets: [version('first')] })
    await sheet.define({ targets: [] })
    await sheet.define({ targets: [version('elsewhere', 'other.yaml')] })
    await sheet.reopen()
    assert.deepEqual(await texts(), ['third', 'second \u2028', 'first'])
    const [newest] = await sheet.store.derivationVersions('label.yaml')
    assert.equal(newest?.sha256, sha256('third'))
    assert.match(newest?.at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(
      (await sheet.store.derivationVersions('other.yaml')).map(({ text }) => text),
      ['elsewhere'],
    )
    assert.deepEqual(await sheet.store.derivationVersions('none.yaml'), [])
  })
}
