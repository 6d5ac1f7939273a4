import type { SheetField } from '../api/contract.ts'
import { parseNumber } from '../values/parse-number.ts'
import { normalTemporal, TEMPORAL_EXAMPLES } from '../values/temporal-text.ts'
import {
  isOfCell,
  OPERATORS,
  type CellOperator,
  type Condition,
  type Operator,
  type Scalar,
} from '../state/conditions.ts'
import { FEW_VALUES, itemsOf, operatorsFor } from './operators-for.ts'

/** A condition that is being edited, with the input of all operators. */
export interface Draft {
  readonly is: Operator
  /** The typed texts; the second is the end of a range. */
  readonly texts: readonly [string, string]
  readonly flag: boolean
  readonly items: readonly (Scalar | null)[]
}

const ITEM_OF_CELL: Readonly<Record<CellOperator, string>> = {
  inState: 'state',
  notInState: 'state',
  reviewed: 'review',
  changedBy: 'run',
  failedWith: 'reason',
  writtenBy: 'actor',
  writtenIn: 'run',
}

type Drafted = { readonly condition: Condition } | { readonly error: string }

/** Returns the draft of a condition; of a new one if it is null. */
export function draftOf(field: SheetField, condition: Condition | null): Draft {
  const { is, value } = condition ?? { is: operatorsFor(field)[0] ?? 'filled', value: null }
  const ends = Array.isArray(value) ? (value as readonly (Scalar | null)[]) : [value as Scalar | null]
  const takes = OPERATORS[is]
  const text = (place: number): string => (takes === 'list' ? '' : String(ends[place] ?? ''))
  return { is, texts: [text(0), text(1)], flag: value !== false, items: itemsOf(is, value) }
}

/** Returns the operator of a new condition: a list for text fields with few distinct values. */
export function firstOperator(field: SheetField, distinct: number | null): Operator {
  const [first = 'filled'] = operatorsFor(field)
  return field.type === 'string' && distinct !== null && distinct <= FEW_VALUES ? 'anyOf' : first
}

/** Parses a draft, or returns the error. */
export function toCondition(field: SheetField, draft: Draft): Drafted {
  const { is, texts, items } = draft
  const of = (value: Condition['value']): Drafted => ({ condition: { field: field.name, is, value } })
  switch (OPERATORS[is]) {
    case 'nothing':
      return of(null)
    case 'list':
      return items.length === 0
        ? { error: `Choose at least one ${isOfCell(is) ? ITEM_OF_CELL[is] : 'value'}` }
        : of(items)
    case 'one': {
      if (field.type === 'boolean') return of(draft.flag)
      const parsed = parseOne(field, texts[0])
      return 'error' in parsed ? parsed : of(parsed.value)
    }
    case 'range': {
      const [from, to] = texts.map((text) => parseOne(field, text))
      if (from === undefined || to === undefined) return { error: 'Enter both ends of the range' }
      if ('error' in from) return from
      if ('error' in to) return to
      return of(inOrder(from.value, to.value))
    }
  }
}

/** Orders the ends of a range, except timestamps, which may have different offsets. */
function inOrder(from: Scalar, to: Scalar): readonly [Scalar, Scalar] {
  return placeOf(from) > placeOf(to) ? [to, from] : [from, to]
}

function placeOf(value: Scalar): number | string | boolean {
  const moment = typeof value === 'string' && value.includes('T') ? Date.parse(value) : Number.NaN
  return Number.isNaN(moment) ? value : moment
}

type Parsed = { readonly value: Scalar } | { readonly error: string }

function parseOne({ type }: SheetField, written: string): Parsed {
  if (written.trim() === '') return { error: 'Enter a value' }
  switch (type) {
    case 'integer':
    case 'number': {
      // Integers are compared with numbers of any kind.
      const parsed = parseNumber('number', written)
      return 'error' in parsed ? parsed : { value: Number(parsed.value) }
    }
    case 'date':
    case 'timestamp':
    case 'time': {
      const value = normalTemporal(type, written)
      return value === null ? { error: `Expected format: ${TEMPORAL_EXAMPLES[type]}` } : { value }
    }
    default:
      return { value: written }
  }
}

/** Parses a typed value to pick; null if it does not have the field's type. */
export function typedItem(field: SheetField, written: string): Scalar | null {
  const { type, itemType } = field
  const kind = type === 'array' ? (itemType ?? 'string') : type
  if (kind === 'boolean') return null
  const parsed = parseOne({ ...field, type: kind }, written)
  return 'error' in parsed ? null : parsed.value
}
