import type { LogicalType } from '../contract.ts'
import { compareMoments, parseMoment } from './date-time.ts'
import type { Moment } from './date-time.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { showValue } from '../json/show-value.ts'

/** A comparable form of a value; values of one type always have the same form. */
export type Ordered = number | Moment

/** One end of a range. */
export interface Bound {
  readonly value: Ordered
  readonly inclusive: boolean
  /** The bound as written in the contract. */
  readonly shown: string
}

/** The allowed range of a type's values; null where it is open. */
export interface Bounds {
  readonly lower: Bound | null
  readonly upper: Bound | null
}

/** Returns the comparable form of a value of the type; null if the value is invalid or the type has no order. */
export function ordered(type: LogicalType | null, value: unknown): Ordered | null {
  if (type === 'integer' || type === 'number') return typeof value === 'number' ? value : null
  if (type !== 'date' && type !== 'timestamp' && type !== 'time') return null
  return typeof value === 'string' ? parseMoment(type, value) : null
}

/** Compares like a comparator: negative if `a` precedes `b`, zero if they are equal, else positive. */
export function compareOrdered(a: Ordered, b: Ordered): number {
  return typeof a === 'number' || typeof b === 'number' ? Number(a) - Number(b) : compareMoments(a, b)
}

/** Returns the narrowest range of minimum, exclusiveMinimum, maximum, exclusiveMaximum and a number's `format`. */
export function boundsOf(type: LogicalType | null, options: JsonObject): Bounds {
  const [lowest, highest] = formatRange(type, options['format'])
  const bound = (value: JsonValue | undefined, inclusive: boolean): Bound | null => {
    const point = ordered(type, value)
    return point === null
      ? null
      : { value: point, inclusive, shown: typeof value === 'string' ? value : showValue(value) }
  }
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = options
  return {
    lower: narrowest([bound(minimum, true), bound(exclusiveMinimum, false), bound(lowest, true)], 1),
    upper: narrowest([bound(maximum, true), bound(exclusiveMaximum, false), bound(highest, true)], -1),
  }
}

/** Whether every value within `inner` lies within `outer`. */
export function withinBounds(inner: Bounds, outer: Bounds): boolean {
  return endWithin(inner.lower, outer.lower, 1) && endWithin(inner.upper, outer.upper, -1)
}

/** Whether the range excludes every value. */
export function isEmptyRange(type: LogicalType | null, { lower, upper }: Bounds): boolean {
  if (!lower || !upper) return false
  const order = compareOrdered(lower.value, upper.value)
  if (order > 0) return true
  if (order === 0) return !(lower.inclusive && upper.inclusive)
  if (type !== 'integer') return false
  const [least, most] = [Number(lower.value), Number(upper.value)]
  const first = lower.inclusive ? Math.ceil(least) : Math.floor(least) + 1
  const last = upper.inclusive ? Math.floor(most) : Math.ceil(most) - 1
  return first > last
}

/** 1 for lower ends, where the higher is narrower; -1 for upper ends. */
type Side = 1 | -1

function narrowest(bounds: readonly (Bound | null)[], side: Side): Bound | null {
  let best: Bound | null = null
  for (const bound of bounds) {
    if (bound && (best === null || !endWithin(best, bound, side))) best = bound
  }
  return best
}

function endWithin(inner: Bound | null, outer: Bound | null, side: Side): boolean {
  if (!outer) return true
  if (!inner) return false
  const order = compareOrdered(inner.value, outer.value) * side
  return order > 0 || (order === 0 && (outer.inclusive || !inner.inclusive))
}

const MAX_F32 = 3.4028234663852886e38

/** Returns the range of a `format` of the standard (Rust's type names); 64 bits and more end at the limit of D13. */
function formatRange(type: LogicalType | null, format: JsonValue | undefined): readonly [number?, number?] {
  if (type === 'number') return format === 'f32' ? [-MAX_F32, MAX_F32] : []
  if (type !== 'integer' || typeof format !== 'string') return []
  const unsigned = format.startsWith('u')
  const bits = Number(format.slice(1))
  if (bits > 32) return unsigned ? [0] : []
  return unsigned ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
}
