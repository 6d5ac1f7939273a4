import { Type, type TObject, type TProperties } from 'typebox'

/** An object schema that takes the named members and no others, so that a misspelt one is noticed. */
export function closedObject<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false })
}
