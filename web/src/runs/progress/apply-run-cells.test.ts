import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryClient } from '@tanstack/react-query'
import { applyRunCells } from './apply-run-cells.ts'

const PAGE = ['records', 'page', null, null, 0]
const OTHER_PAGE = ['records', 'page', null, null, 1]
const STATES = ['records', 'cells', 'a', 'b']

function clientWithRecords(): QueryClient {
  const client = new QueryClient()
  const page = (ids: readonly string[]) => ({
    records: ids.map((id) => ({ id, x: null, y: 'old' })),
    format: 'json',
    limit: 100,
    next_cursor: null,
  })
  client.setQueryData(PAGE, page(['a', 'b']))
  client.setQueryData(OTHER_PAGE, page(['c']))
  client.setQueryData(['records', 'one', 'a'], { id: 'a', x: null, y: 'old' })
  client.setQueryData(STATES, { a: { x: 'missing', y: 'stale' }, b: { x: 'missing', y: 'fresh' } })
  return client
}

test('computed cells change pages, records and states; other objects stay identical', () => {
  const client = clientWithRecords()
  const before = client.getQueryData<{ records: unknown[] }>(PAGE)
  const other = client.getQueryData(OTHER_PAGE)
  const isAll = applyRunCells(client, {
    cells: [{ record_id: 'a', field: 'x', state: 'fresh', value: 1 }],
    omitted: 0,
  })
  assert.equal(isAll, true)
  const after = client.getQueryData<{ records: unknown[] }>(PAGE)
  assert.deepEqual(after?.records[0], { id: 'a', x: 1, y: 'old' })
  assert.equal(after?.records[1], before?.records[1])
  assert.equal(client.getQueryData(OTHER_PAGE), other)
  assert.deepEqual(client.getQueryData(['records', 'one', 'a']), { id: 'a', x: 1, y: 'old' })
  assert.deepEqual(client.getQueryData(STATES), {
    a: { x: 'fresh', y: 'stale' },
    b: { x: 'missing', y: 'fresh' },
  })
})

test('a failed cell keeps its value', () => {
  const client = clientWithRecords()
  const cells = [{ record_id: 'a', field: 'y', state: 'failed', error: 'no', error_type: 'ServiceError' }]
  assert.equal(applyRunCells(client, { cells, omitted: 0 }), true)
  assert.deepEqual(client.getQueryData(['records', 'one', 'a']), { id: 'a', x: null, y: 'old' })
  assert.equal(client.getQueryData<Record<string, Record<string, string>>>(STATES)?.['a']?.['y'], 'failed')
})

test('null is a value; a missing value is read again', () => {
  const client = clientWithRecords()
  assert.equal(
    applyRunCells(client, {
      cells: [{ record_id: 'a', field: 'y', state: 'fresh', value: null }],
      omitted: 0,
    }),
    true,
  )
  assert.deepEqual(client.getQueryData(['records', 'one', 'a']), { id: 'a', x: null, y: null })
  assert.equal(
    applyRunCells(client, { cells: [{ record_id: 'a', field: 'x', state: 'fresh' }], omitted: 0 }),
    false,
  )
  assert.equal(applyRunCells(client, { cells: [], omitted: 3 }), false)
})

test('outdated data stays outdated', async () => {
  const client = clientWithRecords()
  await client.invalidateQueries({ queryKey: ['records'] })
  applyRunCells(client, { cells: [{ record_id: 'a', field: 'x', state: 'fresh', value: 1 }], omitted: 0 })
  assert.equal(client.getQueryState(PAGE)?.isInvalidated, true)
})

test('the history of a changed cell is read again, that of others is not', () => {
  const client = clientWithRecords()
  const changed = ['records', 'history', 'a', 'x']
  const same = ['records', 'why', 'a', 'y']
  client.setQueryData(changed, [])
  client.setQueryData(same, {})
  applyRunCells(client, { cells: [{ record_id: 'a', field: 'x', state: 'fresh', value: 1 }], omitted: 0 })
  assert.equal(client.getQueryState(changed)?.isInvalidated, true)
  assert.equal(client.getQueryState(same)?.isInvalidated, false)
})
