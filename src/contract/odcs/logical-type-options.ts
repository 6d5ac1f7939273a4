import { boundsOf, isEmptyRange, ordered } from '../values/bounds.ts'
import type { LogicalType } from '../contract.ts'
import { TEMPORAL_FORMS } from '../values/date-time.ts'
import { at, checkShape } from './document-shape.ts'
import type { MapShape, Path, Shape, ShapeContext } from './document-shape.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { compilePattern, MAX_PATTERN_SIZE_TOGETHER } from '../values/pattern.ts'
import { showValue } from '../json/show-value.ts'

const INTEGER_FORMATS: Shape = {
  oneOf: ['i8', 'i16', 'i32', 'i64', 'i128', 'u8', 'u16', 'u32', 'u64', 'u128'],
}

function numberShape(format: Shape): MapShape {
  const keys = {
    multipleOf: 'number',
    minimum: 'number',
    maximum: 'number',
    exclusiveMinimum: 'number',
    exclusiveMaximum: 'number',
    format,
  } as const
  return { keys, closedSince: '3.0' }
}

function temporalShape(more: Record<string, Shape>): MapShape {
  const keys = {
    format: 'string',
    minimum: 'string',
    maximum: 'string',
    exclusiveMinimum: 'string',
    exclusiveMaximum: 'string',
    ...more,
  } as const
  return { keys, closedSince: '3.0' }
}

/** The keys of `logicalTypeOptions` for each type; the standard leaves those of a boolean open. */
const OPTIONS: Readonly<Record<LogicalType, MapShape>> = {
  string: {
    keys: { minLength: 'integer', maxLength: 'integer', pattern: 'string', format: 'string' },
    closedSince: '3.0',
  },
  integer: numberShape(INTEGER_FORMATS),
  number: numberShape({ oneOf: ['f32', 'f64'] }),
  boolean: { keys: {} },
  date: temporalShape({}),
  timestamp: temporalShape({ timezone: 'boolean', defaultTimezone: 'string' }),
  time: temporalShape({ timezone: 'boolean', defaultTimezone: 'string' }),
  array: {
    keys: { minItems: 'integer', maxItems: 'integer', uniqueItems: 'boolean' },
    closedSince: '3.0',
  },
  object: {
    keys: { minProperties: 'integer', maxProperties: 'integer', required: { listOf: 'string' } },
    closedSince: '3.0',
  },
}

const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']
const COUNT_PAIRS = [
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']

/**
 * Parses the `logicalTypeOptions` of a property (D6): without nulls, exclusive bounds as values. Throws ContractError
 * for unknown keys, wrong types, patterns that do not compile, and options that exclude every value.
 */
export function parseOptions(
  type: LogicalType | null,
  value: JsonValue,
  path: Path,
  context: ShapeContext,
): JsonObject {
  if (value === null) return {}
  const shape: MapShape = type === null ? { keys: {} } : OPTIONS[type]
  const written = context.since31 ? value : withBoundsAsValues(value, path, context)
  checkShape(written, shape, path, context)
  const present = Object.entries(written as JsonObject).filter(([, item]) => item !== null)
  const options: JsonObject = Object.fromEntries(present)
  if (type === null || type === 'boolean') return options
  checkCounts(options, path, context)
  checkBounds(type, options, path, context)
  checkRest(type, options, path, context)
  return options
}

/** Converts exclusive bounds of ODCS v3.0, such as `maximum: 5, exclusiveMaximum: true`. */
function withBoundsAsValues(value: JsonValue, path: Path, context: ShapeContext): JsonValue {
  const written =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
  if (!written) return value
  const options: Record<string, JsonValue> = { ...written }
  for (const [exclusive, inclusive] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const flag = options[exclusive]
    if (typeof flag !== 'boolean') continue
    delete options[exclusive]
    const bound = options[inclusive] ?? null
    if (!flag) continue
    if (bound === null) context.file.fail([...path, exclusive], `${exclusive}: true needs a ${inclusive}`)
    options[exclusive] = bound
    delete options[inclusive]
  }
  return options
}

function checkCounts(options: JsonObject, path: Path, context: ShapeContext): void {
  for (const name of COUNTS) {
    const count = options[name]
    if (typeof count === 'number' && count < 0)
      context.file.fail([...path, name], `${name} is ${count}; at least 0`)
  }
  for (const [least, most] of COUNT_PAIRS) {
    const [min, max] = [options[least], options[most]]
    if (typeof min === 'number' && typeof max === 'number' && min > max) {
      context.file.fail(
        [...path, least],
        `${least} ${min} is more than ${most} ${max}: no value could meet both`,
      )
    }
  }
}

function checkBounds(type: LogicalType, options: JsonObject, path: Path, context: ShapeContext): void {
  for (const name of BOUNDS) {
    const bound = options[name]
    if (bound === undefined || ordered(type, bound) !== null) continue
    const form =
      type === 'date' || type === 'timestamp' || type === 'time' ? TEMPORAL_FORMS[type] : 'a number'
    context.file.fail([...path, name], `${name} is ${showValue(bound)}, but must be ${form}`)
  }
  const bounds = boundsOf(type, options)
  if (isEmptyRange(type, bounds)) {
    const range = `${bounds.lower?.shown} to ${bounds.upper?.shown}`
    context.file.fail(path, `no value could meet the bounds in ${at(path)}: the range ${range} is empty`)
  }
}

function checkRest(type: LogicalType, options: JsonObject, path: Path, context: ShapeContext): void {
  const step = options['multipleOf']
  if (typeof step === 'number' && step <= 0) {
    context.file.fail([...path, 'multipleOf'], `multipleOf is ${step}, but must be more than 0`)
  }
  if (type === 'string' && typeof options['pattern'] === 'string') {
    checkPattern(options['pattern'], [...path, 'pattern'], context)
  }
  const required = options['required']
  const most = options['maxProperties']
  if (Array.isArray(required) && typeof most === 'number' && new Set(required).size > most) {
    context.file.fail(
      [...path, 'required'],
      `required names more properties than maxProperties ${most} allows`,
    )
  }
}

function checkPattern(pattern: string, path: Path, context: ShapeContext): void {
  const { work, stored } = context
  if (stored || work.patterns.has(pattern)) return
  try {
    work.compiled += compilePattern(pattern).size
    work.patterns.add(pattern)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const advice =
      error instanceof RangeError
        ? 'make it smaller'
        : 'patterns are regular expressions without look-around and back-references'
    context.file.fail(
      path,
      `the pattern ${showValue(pattern)} cannot be used (${reason.slice(0, 200)}); ${advice}`,
    )
  }
  if (work.compiled > MAX_PATTERN_SIZE_TOGETHER) {
    context.file.fail(
      path,
      `the patterns up to here have together more than ${MAX_PATTERN_SIZE_TOGETHER} parts, written out; make them smaller`,
    )
  }
}
