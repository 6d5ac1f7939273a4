import type { SheetField } from '../api/contract.ts'
import { decimalSignOf } from './parse-number.ts'
import { dateOrderOf, hasEitherOrder } from './temporal-text.ts'
import { SHOWN_NOTATION, type Notation } from './value-text.ts'

/** The notation of the texts of a column. */
export interface ColumnNotation {
  readonly notation: Notation
  /** The texts that could mean two values, while no other text of the column decides. */
  readonly ambiguous: readonly string[]
}

/** Returns the notation of a column from the texts that have only one meaning; the notation of the grid without any. */
export function notationOf({ type }: Pick<SheetField, 'type'>, texts: readonly string[]): ColumnNotation {
  if (type === 'number') {
    const signs = texts.map(decimalSignOf)
    const known = decided('point', 'comma', signs)
    return {
      notation: { ...SHOWN_NOTATION, decimal: known ?? SHOWN_NOTATION.decimal },
      ambiguous: known === null ? texts.filter((_text, index) => signs[index] === 'either') : [],
    }
  }
  if (type === 'date' || type === 'timestamp') {
    const known = decided('dmy', 'mdy', texts.map(dateOrderOf))
    return {
      notation: { ...SHOWN_NOTATION, order: known ?? SHOWN_NOTATION.order },
      ambiguous: known === null ? texts.filter(hasEitherOrder) : [],
    }
  }
  return { notation: SHOWN_NOTATION, ambiguous: [] }
}

/** Returns the one of two that occurs; null if none or both do. */
function decided<T>(first: T, second: T, found: readonly unknown[]): T | null {
  const [isFirst, isSecond] = [found.includes(first), found.includes(second)]
  if (isFirst === isSecond) return null
  return isFirst ? first : second
}
