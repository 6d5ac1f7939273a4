import type { FileMetaData, SchemaElement } from 'hyparquet'

/** Writers that leave out that their byte arrays are texts. */
const WRITES_BARE_TEXT = /^impala\b/i

/**
 * Settles which byte arrays of a file are texts: those that the file calls so (strings, enums, JSON), and those of writers
 * that never say it. All others are bytes, as BSON and intervals are.
 */
export function settleByteArrays({ schema, created_by: writer }: FileMetaData): void {
  const bareIsText = WRITES_BARE_TEXT.test(writer ?? '')
  for (const element of schema) {
    if (element.converted_type === 'BSON' || element.converted_type === 'INTERVAL') {
      delete element.converted_type
      delete element.logical_type
    } else if (isText(element, bareIsText)) element.converted_type = 'UTF8'
  }
}

/** Whether an element is a text that the library would otherwise take for bytes. */
function isText(
  { type, converted_type: converted, logical_type: logical }: SchemaElement,
  bareIsText: boolean,
): boolean {
  if (type !== 'BYTE_ARRAY') return false
  if (converted === 'ENUM' || logical?.type === 'ENUM') return true
  // With the older annotation, the library parses the JSON itself.
  if (logical?.type === 'JSON') return converted !== 'JSON'
  return bareIsText && converted === undefined && logical === undefined
}
