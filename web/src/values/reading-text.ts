import type { SheetField } from '../api/contract.ts'
import { decimalSignOf } from './parse-number.ts'
import { hasEitherOrder, LOCAL_ORDER } from './temporal-text.ts'
import { copyText } from './value-text.ts'

/** Says how a text was read, if it has another notation than the value or could mean two; null otherwise. */
export function readingText({ type }: Pick<SheetField, 'type'>, text: string, value: unknown): string | null {
  const read = copyText(value)
  if (read === null) return null
  switch (type) {
    case 'integer':
    case 'number': {
      const isEither = decimalSignOf(text) === 'either'
      if (!isEither && Number(text) === value) return null
      const isFraction = isEither && type === 'number' && text.includes('.')
      return `= ${read}${isFraction ? ', with a decimal point' : ''}`
    }
    case 'date':
      if (hasEitherOrder(text)) return `= ${read}, ${LOCAL_ORDER === 'dmy' ? 'day' : 'month'} first`
      return read === text.trim() ? null : `= ${read}`
    case 'time':
      return read === text.trim() ? null : `= ${read}`
    default:
      return null
  }
}
