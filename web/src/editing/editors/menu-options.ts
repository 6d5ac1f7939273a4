import type { SheetField } from '../../api/contract.ts'
import { copyText } from '../../values/value-text.ts'

export interface MenuOption {
  readonly value: string | number | boolean | null
  readonly label: string
}

/** Returns the values that a cell may have: the closed list, and no value if the field is not required. */
export function optionsOf({
  type,
  values,
  required,
}: Pick<SheetField, 'type' | 'values' | 'required'>): readonly MenuOption[] {
  const listed = (values ?? (type === 'boolean' ? [true, false] : [])).filter((value) => value !== null)
  const options: MenuOption[] = listed.map((value) => ({ value, label: labelOf(value) }))
  return required ? options : [...options, { value: null, label: 'No value' }]
}

function labelOf(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === '' ? 'Empty text' : (copyText(value) ?? '')
}

/** Returns the options that contain the typed text, those that begin with it first. */
export function matchingOptions(options: readonly MenuOption[], typed: string): readonly MenuOption[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return options
  const placed = options.map((option) => ({ option, place: option.label.toLowerCase().indexOf(wanted) }))
  const found = placed.filter(({ place }) => place >= 0)
  return [...found.filter(({ place }) => place === 0), ...found.filter(({ place }) => place > 0)].map(
    ({ option }) => option,
  )
}

/** Returns the position after a navigation key in a list; null for other keys. */
export function stepIn(key: string, at: number, count: number): number | null {
  const last = count - 1
  switch (key) {
    case 'ArrowDown':
      return at >= last ? 0 : at + 1
    case 'ArrowUp':
      return at <= 0 ? last : at - 1
    case 'PageDown':
      return Math.min(last, at + 8)
    case 'PageUp':
      return Math.max(0, at - 8)
    default:
      return null
  }
}
