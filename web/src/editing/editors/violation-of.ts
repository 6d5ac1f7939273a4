import type { SheetField } from '../../api/contract.ts'

/**
 * Returns the constraint of the contract that a value violates, or null. Only a hint while typing: the server
 * validates.
 */
export function violationOf(
  { type, options }: Pick<SheetField, 'type' | 'options'>,
  value: unknown,
): string | null {
  if (typeof value === 'string' && type === 'string') return lengthViolation(options, value)
  const comparable = typeof value === 'number' || (typeof value === 'string' && type === 'date')
  if (!comparable) return null
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = options
  if (isLike(minimum, value) && value < minimum) return `must be at least ${minimum}`
  if (isLike(maximum, value) && value > maximum) return `must be at most ${maximum}`
  if (isLike(exclusiveMinimum, value) && value <= exclusiveMinimum)
    return `must be more than ${exclusiveMinimum}`
  if (isLike(exclusiveMaximum, value) && value >= exclusiveMaximum)
    return `must be less than ${exclusiveMaximum}`
  if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number'
  const isWhole = Number.isSafeInteger(value) && Number.isSafeInteger(multipleOf)
  if (isWhole && Number(value) % Number(multipleOf) !== 0)
    return `must be a multiple of ${String(multipleOf)}`
  return null
}

function isLike<T extends string | number>(bound: unknown, value: T): bound is T {
  return typeof bound === typeof value
}

function lengthViolation({ minLength, maxLength }: SheetField['options'], text: string): string | null {
  const length = Array.from(text).length
  if (typeof maxLength === 'number' && length > maxLength)
    return `${length} characters; at most ${maxLength} are allowed`
  if (typeof minLength === 'number' && length > 0 && length < minLength) {
    return `${length} characters; at least ${minLength} are needed`
  }
  return null
}
