import type { Place } from './cell-range.ts'

/** The action of a key in the grid. */
export type KeyAction =
  | { readonly do: 'move'; readonly to: Place; readonly extend: boolean }
  | { readonly do: 'next'; readonly back: boolean }
  | { readonly do: 'edit'; readonly typed: string | null }
  | {
      readonly do:
        | 'clear'
        | 'add'
        | 'contextMenu'
        | 'fillDown'
        | 'selectColumn'
        | 'undo'
        | 'redo'
        | 'panel'
        | 'check'
        | 'selectAll'
        | 'goTo'
        | 'menu'
        | 'escape'
    }

export interface KeyPress {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly shiftKey: boolean
  readonly altKey: boolean
}

/** The selection and the sizes that movement depends on. */
export interface KeyPlace {
  /** The active cell, from which plain keys move. */
  readonly focus: Place
  /** The moving end of the range, from which keys with Shift extend it. */
  readonly end: Place
  readonly lastRow: number
  readonly lastColumn: number
  /** The number of rows that fit into the viewport. */
  readonly pageRows: number
}

/** Returns the action of a key; null for other keys. */
export function keyAction(press: KeyPress, place: KeyPlace): KeyAction | null {
  const { key, shiftKey, altKey } = press
  const withCtrl = press.ctrlKey || press.metaKey
  if (altKey) return key === 'ArrowDown' && !withCtrl ? { do: 'menu' } : null
  const to = destination(press, withCtrl, place)
  if (to !== null) return { do: 'move', to, extend: shiftKey }
  return withCtrl ? shortcut(key.toLowerCase(), shiftKey) : plainKey(key, shiftKey)
}

function destination(
  { key, shiftKey }: KeyPress,
  far: boolean,
  { focus, end, lastRow, lastColumn, pageRows }: KeyPlace,
): Place | null {
  const { row, column } = shiftKey ? end : focus
  switch (key) {
    case 'ArrowUp':
      return { row: far ? Math.min(0, row - 1) : row - 1, column }
    case 'ArrowDown':
      return { row: far ? lastRow : row + 1, column }
    case 'ArrowLeft':
      return { row, column: far ? 0 : column - 1 }
    case 'ArrowRight':
      return { row, column: far ? lastColumn : column + 1 }
    case 'Home':
      return { row: far ? 0 : row, column: 0 }
    case 'End':
      return { row: far ? lastRow : row, column: lastColumn }
    case 'PageUp':
      return far ? null : { row: Math.max(0, row - pageRows), column }
    case 'PageDown':
      return far ? null : { row: row + pageRows, column }
    default:
      return null
  }
}

function shortcut(key: string, shift: boolean): KeyAction | null {
  switch (key) {
    case 'z':
      return { do: shift ? 'redo' : 'undo' }
    case 'y':
      return { do: 'redo' }
    case 'a':
      return { do: 'selectAll' }
    case 'g':
      return { do: 'goTo' }
    case 'd':
      return { do: 'fillDown' }
    case ' ':
      return shift ? null : { do: 'selectColumn' }
    default:
      return null
  }
}

function plainKey(key: string, shift: boolean): KeyAction | null {
  switch (key) {
    case 'Enter':
      return shift ? { do: 'add' } : { do: 'edit', typed: null }
    case 'F2':
      return { do: 'edit', typed: null }
    case 'Tab':
      return { do: 'next', back: shift }
    case 'Escape':
      return { do: 'escape' }
    case 'Delete':
    case 'Backspace':
      return { do: 'clear' }
    case ' ':
      return { do: shift ? 'check' : 'panel' }
    case 'ContextMenu':
      return { do: 'contextMenu' }
    case 'F10':
      return shift ? { do: 'contextMenu' } : null
    case '/':
      // `/` opens the filter everywhere.
      return null
    default:
      // A single character of any length in code units; names of keys are longer.
      return [...key].length === 1 ? { do: 'edit', typed: key } : null
  }
}
