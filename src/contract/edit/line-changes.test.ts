import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineChanges } from './line-changes.ts'

function changes(before: string, after: string): readonly unknown[] {
  return lineChanges('a.yaml', before, after).map((change) => [change.line, change.before, change.after])
}

test('an insertion, a removal and a change of a line are listed without the equal lines between them', () => {
  assert.deepEqual(changes('a\nb\nc\nd\n', 'a\nnew\nb\nc\nlast\n'), [
    [2, null, 'new'],
    [4, 'd', 'last'],
  ])
  assert.deepEqual(changes('a\nb\nc\nd\n', 'b\nc\nD\nd\ne\n'), [
    [1, 'a', null],
    [4, null, 'D'],
    [5, null, 'e'],
  ])
  assert.deepEqual(changes('', 'a\nb\n'), [
    [1, null, 'a'],
    [2, null, 'b'],
  ])
  assert.deepEqual(changes('a\r\nb', 'a\nb\n'), [])
})

test('texts of many lines that all differ are compared by place', () => {
  const lines = (prefix: string, count: number): string =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}\n`).join('')
  const found = lineChanges('a.yaml', lines('a', 30_000), lines('b', 30_001))
  assert.equal(found.length, 30_001)
  assert.deepEqual(found.at(-1), { file: 'a.yaml', line: 30_001, before: null, after: 'b30000' })
})
