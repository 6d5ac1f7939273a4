import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupsBy } from '../state/view-state.ts'
import { chartName } from './chart-name.ts'

test('a chart is named for what it counts and by what', () => {
  const name = (more: object): string =>
    chartName({ ...groupsBy('region'), ...more }, (field) => field.toUpperCase())
  assert.equal(name({}), 'Records by REGION')
  assert.equal(name({ split: 'open', total: 'area' }), 'Sum of AREA by REGION and OPEN')
})
