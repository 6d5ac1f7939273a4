import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateBasis } from './estimate-basis.ts'

test('an estimate says from how many results it is, and whether from the length of prompts', () => {
  assert.equal(estimateBasis(0, true), 'the length of the prompts')
  assert.equal(estimateBasis(1240, false), '1,240 results')
  assert.equal(estimateBasis(240, true), '240 results and the length of the prompts')
})
