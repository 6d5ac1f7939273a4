import { isJsonObject } from '../../../../contract/json/json.ts'
import type { JsonValue } from '../../../../contract/json/json.ts'

/** A dot-path into a response, such as `rates.usd` or `items.0.name`. */
export interface ResponsePath {
  readonly text: string
  readonly segments: readonly string[]
}

/** The path of the whole response. */
const WHOLE = '$'

/** Splits a dot-path; undefined if it or one of its segments is empty. `$` is the whole response. */
export function parseResponsePath(text: string): ResponsePath | undefined {
  if (text === WHOLE) return { text, segments: [] }
  const segments = text.split('.')
  return segments.includes('') ? undefined : { text, segments }
}

/**
 * Returns the value at a path, undefined if there is none. Segments are own keys of objects or decimal indexes of arrays; inherited members
 * and `length` are never found. Null at the path is a value (D26).
 */
export function valueAt(response: JsonValue, path: ResponsePath): JsonValue | undefined {
  let value: JsonValue | undefined = response
  for (const segment of path.segments) {
    if (Array.isArray(value)) value = itemAt(value, segment)
    else if (isJsonObject(value)) value = Object.hasOwn(value, segment) ? value[segment] : undefined
    else return undefined
  }
  return value
}

function itemAt(items: readonly JsonValue[], segment: string): JsonValue | undefined {
  return /^(?:0|[1-9]\d*)$/.test(segment) ? items[Number(segment)] : undefined
}
