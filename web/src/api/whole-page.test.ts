import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PageSelection } from '../../../src/client/records-client.ts'
import { wholePage } from './whole-page.ts'

test('a page that the server ended early is read to its end', async () => {
  const asked: PageSelection[] = []
  const list = async (query: PageSelection) => {
    asked.push(query)
    const from = Number(query.cursor ?? query.position)
    const to = Math.min(from + 2, from + (query.limit ?? 50), 9)
    const records = Array.from({ length: to - from }, (_, index) => ({ id: `r${from + index}` }))
    return {
      records,
      format: 'json' as const,
      limit: query.limit ?? 50,
      next_cursor: to < 9 ? String(to) : null,
    }
  }
  const page = await wholePage({ filter: null, sort: null, limit: 5, position: 2 }, list)
  assert.deepEqual(
    [page.records.map(({ id }) => id), page.limit, page.next_cursor],
    [['r2', 'r3', 'r4', 'r5', 'r6'], 5, '7'],
  )
  assert.deepEqual(asked.slice(1), [
    { filter: null, sort: null, limit: 3, cursor: '4' },
    { filter: null, sort: null, limit: 1, cursor: '6' },
  ])
  assert.equal((await wholePage({ limit: 5, position: 8 }, list)).records.length, 1)
})
