import { customProperty } from './custom-property.ts'
import type { Path, ShapeContext } from './document-shape.ts'
import { globError } from '../values/glob.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { showValue } from '../json/show-value.ts'

/**
 * Returns the list of actor patterns in a custom property of an element, or null if the element has none by that name
 * (D7). Throws ContractError if it is repeated or not a list of patterns.
 */
export function actorPatterns(
  element: JsonObject,
  name: string,
  path: Path,
  context: ShapeContext,
): readonly string[] | null {
  const custom = customProperty(element, name, path, context)
  return custom === null ? null : patternList(custom.value, name, custom.path, context)
}

/** Validates a list of actor patterns; `name` is its name in messages. */
export function patternList(
  value: JsonValue,
  name: string,
  path: Path,
  context: ShapeContext,
): readonly string[] {
  if (!Array.isArray(value)) {
    return context.file.fail(path, `${name} must be a list of patterns, but is ${showValue(value)}`)
  }
  for (const [index, pattern] of (value as readonly JsonValue[]).entries()) {
    const fault =
      typeof pattern !== 'string' ? 'it must be a text' : context.stored ? null : globError(pattern)
    if (fault !== null)
      context.file.fail([...path, index], `the pattern ${showValue(pattern)} of ${name}: ${fault}`)
  }
  return value as readonly string[]
}
