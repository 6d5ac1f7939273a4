import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordFilter } from '../api/record-filter.ts'
import { exportPath } from './export-view.ts'

test('the URL of a file has the columns in their order, the filter and the sort order', () => {
  const filter = recordFilter({
    where: { field: 'name', operator: 'contains', value: 'a&b' },
    sql: 'area > 1e6',
  })
  const url = new URL(exportPath('xlsx', { filter, sort: '-area,name', fields: ['name', 'id'] }), 'http://x')
  assert.equal(url.pathname, '/api/export/xlsx')
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    fields: 'name,id',
    where: '{"field":"name","operator":"contains","value":"a&b"}',
    filter: 'area > 1e6',
    sort: '-area,name',
  })
})

test('the URL of a whole view names only its columns', () => {
  assert.equal(exportPath('csv', { filter: null, sort: null, fields: ['id'] }), '/api/export/csv?fields=id')
})
