import { refName, type DocumentShape, type SchemaShape } from './document-shape.ts'

/** The depth beyond which a sample is left out. */
const DEEPEST = 6

/** Returns a value that a schema allows: its example, or else the minimum that it requires. */
export function sampleOf(schema: SchemaShape, document: DocumentShape, depth = 0): unknown {
  if (depth > DEEPEST) return null
  if (schema.$ref !== undefined) {
    return sampleOf(document.components.schemas[refName(schema.$ref)] ?? {}, document, depth + 1)
  }
  if (schema.examples !== undefined) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first !== undefined) return sampleOf(first, document, depth + 1)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [
          name,
          sampleOf(schema.properties?.[name] ?? {}, document, depth + 1),
        ]),
      )
    case 'array':
      return schema.items === undefined ? [] : [sampleOf(schema.items, document, depth + 1)]
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return '…'
  }
}
