import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { QueryError } from '../../errors/service-error.ts'
import type { CellResult } from '../cell-work.ts'
import type { Condition } from '../condition.ts'
import type { FailureGroup, FailureGroups, GroupedFailures } from '../sheet-store.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import { computed, FIRST_PAGE, IN_TURN, TestSheet, type OpenStore } from './support/test-sheet.ts'

type Failed = Extract<CellResult['result'], { kind: 'failed' }>

/** Returns the failure of a call for a record, at one of two hosts. */
function failed(id: string, detail: string, host = 'a'): Failed {
  const error = `GET https://${host}.example/items/${id} -> ${detail}`
  return {
    kind: 'failed',
    error,
    detail,
    errorType: 'ServiceError',
    reason: 'status',
    responseBody: `no ${id}`,
  }
}

/** Tests of failed cells grouped by reason. */
export function testFailureGroups(open: OpenStore): void {
  suite('groups of failures', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })

    async function fail(id: string, failure: Failed, fields: readonly string[] = ['one']): Promise<void> {
      const items = await Promise.all(fields.map((field) => sheet.workOf(id, field)))
      await sheet.commit(...items.map((item, index) => sheet.result(item, fields[index] ?? '', failure)))
    }
    async function groups(failures: Partial<GroupedFailures> = {}): Promise<readonly FailureGroup[]> {
      const text = await sheet.store.failureGroups({ filter: null, where: null, run: null, ...failures })
      const found = JSON.parse(String(text)) as FailureGroups
      assert.equal(
        found.cells,
        found.groups.reduce((sum, { cells }) => sum + cells, 0),
      )
      return found.groups
    }
    const named = (found: readonly FailureGroup[]) => found.map(({ text, fields }) => [text, fields] as const)
    async function selected(where: Condition): Promise<string> {
      const { records } = await sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 100, where })
      return (JSON.parse(String(records)) as { id: string }[]).map(({ id }) => id).join()
    }

    test('failures of one way at one host are one group, of several fields too; the largest is first', async () => {
      assert.deepEqual(await groups(), [])
      await sheet.write(['p', 'q', 'r', 's'].map((id, b) => ({ id, a: id, b })))
      await fail('p', failed('p', '404'))
      await fail('q', failed('q', '404'), ['one', 'two'])
      await fail('r', failed('r', '404', 'b'))
      await fail('s', {
        kind: 'failed',
        error: 's.sql -> no such row',
        errorType: 'ServiceError',
        reason: null,
      })
      const found = await groups()
      assert.deepEqual(
        new Set(named(found).slice(1)),
        new Set([
          ['GET https://b.example/items/r -> 404', { one: 1 }],
          ['s.sql -> no such row', { one: 1 }],
        ]),
      )
      const { id, ...first } = found[0] ?? assert.fail()
      assert.match(id, /^[0-9a-f]{13}$/)
      assert.deepEqual(first, {
        text: 'GET https://a.example/… -> 404',
        error_type: 'ServiceError',
        reason: 'status',
        response_body: 'no p',
        cells: 3,
        fields: { one: 2, two: 1 },
        record_id: 'p',
      })
    })

    test('they are those of the records that a filter and a condition select', async () => {
      const among = async (failures: Partial<GroupedFailures>) =>
        named(await groups(failures)).map(([, fields]) => fields)
      const a: Condition = {
        kind: 'field',
        field: { name: 'a', type: 'string' },
        operator: 'anyOf',
        operands: ['q', 'r'],
      }
      assert.deepEqual(await among({ filter: 'b < 2' }), [{ one: 2, two: 1 }])
      assert.deepEqual(await among({ filter: 'b < 2', where: a }), [{ one: 1, two: 1 }])
      assert.deepEqual(await among({ where: a }), [{ one: 1, two: 1 }, { one: 1 }])
      assert.deepEqual(await among({ filter: 'b > 9' }), [])
      await assert.rejects(groups({ filter: 'b >' }), QueryError)
      await assert.rejects(groups({ filter: '1) UNION SELECT 1 WHERE (1' }), QueryError)
      await assert.rejects(groups({ filter: '(SELECT count(*) FROM "$failure") > 0' }), QueryError)
    })

    test('a condition selects the records with a cell of a group', async () => {
      const [largest] = await groups()
      const [id = ''] = [largest?.id]
      const other = (await groups()).find(({ text }) => text.includes('b.example'))?.id ?? ''
      assert.equal(await selected({ kind: 'failure', groups: [id], fields: null }), 'p,q')
      assert.equal(await selected({ kind: 'failure', groups: [id], fields: ['two'] }), 'q')
      assert.equal(await selected({ kind: 'failure', groups: [id, other], fields: null }), 'p,q,r')
      assert.equal(await selected({ kind: 'failure', groups: ['0000000000000', 'none'], fields: null }), '')
      const where = { kind: 'failure', groups: [id], fields: null } as const
      const count = async (filter: string | null): Promise<unknown> =>
        JSON.parse(String(await sheet.store.summary({ fields: [], filter, where })))
      assert.deepEqual(await count(null), { count: 2, fields: {} })
      assert.deepEqual(await count('b > 0'), { count: 1, fields: {} })
      assert.deepEqual(named(await groups({ where })), [
        ['GET https://a.example/… -> 404', { one: 2, two: 1 }],
      ])
    })

    test('those of a run stay when a cell fails otherwise, or is computed', async () => {
      const run = await sheet.run()
      const before = await groups({ run })
      assert.deepEqual(named(before)[0], ['GET https://a.example/… -> 404', { one: 2, two: 1 }])
      assert.deepEqual(before.length, 3)
      const ofGroup = async (group: string) =>
        (await sheet.store.runFailures({ run, after: 0, limit: 10, group })).map(
          ({ recordId, field }) => `${recordId} ${field}`,
        )
      assert.deepEqual(await ofGroup(before[0]?.id ?? ''), ['p one', 'q one', 'q two'])
      await sheet.compute('p', 'one', 'v')
      await fail('q', failed('q', '500'))
      assert.deepEqual(
        named(await groups())
          .map(([text, fields]) => `${text} ${JSON.stringify(fields)}`)
          .toSorted(),
        [
          'GET https://a.example/items/q -> 404 {"two":1}',
          'GET https://a.example/items/q -> 500 {"one":1}',
          'GET https://b.example/items/r -> 404 {"one":1}',
          's.sql -> no such row {"one":1}',
        ],
      )
      assert.deepEqual(named(await groups({ run }))[0], named(before)[0])
      assert.deepEqual((await groups({ run })).length, 4)
      assert.deepEqual(await groups({ run: '999' }), [])
      await sheet.commit(sheet.result(await sheet.workOf('r', 'one'), 'one', computed('v', 'h')))
      await sheet.store.delete(['q', 's'], 'human:h')
      assert.deepEqual(await groups(), [])
      assert.deepEqual((await groups({ run })).length, 4)
    })

    test('a failed cell that waits for an input is not among them', async () => {
      await sheet.write([{ id: 'z', a: 'z', b: 9 }])
      await sheet.compute('z', 'one', 'v')
      await fail('z', failed('z', '404'), ['next'])
      const [group] = await groups()
      assert.deepEqual(group?.fields, { next: 1 })
      const where = { kind: 'failure', groups: [group?.id ?? ''], fields: null } as const
      assert.equal(await selected(where), 'z')
      await fail('z', failed('z', '500'))
      assert.equal((await sheet.counts('next')).blocked, 1)
      assert.deepEqual(
        named(await groups()).map(([, fields]) => fields),
        [{ one: 1 }],
      )
      assert.equal(await selected(where), '')
    })
  })
}
