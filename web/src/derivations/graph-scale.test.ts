import assert from 'node:assert/strict'
import test from 'node:test'
import { fullSizeScale, wholeScale } from './graph-scale.ts'

test('a small graph is as large as it is meant', () => {
  const graph = { width: 400, height: 100 }
  const room = { width: 1200, height: 600 }
  assert.equal(fullSizeScale(graph, room), 1)
  assert.equal(wholeScale(graph, room), 1)
})

test('a graph that is a little too wide is scaled, one that is much too wide is scrolled', () => {
  assert.equal(fullSizeScale({ width: 1000, height: 100 }, { width: 948, height: 600 }), 0.9)
  assert.equal(fullSizeScale({ width: 5000, height: 100 }, { width: 948, height: 600 }), 1)
})

test('a large graph can be seen as a whole, except the very largest', () => {
  assert.equal(wholeScale({ width: 2000, height: 100 }, { width: 1048, height: 600 }), 0.5)
  assert.equal(wholeScale({ width: 100, height: 100_000 }, { width: 1048, height: 600 }), 0.15)
})

test('nothing is scaled before the available width is known', () => {
  assert.equal(wholeScale({ width: 2000, height: 100 }, { width: 0, height: 0 }), 1)
  assert.equal(fullSizeScale({ width: 2000, height: 100 }, { width: 0, height: 0 }), 1)
})
