import { Type, type TObject, type TProperties } from 'typebox'

/** Creates an object schema that allows the named members and no others, so that misspelt names are refused. */
export function closedObject<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false })
}
