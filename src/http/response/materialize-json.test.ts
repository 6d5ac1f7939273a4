import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toMaterializeAnswer } from '../../wire/runs/materialize.ts'
import { FAILURES_AT_ONCE, materializeText } from './materialize-json.ts'

test('the parts of a response are together the whole text', () => {
  for (const count of [0, 1, FAILURES_AT_ONCE, FAILURES_AT_ONCE + 1, 3 * FAILURES_AT_ONCE]) {
    const failures = Array.from({ length: count }, (_, index) => {
      return { recordId: `"${index}\u2028`, field: 'a', error: '\ud800', errorType: 'SheetError' as const }
    })
    const report = { materialized: 3, skipped: 4, failures, totalCost: 0.25 }
    const parts = [...materializeText(report)]
    assert.deepEqual(JSON.parse(parts.join('')), toMaterializeAnswer(report))
    assert.equal(parts.length, 2 + Math.ceil(count / FAILURES_AT_ONCE))
  }
})
