import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testField } from '../api/test-field.ts'
import {
  afterMove,
  EMPTY_STACK,
  nextOf,
  withEdit,
  withNext,
  withoutNext,
  withoutRecords,
  type DoneEdit,
} from './undo-stack.ts'

const FIELD = testField({ name: 'a' })

function edit(order: number, recordId = 'r'): DoneEdit {
  return { order, changes: [{ recordId, field: FIELD, before: order - 1, after: order }] }
}

test('undoing and redoing go back and forth', () => {
  let stack = withEdit(withEdit(EMPTY_STACK, edit(1)), edit(2))
  assert.equal(nextOf(stack, 'undo')?.order, 2)
  stack = afterMove(stack, 'undo')
  assert.deepEqual([nextOf(stack, 'undo')?.order, nextOf(stack, 'redo')?.order], [1, 2])
  stack = afterMove(stack, 'redo')
  assert.deepEqual([nextOf(stack, 'undo')?.order, nextOf(stack, 'redo')], [2, undefined])
})

test('a new edit clears the redo stack, also an edit without a change', () => {
  const undone = afterMove(withEdit(EMPTY_STACK, edit(1)), 'undo')
  assert.equal(nextOf(withEdit(undone, edit(2)), 'redo'), undefined)
  const same = withEdit(undone, { order: 3, changes: [] })
  assert.deepEqual(same, EMPTY_STACK)
})

test('any edit can be undone next, once', () => {
  const stack = withEdit(withEdit(withEdit(EMPTY_STACK, edit(1)), edit(2)), edit(3))
  const chosen = withNext(stack, 2) ?? EMPTY_STACK
  assert.equal(nextOf(chosen, 'undo')?.order, 2)
  const undone = afterMove(chosen, 'undo')
  assert.equal(nextOf(undone, 'undo')?.order, 3)
  assert.equal(withNext(undone, 2), null)
})

test('moving an empty stack changes nothing', () => {
  assert.deepEqual(afterMove(EMPTY_STACK, 'undo'), EMPTY_STACK)
  assert.deepEqual(withoutNext(EMPTY_STACK, 'redo'), EMPTY_STACK)
})

test('the stack is as deep as it is and no deeper', () => {
  let stack = EMPTY_STACK
  for (let order = 1; order <= 300; order += 1) stack = withEdit(stack, edit(order))
  assert.equal(stack.done.length, 200)
  assert.equal(stack.done[0]?.order, 101)
})

test('deleted records are removed from the stack', () => {
  const both = { order: 2, changes: [...edit(2, 'r').changes, ...edit(2, 's').changes] }
  const stack = withEdit(withEdit(EMPTY_STACK, edit(1, 'r')), both)
  const left = withoutRecords(stack, new Set(['r']))
  assert.deepEqual(
    left.done.map(({ changes }) => changes.length),
    [1],
  )
})
