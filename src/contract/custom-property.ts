import { own } from './document-shape.ts'
import type { Path, ShapeContext } from './document-shape.ts'
import type { JsonObject, JsonValue } from './json.ts'

/**
 * The value of a custom property of an element, and where it stands; null when the element has none by that name. Throws
 * ContractError when it is there twice.
 */
export function customProperty(
  element: JsonObject,
  name: string,
  path: Path,
  context: ShapeContext,
): { readonly value: JsonValue; readonly path: Path } | null {
  const custom = (own(element, 'customProperties') ?? []) as readonly JsonObject[]
  const indexes = [...custom.keys()].filter((index) => own(custom[index]!, 'property') === name)
  const [index, second] = indexes
  if (index === undefined) return null
  if (second !== undefined) {
    context.file.fail(
      [...path, 'customProperties', second],
      `the custom property ${name} is there twice; keep one`,
    )
  }
  return { value: own(custom[index]!, 'value'), path: [...path, 'customProperties', index, 'value'] }
}
