import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import { QueryError } from '../../errors/service-error.ts'
import { PAGE_BYTES } from '../page-bytes.ts'
import type { Page, PagePlace, PageQuery } from '../sheet-store.ts'
import { RANDOM_TIMES, seededRandom, type Random } from './support/random.ts'
import { FIRST_PAGE, HUMAN, IN_TURN, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Tests of pages of records. */
export function testPages(open: OpenStore): void {
  suite('pages', IN_TURN, () => {
    const properties = ['{name: group, logicalType: integer}', '{name: last, logicalType: string}']
    const sheet = TestSheet.shared(open, { properties })
    beforeEach(async () => {
      await sheet.empty()
    })

    test('D11: pages are in creation order, and next is null exactly when nothing follows', async () => {
      await sheet.write([{ id: 'z' }])
      assert.deepEqual(await pageOf(sheet, { limit: 1 }), { ids: ['z'], next: null })
      await sheet.write(['b', 'a', 'c'].map((id) => ({ id, last: `Last ${id}` })))
      await sheet.write([{ id: 'z', last: 'changed' }])
      for (const limit of [1, 2, 3, 4, 5]) {
        assert.deepEqual(
          (await sheet.all(limit)).map(({ id }) => id),
          ['z', 'b', 'a', 'c'],
          `pages of ${limit}`,
        )
      }
      assert.equal((await pageOf(sheet, { limit: 4 })).next, null)
      await sheet.store.delete(['b'], HUMAN)
      await sheet.write([{ id: 'b' }])
      assert.deepEqual(
        (await sheet.all(2)).map(({ id }) => id),
        ['z', 'a', 'c', 'b'],
      )
      await sheet.store.delete(['a', 'b', 'c', 'z'], HUMAN)
      assert.deepEqual(await pageOf(sheet, { limit: 1 }), { ids: [], next: null })
    })

    for (const filter of [null, '"group" < 5']) {
      const what = filter === null ? '' : ' (with a filter)'
      test(`D11: a record that exists during the whole walk is returned exactly once, whatever is added or removed${what}`, async () => {
        for (let seed = 1; seed <= (filter === null ? 8 : 2) * RANDOM_TIMES; seed += 1)
          await walk(sheet, { filter, random: seededRandom(seed) })
      })
    }

    test('a page of large records ends at its limit in bytes, and the next one continues', async () => {
      const part = PAGE_BYTES / 4
      const sizes = [10, part, part, part, part, 10, PAGE_BYTES + 10, 10]
      for (const [index, size] of sizes.entries()) {
        await sheet.write([{ id: `r${index}`, group: 1, last: 'x'.repeat(size) }])
      }
      const { last } = await sheet.store.history()
      const asked = { ...FIRST_PAGE, fields: ['id', 'last'], limit: 50 }
      const byNow = (after: PagePlace | null): Promise<Page> => sheet.store.page({ ...asked, after })
      const reads: Record<string, (after: PagePlace | null) => Promise<Page>> = {
        'in creation order': byNow,
        'with a large limit': (after) => sheet.store.page({ ...asked, after, limit: 10_000 }),
        'with a filter': (after) => sheet.store.page({ ...asked, after, filter: '"group" = 1' }),
        sorted: (after) =>
          sheet.store.page({ ...asked, after, sort: [{ field: 'group', descending: false }] }),
        'in the past': async (after) => {
          const { fields, limit } = asked
          const page = await sheet.store.pageAsOf({ fields, limit, after: after?.key ?? null, seq: last })
          return { ...page, next: page.next === null ? null : { key: page.next, values: [] } }
        },
      }
      const wanted = [['r0', 'r1', 'r2', 'r3'], ['r4', 'r5'], ['r6'], ['r7']]
      for (const [name, read] of Object.entries(reads)) {
        const pages: string[][] = []
        for (let after: PagePlace | null = null; ;) {
          const { records, next } = await read(after)
          const found = JSON.parse(String(records)) as { id: string; last: string }[]
          pages.push(found.map(({ id }) => id))
          for (const { id, last: text } of found) assert.equal(text.length, sizes[Number(id.slice(1))], name)
          if (next === null) break
          after = next
        }
        assert.deepEqual(pages, wanted, name)
      }
      const positioned = await sheet.store.page({ ...asked, skip: 6, limit: 2 })
      assert.equal((JSON.parse(String(positioned.records)) as unknown[]).length, 1)
      const small = await sheet.store.page({ ...asked, fields: ['id'] })
      assert.equal((JSON.parse(String(small.records)) as unknown[]).length, sizes.length)
      const record = await sheet.store.record('r6', ['last', 'id'])
      assert.equal(record?.json.length, PAGE_BYTES + 10 + '{"last":"","id":"r6"}'.length)
      assert.equal(record.version, (await sheet.store.record('r6', ['id']))?.version)
    })

    test('D12: fields are returned in the requested order, null without a value', async () => {
      await sheet.write([{ id: 'a', last: 'L' }])
      const { store } = sheet
      const texts = [
        (await store.record('a', ['last', 'group', 'id']))?.json,
        (await store.page({ ...FIRST_PAGE, fields: ['last', 'group', 'id'], limit: 1 })).records
          .toString()
          .slice(1, -1),
      ]
      for (const text of texts) {
        const record = JSON.parse(String(text)) as JsonObject
        assert.deepEqual(Object.entries(record), [
          ['last', 'L'],
          ['group', null],
          ['id', 'a'],
        ])
      }
      assert.deepEqual(await sheet.get('a', ['group']), { group: null })
      assert.equal(await store.record('b', ['id']), null)
    })

    test('D12: a cached page is never returned as a record, nor a record as a page', async () => {
      const id = '2 null'
      const fields = ['id']
      assert.deepEqual(await pageOf(sheet, { fields, limit: 2 }), { ids: [], next: null })
      assert.equal(await sheet.store.record(id, fields), null)
      await sheet.write([{ id }, { id: 'x' }])
      assert.deepEqual((await pageOf(sheet, { fields, limit: 2 })).ids, [id, 'x'])
      assert.deepEqual(await sheet.get(id, fields), { id })
      await sheet.write([{ id: 'y' }])
      assert.deepEqual(await sheet.get(id, fields), { id })
      assert.deepEqual((await pageOf(sheet, { fields, limit: 2 })).ids, [id, 'x'])
    })

    test('D17: a write is visible to the next read despite cached responses', async () => {
      const other = await sheet.openAnother()
      try {
        for (let round = 0; round < 20; round += 1) {
          const writer = round % 2 === 0 ? sheet.store : other
          await writer.upsert({
            body: { records: [{ id: 'a', group: round }] },
            defaultActor: HUMAN,
            ifMatch: null,
          })
          for (const reader of [sheet.store, other]) {
            assert.deepEqual(JSON.parse(String((await reader.record('a', ['group']))?.json)), {
              group: round,
            })
            const { records } = await reader.page({ ...FIRST_PAGE, fields: ['group'], limit: 1 })
            assert.deepEqual(JSON.parse(String(records)), [{ group: round }])
            assert.equal((await reader.status()).total, 1)
          }
        }
      } finally {
        await other.close()
      }
    })

    test('D17, D18: a write is visible to the next query and filter', async () => {
      for (let round = 0; round < 10; round += 1) {
        await sheet.write([{ id: 'a', group: round }])
        const result = JSON.parse(
          String(await sheet.store.query({ sql: 'SELECT "group" FROM records', params: [] })),
        ) as JsonObject
        assert.deepEqual(result['rows'], [{ group: round }])
        assert.deepEqual((await pageOf(sheet, { limit: 2, filter: `"group" = ${round}` })).ids, ['a'])
      }
    })

    test('D9: filters and queries use a new field as soon as it is defined', async () => {
      await sheet.write([{ id: 'a' }])
      await assert.rejects(sheet.store.query({ sql: 'SELECT extra FROM records', params: [] }), QueryError)
      await sheet.define({ properties: [...properties, '{name: extra, logicalType: boolean}'] })
      await sheet.write([{ id: 'a', extra: true }])
      const result = JSON.parse(
        String(await sheet.store.query({ sql: 'SELECT extra FROM records', params: [] })),
      ) as JsonObject
      assert.deepEqual(result['rows'], [{ extra: true }])
      assert.deepEqual((await pageOf(sheet, { limit: 2, filter: 'extra' })).ids, ['a'])
    })
  })
}

async function pageOf(
  sheet: TestSheet,
  query: Partial<PageQuery>,
): Promise<{ ids: unknown[]; next: PagePlace | null }> {
  const page = await sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 10, ...query })
  return { ids: (JSON.parse(String(page.records)) as JsonObject[]).map(({ id }) => id), next: page.next }
}

/**
 * Reads all pages while records are inserted, deleted and recreated, then compares with the records that existed
 * throughout.
 */
async function walk(
  sheet: TestSheet,
  { filter, random }: { filter: string | null; random: Random },
): Promise<void> {
  const ids = Array.from({ length: 40 }, (_, index) => `r${index}`)
  await sheet.store.delete(ids, HUMAN)
  const groups = new Map<string, number>()
  const insert = async (): Promise<void> => {
    const id = random.pick(ids)
    if (groups.has(id)) return
    groups.set(id, random.below(10))
    await sheet.write([{ id, group: groups.get(id) ?? null, last: id }])
  }
  for (let count = 0; count < 25; count += 1) await insert()
  const order = [...groups.keys()]
  const stayed = new Set(order)
  const seen: string[] = []
  for (let after: PagePlace | null = null; ;) {
    const page: Awaited<ReturnType<typeof pageOf>> = await pageOf(sheet, {
      limit: 1 + random.below(6),
      after,
      filter,
    })
    seen.push(...page.ids.map(String))
    after = page.next
    if (after === null) break
    for (let changes = random.below(4); changes > 0; changes -= 1) {
      await insert()
      const gone = random.pick(ids)
      if (!groups.delete(gone)) continue
      stayed.delete(gone)
      await sheet.store.delete([gone], HUMAN)
    }
  }
  const wanted = order.filter((id) => stayed.has(id) && (filter === null || (groups.get(id) ?? 0) < 5))
  assert.deepEqual(
    seen.filter((id) => stayed.has(id)),
    wanted,
    `seed ${random.seed}`,
  )
}
