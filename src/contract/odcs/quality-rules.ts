import type { ValueRule } from '../contract.ts'
import { at, checkKeys, checkShape, own } from './document-shape.ts'
import type { Path, ShapeContext } from './document-shape.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { OPERATOR_NAMES, qualityShape } from './odcs-schema.ts'
import { patternSize } from '../values/pattern-size.ts'
import { showValue } from '../json/show-value.ts'
import { checkOf } from '../values/validate-value.ts'

/**
 * The most characters of closed lists times the sizes of their patterns in a contract, a fraction of a second at
 * worst. Longer lists are not checked against their patterns: an invalid value is refused when it is written.
 */
const MAX_LIST_WORK = 4_000_000

/** Returns the values that all `invalidValues` rules with `mustBe: 0` allow, or null if there is no such rule (D6). */
export function closedList(
  quality: JsonValue,
  rule: ValueRule,
  path: Path,
  context: ShapeContext,
): readonly (string | number | boolean)[] | null {
  let closed: readonly (string | number | boolean)[] | null = null
  for (const [index, check] of ((quality ?? []) as readonly JsonValue[]).entries()) {
    const checked = checkQuality(check, [...path, index], context)
    const args = own(checked, 'arguments') as JsonObject | null
    const list = args ? own(args, 'validValues') : null
    const closes = own(checked, 'metric') === 'invalidValues' && own(checked, 'mustBe') === 0
    if (!closes || list === null) continue
    const listPath = [...path, index, 'arguments', 'validValues']
    const values = validValues(list, rule, listPath, context)
    const known = new Set(values)
    closed = closed === null ? values : closed.filter((value) => known.has(value))
    if (closed.length === 0) context.file.fail(listPath, 'validValues leaves no value that would be valid')
  }
  return closed
}

function validValues(
  list: JsonValue,
  rule: ValueRule,
  path: Path,
  context: ShapeContext,
): (string | number | boolean)[] {
  if (!Array.isArray(list)) context.file.fail(path, `validValues must be a list, but is ${showValue(list)}`)
  if (rule.type === 'array' || rule.type === 'object') {
    context.file.fail(path, `validValues lists single values: give it to what is inside the ${rule.type}`)
  }
  const check = checkOf(isTooMuch(list as readonly JsonValue[], rule, context) ? withoutPattern(rule) : rule)
  const values: (string | number | boolean)[] = []
  for (const [index, value] of (list as readonly JsonValue[]).entries()) {
    // `required` decides whether null is allowed.
    if (value === null) continue
    const fault = typeof value === 'object' ? `${showValue(value)} is not a single value` : check(value)
    if (fault !== null) context.file.fail([...path, index], `in validValues, ${fault}`)
    values.push(value as string | number | boolean)
  }
  return values
}

/** Whether a list is too long to check against the field's pattern; both may come from a stranger. */
function isTooMuch(
  list: readonly JsonValue[],
  { options }: ValueRule,
  { work, stored }: ShapeContext,
): boolean {
  if (typeof options.pattern !== 'string') return false
  if (stored) return true
  const characters = list.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  )
  work.matched += characters * patternSize(options.pattern)
  return work.matched > MAX_LIST_WORK
}

function withoutPattern(rule: ValueRule): ValueRule {
  const { pattern: _pattern, ...options } = rule.options
  return { ...rule, options }
}

/** Validates a quality rule; the service uses only closed lists of values. */
export function checkQuality(value: JsonValue, path: Path, context: ShapeContext): JsonObject {
  const rule = checkKeys(value, { keys: {} }, path, context)
  const type = own(rule, 'type')
  const hasMetric = own(rule, 'metric') !== null
  checkShape(rule, qualityShape(type, hasMetric), path, context)
  const compares = hasMetric || type === 'library' || type === 'sql'
  const operators = OPERATOR_NAMES.filter((name) => Object.hasOwn(rule, name))
  if (context.since31 && compares && operators.length !== 1) {
    const found = operators.length === 0 ? 'none' : operators.join(' and ')
    context.file.fail(path, `${at(path)} needs one comparison (such as mustBe: 0), but has ${found}`)
  }
  return rule
}
