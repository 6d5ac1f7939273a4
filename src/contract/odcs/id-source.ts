import type { Contract, Field } from '../contract.ts'
import { customProperty, customValues } from './custom-property.ts'
import type { Path, ShapeContext } from './document-shape.ts'
import { own } from './document-shape.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { showValue } from '../json/show-value.ts'

/** The custom property of `id` that defines the id of records without one in their file. */
export const ID_FROM = 'idFrom'

/** The value of {@link ID_FROM} for ids that are record numbers of the file, from 1. */
export const ROW_NUMBER = 'rowNumber'

/** The source of the id of a record whose file has none: its number, or fields to join. */
export type IdSource =
  { readonly kind: 'rowNumber' } | { readonly kind: 'fields'; readonly fields: readonly string[] }

/** Reads the custom property {@link ID_FROM} of `id`; null if files have all ids. */
export function idSourceOf({ document }: Contract): IdSource | null {
  const [entry] = document['schema'] as readonly JsonObject[]
  const properties = (entry === undefined ? [] : own(entry, 'properties')) as readonly JsonObject[]
  const id = properties.find((property) => own(property, 'name') === 'id')
  const value = id === undefined ? null : (customValues(id, ID_FROM)[0] ?? null)
  if (value === ROW_NUMBER) return { kind: 'rowNumber' }
  return isListOfTexts(value) ? { kind: 'fields', fields: value } : null
}

/** Throws ContractError for an invalid custom property `idFrom`. */
export function checkIdSource(
  id: JsonObject,
  fields: readonly Field[],
  { path, context }: { readonly path: Path; readonly context: ShapeContext },
): void {
  if (context.stored) return
  const custom = customProperty(id, ID_FROM, path, context)
  if (custom === null || custom.value === ROW_NUMBER) return
  const { value } = custom
  if (!isListOfTexts(value)) {
    return context.file.fail(
      custom.path,
      `idFrom is ${showValue(value)}; it must be "${ROW_NUMBER}" or a list of fields whose values make the id`,
    )
  }
  for (const [index, name] of value.entries()) {
    if (name !== 'id' && fields.some((field) => field.name === name)) continue
    const fault = name === 'id' ? 'an id cannot be made from itself' : `there is no field ${showValue(name)}`
    context.file.fail([...custom.path, index], `idFrom: ${fault}`)
  }
}

function isListOfTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
}
