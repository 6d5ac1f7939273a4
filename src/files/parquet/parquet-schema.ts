import type { FileMetaData, SchemaElement } from 'hyparquet'
import { isMapLike } from 'hyparquet/src/schema.js'
import type { SchemaTree } from 'hyparquet/src/types.js'

/** Writers that do not declare their byte arrays as texts. */
const WRITES_BARE_TEXT = /^impala\b/i

/**
 * Decides which byte arrays are texts: those that the file declares (strings, enums, JSON), and those of writers that
 * never declare any. All others are bytes, like BSON and intervals.
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

/**
 * Makes the library return decimals unchanged, as integers or bytes, since it would round them. The logical type
 * keeps what `jsonOf` needs. Keys of maps are excluded: the library converts them to texts.
 */
export function settleDecimals(column: SchemaTree): void {
  const [keyAndValue] = isMapLike(column) ? column.children : []
  for (const child of keyAndValue?.children.slice(1) ?? column.children) settleDecimals(child)
  const { element } = column
  const { converted_type: converted, logical_type: logical, precision = 0, scale = 0 } = element
  if (converted !== 'DECIMAL' && logical?.type !== 'DECIMAL') return
  delete element.converted_type
  if (logical?.type !== 'DECIMAL') element.logical_type = { type: 'DECIMAL', precision, scale }
}

/** Whether an element is a text that the library would read as bytes. */
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
