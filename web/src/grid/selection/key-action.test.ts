import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyAction, type KeyPress } from './key-action.ts'

const place = {
  focus: { row: 5, column: 2 },
  end: { row: 5, column: 2 },
  lastRow: 999,
  lastColumn: 9,
  pageRows: 20,
}
const press = (key: string, modifiers: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...modifiers,
})

test('arrows, Home, End and pages move', () => {
  const to = (key: string, ctrlKey = false) => {
    const action = keyAction(press(key, { ctrlKey }), place)
    return action?.do === 'move' ? [action.to.row, action.to.column] : null
  }
  assert.deepEqual(to('ArrowUp'), [4, 2])
  assert.deepEqual(to('ArrowDown', true), [999, 2])
  assert.deepEqual(to('ArrowUp', true), [0, 2])
  assert.deepEqual(to('Home'), [5, 0])
  assert.deepEqual(to('End', true), [999, 9])
  assert.deepEqual(to('PageDown'), [25, 2])
  assert.deepEqual(to('PageUp'), [0, 2])
})

test('Shift extends from the moving end, plain keys move from the active cell', () => {
  const extended = { ...place, end: { row: 8, column: 3 } }
  assert.deepEqual(keyAction(press('ArrowDown', { shiftKey: true }), extended), {
    do: 'move',
    to: { row: 9, column: 3 },
    extend: true,
  })
  assert.deepEqual(keyAction(press('ArrowDown'), extended), {
    do: 'move',
    to: { row: 6, column: 2 },
    extend: false,
  })
})

test('Shift+Enter adds a record', () => {
  assert.deepEqual(keyAction(press('Enter', { shiftKey: true }), place), { do: 'add' })
  assert.deepEqual(keyAction(press('Enter'), place), { do: 'edit', typed: null })
})

test('the menu of a cell opens by its key, that of the column by Alt+ArrowDown', () => {
  assert.deepEqual(keyAction(press('ContextMenu'), place), { do: 'contextMenu' })
  assert.deepEqual(keyAction(press('F10', { shiftKey: true }), place), { do: 'contextMenu' })
  assert.deepEqual(keyAction(press('ArrowDown', { altKey: true }), place), { do: 'menu' })
})

test('Ctrl+D fills down, and Ctrl+Space selects the column', () => {
  assert.deepEqual(keyAction(press('d', { ctrlKey: true }), place), { do: 'fillDown' })
  assert.deepEqual(keyAction(press(' ', { ctrlKey: true }), place), { do: 'selectColumn' })
})

test('from the first row the keys move to the headers, also with Ctrl', () => {
  const action = keyAction(press('ArrowUp', { ctrlKey: true }), { ...place, focus: { row: 0, column: 2 } })
  assert.deepEqual(action, { do: 'move', to: { row: -1, column: 2 }, extend: false })
})

test('characters begin an edit, names of keys do not', () => {
  assert.deepEqual(keyAction(press('x'), place), { do: 'edit', typed: 'x' })
  assert.deepEqual(keyAction(press('ä'), place), { do: 'edit', typed: 'ä' })
  assert.deepEqual(keyAction(press('😀'), place), { do: 'edit', typed: '😀' })
  assert.equal(keyAction(press('Shift'), place), null)
  assert.equal(keyAction(press('F5'), place), null)
  assert.equal(keyAction(press('Dead'), place), null)
})

test("the browser's own Ctrl shortcuts are left alone", () => {
  for (const key of ['c', 'v', 'x', 'f', 'r', 't', 'PageDown']) {
    assert.equal(keyAction(press(key, { ctrlKey: true }), place), null, key)
  }
})

test("undo and redo work with Ctrl or the Mac's key", () => {
  assert.deepEqual(keyAction(press('z', { metaKey: true }), place), { do: 'undo' })
  assert.deepEqual(keyAction(press('Z', { ctrlKey: true, shiftKey: true }), place), { do: 'redo' })
})

test('Space opens the panel and does not write a space', () => {
  assert.deepEqual(keyAction(press(' '), place), { do: 'panel' })
  assert.deepEqual(keyAction(press(' ', { shiftKey: true }), place), { do: 'check' })
})
