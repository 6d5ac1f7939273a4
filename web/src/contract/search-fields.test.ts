import assert from 'node:assert/strict'
import test from 'node:test'
import { toSheetContract } from '../api/contract.ts'
import { searchFields } from './search-fields.ts'

const { fields } = toSheetContract({
  schema: [
    {
      name: 'sheet',
      properties: [
        { name: 'id', logicalType: 'string', primaryKey: true, required: true },
        { name: 'area', businessName: 'Area', description: 'In square kilometres.', logicalType: 'number' },
        {
          name: 'rate',
          logicalType: 'number',
          derived: { derivation: 'rates.yaml', kind: 'http', inputs: [] },
        },
      ],
    },
  ],
})

const found = (search: string): string[] => searchFields(fields, search).map(({ name }) => name)

test('every word must match, in any order', () => {
  assert.deepEqual(found(''), ['id', 'area', 'rate'])
  assert.deepEqual(found('  NUMBER '), ['area', 'rate'])
  assert.deepEqual(found('number square'), ['area'])
  assert.deepEqual(found('derived'), ['rate'])
  assert.deepEqual(found('required'), ['id'])
  assert.deepEqual(found('nothing like it'), [])
})
