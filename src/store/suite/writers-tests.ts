import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FieldChanges } from '../field-changes.ts'
import { AGENT, FIRST_PAGE, HUMAN, IN_TURN, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Enough fields that their bits do not fit one row. */
const WIDE = Array.from({ length: 60 }, (_, index) => `f${index}`)
const PROPERTIES = [
  ...WIDE.map((name) => `{name: ${name}, logicalType: string}`),
  "{name: label, logicalType: string, x-editable-by: ['*']}",
]

/** Tests who has written the present values of records. */
export function testWriters(open: OpenStore): void {
  suite('writers of values', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: PROPERTIES, targets: [target('label', ['f0'])] })

    async function foundBy(
      actors: readonly string[],
      { fields = null, runs = [] }: { fields?: readonly string[] | null; runs?: readonly string[] } = {},
    ): Promise<string> {
      const where = { kind: 'writer', actors, runs, fields } as const
      const { records } = await sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 100, where })
      const ids = (JSON.parse(String(records)) as { id: string }[]).map(({ id }) => id)
      const summary: unknown = JSON.parse(
        String(await sheet.store.summary({ fields: [], filter: null, where })),
      )
      assert.deepEqual(summary, { count: ids.length, fields: {} })
      return ids.join()
    }

    async function writersOf(id: string): Promise<readonly string[]> {
      const key = (await sheet.store.recordKeys([id])).get(id) ?? 0
      const cells = await sheet.store.cellWriters(new Map([[key, id]]))
      return cells
        .map(({ field, actor, run }) => `${field} ${actor}${run === null ? '' : ` in ${run}`}`)
        .toSorted(byField)
    }

    test('a value has the writer of its latest entry, also of more fields than a row holds', async () => {
      await sheet.write([{ id: 'a', f0: 'x', f59: 'y', f1: null }], 'agent:one')
      await sheet.write([{ id: 'b', f0: 'x' }], HUMAN)
      assert.deepEqual(await writersOf('a'), ['id agent:one', 'f0 agent:one', 'f59 agent:one'])
      await sheet.write([{ id: 'a', f59: 'z' }], HUMAN)
      assert.equal(await foundBy(['agent:*']), 'a')
      assert.equal(await foundBy(['agent:*'], { fields: ['f59'] }), '')
      assert.equal(await foundBy([HUMAN], { fields: ['f59'] }), 'a')
      await sheet.write([{ id: 'a', f59: null }], HUMAN)
      assert.equal(await foundBy([HUMAN]), 'b')
      assert.equal(await foundBy(['agent:?ne', HUMAN]), 'a,b')
    })

    test('a computed value is of its run until it is written again', async () => {
      await sheet.compute('a', 'label', 'L')
      const { latestRun } = await sheet.store.writerCounts()
      assert.deepEqual([latestRun?.actor, latestRun?.cells], [AGENT, 1])
      const runs = [latestRun?.run ?? '']
      assert.equal(await foundBy([], { runs }), 'a')
      assert.deepEqual(await writersOf('a'), [
        'id agent:one',
        'f0 agent:one',
        `label ${AGENT} in ${runs.join()}`,
      ])
      await sheet.write([{ id: 'a', label: 'M' }], HUMAN)
      assert.equal(await foundBy([], { runs }), '')
      assert.equal((await sheet.store.writerCounts()).latestRun, null)
    })

    test('cells are counted by actor, and a deleted record has none', async () => {
      const counted = async (): Promise<unknown> =>
        Object.fromEntries(
          (await sheet.store.writerCounts()).actors.map(({ actor, cells }) => [actor, cells]),
        )
      assert.deepEqual(await counted(), { 'agent:one': 2, [HUMAN]: 3 })
      await sheet.store.delete(['a'], HUMAN)
      assert.deepEqual(await counted(), { [HUMAN]: 2 })
      assert.equal(await foundBy(['agent:*']), '')
    })

    test('writers follow a renamed field, and values of a removed one do not count', async () => {
      await sheet.write([{ id: 'c', f0: 'x' }], HUMAN)
      await sheet.write([{ id: 'c', f1: 'y' }], 'agent:one')
      const named = (changes: Partial<FieldChanges>, ...names: readonly string[]) =>
        sheet.define(
          { properties: names.map((name) => `{name: ${name}, logicalType: string}`), targets: [] },
          changes,
        )
      const others = [...WIDE.slice(2), 'label']
      await named({ renamed: new Map([['f1', 'g1']]) }, 'f0', 'g1', ...others)
      assert.equal(await foundBy(['agent:one'], { fields: ['g1'] }), 'c')
      await named({ removed: new Map([['g1', 1]]) }, 'f0', ...others)
      assert.equal(await foundBy(['agent:one']), '')
      assert.equal(await foundBy([HUMAN]), 'b,c')
    })
  })
}

function byField(one: string, other: string): number {
  const place = (text: string): number => ['id', ...WIDE, 'label'].indexOf(text.split(' ')[0] ?? '')
  return place(one) - place(other)
}
