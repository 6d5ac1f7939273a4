import type { Field, LogicalType, ValueRule } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { convertValue } from '../../contract/values/convert-value.ts'

const SCALARS = ['string', 'integer', 'number', 'boolean', 'date', 'timestamp', 'time'] as const

/**
 * Returns the values that a conversion between two types can make of a value, whatever else the contract said at that time: the
 * log has the types only. Empty where none fits; null where the value says that there is none, as blank text.
 */
export function convertedValues(
  { before, type }: { readonly before: LogicalType; readonly type: LogicalType },
  value: JsonValue,
): readonly JsonValue[] {
  const rules: readonly Field[] = type === 'array' ? ARRAYS : [fieldOf({ type })]
  return rules.map((rule) => convertValue(rule, before, value)).filter((made) => made !== undefined)
}

/** Arrays with the items of every type that can be made of a single value. */
const ARRAYS: readonly Field[] = [undefined, ...SCALARS.map((type) => ruleOf({ type }))].flatMap((items) => [
  fieldOf({ type: 'array', ...(items && { items }) }),
  fieldOf({ type: 'array', items: ruleOf({ type: 'array', ...(items && { items }) }) }),
])

function ruleOf(rule: Pick<ValueRule, 'type' | 'items'>): ValueRule {
  return { required: false, options: {}, validValues: null, ...rule }
}

function fieldOf(rule: Pick<Field, 'type' | 'items'>): Field {
  return {
    ...ruleOf(rule),
    ...rule,
    name: '',
    primaryKey: false,
    unique: false,
    indexed: false,
    editableBy: null,
    declaredDerived: null,
    declaredInputs: null,
  }
}
