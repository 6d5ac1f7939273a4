import type { SheetField } from '../api/contract.ts'
import { defaultFormat } from '../values/column-format.ts'
import { formatValue } from '../values/format-value.ts'
import { ANY_COLUMN, isOfCell, OPERATORS, type Condition, type Scalar } from '../state/conditions.ts'
import { stateName } from '../ui/state-names.ts'
import { conditionLabel } from './operators-for.ts'

/** The number of list items that a sentence names. */
const NAMED = 3

type NamedField = Pick<SheetField, 'name' | 'title' | 'type'>

/** A condition as text; `value` is empty if the operator has no operand. */
interface ConditionText {
  readonly field: string
  readonly operator: string
  readonly value: string
}

/** Returns the name of a state, a verdict, or a group of failures. */
type NameOf = (name: unknown) => string

/** Formats a condition; `field` is null if the contract has no such field. */
export function conditionText(
  condition: Condition,
  field: NamedField | null,
  nameOf: NameOf = stateName,
): ConditionText {
  return {
    field: field?.title ?? (condition.field === ANY_COLUMN ? anyColumn(condition) : condition.field),
    operator: conditionLabel(condition, field?.type ?? null),
    value: valueText(condition, field, nameOf),
  }
}

function anyColumn({ is }: Condition): string {
  return is === 'inState' || is === 'notInState' || is === 'failedWith' ? 'Any computed column' : 'Any column'
}

/** Formats a condition in one line. */
export function conditionSentence(...condition: Parameters<typeof conditionText>): string {
  const text = conditionText(...condition)
  return [text.field, text.operator, text.value].filter((part) => part !== '').join(' ')
}

function valueText({ is, value }: Condition, field: NamedField | null, nameOf: NameOf): string {
  const values = Array.isArray(value) ? (value as readonly (Scalar | null)[]) : [value as Scalar | null]
  const texts = values.map((each) =>
    isOfCell(is) ? nameOf(each) : scalarText(is === 'within' ? roughly(each) : each, field),
  )
  switch (OPERATORS[is]) {
    case 'nothing':
      return ''
    case 'one':
      return texts[0] ?? ''
    case 'range':
      return texts.join(is === 'within' ? ' to under ' : ' and ')
    case 'list':
      return texts.length > NAMED
        ? `${texts.slice(0, NAMED - 1).join(', ')} and ${texts.length - NAMED + 1} more`
        : texts.join(', ')
  }
}

/** Rounds bounds of histogram ranges, which have many digits. */
function roughly(value: Scalar | null): Scalar | null {
  return typeof value === 'number' ? Number(value.toPrecision(6)) : value
}

/** Formats a value in a sentence, naming null and the empty text. */
export function scalarText(value: Scalar | null, field: NamedField | null): string {
  if (value === null) return 'no value'
  if (value === '') return 'an empty text'
  if (field === null) return formatValue(null, value)
  return formatValue(field.type === 'array' ? null : field.type, value, defaultFormat(field))
}
