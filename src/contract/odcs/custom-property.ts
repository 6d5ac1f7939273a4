import { own } from './document-shape.ts'
import type { Path, ShapeContext } from './document-shape.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'

/**
 * Returns the value of a custom property of an element and its path; null if the element has none by that name.
 * Throws ContractError if it is repeated.
 */
export function customProperty(
  element: JsonObject,
  name: string,
  path: Path,
  context: ShapeContext,
): { readonly value: JsonValue; readonly path: Path } | null {
  const [index, second] = placesOf(element, name)
  if (index === undefined) return null
  if (second !== undefined) {
    context.file.fail(
      [...path, 'customProperties', second],
      `the custom property ${name} is there twice; keep one`,
    )
  }
  return {
    value: customValues(element, name)[0] ?? null,
    path: [...path, 'customProperties', index, 'value'],
  }
}

/** Returns the values of all custom properties of an element by this name. */
export function customValues(element: JsonObject, name: string): JsonValue[] {
  return placesOf(element, name).map((index) => own(customProperties(element)[index]!, 'value'))
}

function placesOf(element: JsonObject, name: string): number[] {
  const custom = customProperties(element)
  return [...custom.keys()].filter((index) => own(custom[index]!, 'property') === name)
}

function customProperties(element: JsonObject): readonly JsonObject[] {
  return (own(element, 'customProperties') ?? []) as readonly JsonObject[]
}
