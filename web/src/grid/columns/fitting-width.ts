import { formatValue } from '../../values/format-value.ts'
import type { Column } from '../layout/column-layout.ts'
import type { RowWindow } from '../layout/row-window.ts'
import type { Rows } from '../rows/use-rows.ts'

const GREATEST = 640
/** The width of a cell beside its text: padding and border. */
const AROUND = 24
const MARK = 18
const CHIP = 22
/** The width of the icon, arrow and menu of a head. */
const HEAD = 82

/** Returns the width that fits the visible values of a column. */
export function fittingWidth({ field, format }: Column, rows: Rows, { first, end }: RowWindow): number {
  const measure = textMeasure()
  let width = measure(field.title) + HEAD
  for (let row = first; row < end; row += 1) {
    const value = rows.at(row)?.[field.name]
    const extra = Array.isArray(value) ? value.length * CHIP : 0
    width = Math.max(width, measure(formatValue(field.type, value, format).slice(0, 300)) + AROUND + extra)
  }
  return Math.ceil(Math.min(width + (field.derived === null ? 0 : MARK), GREATEST))
}

function textMeasure(): (text: string) => number {
  const context = document.createElement('canvas').getContext('2d')
  if (context === null) return (text) => text.length * 8
  context.font = getComputedStyle(document.body).font
  return (text) => context.measureText(text).width
}
