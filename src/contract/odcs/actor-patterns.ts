import { customProperty } from './custom-property.ts'
import type { Path, ShapeContext } from './document-shape.ts'
import { globFault } from '../values/glob.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { showValue } from '../json/show-value.ts'

/**
 * The list of actor patterns in a custom property of an element, or null when the element has none by that name
 * (D7). Throws ContractError when it is there twice or is no list of patterns.
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

/** Checks a list of actor patterns; `name` is what messages call it. */
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
      typeof pattern !== 'string' ? 'it must be a text' : context.stored ? null : globFault(pattern)
    if (fault !== null)
      context.file.fail([...path, index], `the pattern ${showValue(pattern)} of ${name}: ${fault}`)
  }
  return value as readonly string[]
}
