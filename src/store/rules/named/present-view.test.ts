import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentView } from './present-view.ts'

test('what names a removed field is left out of a view, and the rest has the present names', () => {
  const names: Readonly<Record<string, string>> = { a: 'b', kept: 'kept' }
  const state = {
    conditions: [
      { field: 'a', is: 'filled' },
      { field: 'gone', is: 'empty' },
      { state: ['failed'], fields: ['gone', 'a'] },
      { state: ['stale'], fields: ['gone'] },
      { state: ['stale'] },
    ],
    sql: 'a = 1',
    sort: ['-a', 'gone', 'kept'],
    columns: { order: ['kept', 'gone', 'a'], widths: { a: 90, gone: 80 }, rowHeight: 34 },
  }
  assert.deepEqual(
    presentView(state, (name) => names[name] ?? null),
    {
      conditions: [{ field: 'b', is: 'filled' }, { state: ['failed'], fields: ['b'] }, { state: ['stale'] }],
      sql: 'a = 1',
      sort: ['-b', 'kept'],
      columns: { order: ['kept', 'b'], widths: { b: 90 }, rowHeight: 34 },
    },
  )
})
