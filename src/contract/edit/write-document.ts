import { OperationError } from '../../errors/service-error.ts'
import type { Contract } from '../contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { editYaml } from '../yaml/edit/edit-yaml.ts'
import { editsBetween } from '../yaml/edit/value-edits.ts'
import { valueAt, type YamlEdit } from '../yaml/edit/yaml-edit.ts'
import { parseYamlFile } from '../yaml/yaml-file.ts'

/** The most characters that are parsed for edits one after the other; each takes the time of parsing the text. */
const MOST_WORK = 2_000_000

/** The defaults of a property that responses about the contract have, and files need not have. */
const DEFAULTS: Readonly<Record<string, JsonValue>> = { primaryKey: false, required: false, unique: false }

/**
 * Returns the text of a contract with another document, as the service returns it or as the file has it. Keys, items and comments that both
 * have stay as they are; `derived`, which the service adds, and defaults that the file leaves out are left out. With very many added
 * or removed parts in a long file, the differing keys of the root are written anew. `renamed` has new names of fields by those before. Throws OperationError for a document that is not a map.
 */
export function writeDocument(
  { text: present, document: before, fields }: Contract,
  document: JsonValue,
  renamed: ReadonlyMap<string, string>,
): string {
  const file = 'contract.yaml'
  if (!isJsonObject(document))
    throw new OperationError('the contract is not an object with the keys of the standard')
  // A field with another name is the same field.
  const names = fields.flatMap(({ name }, index): YamlEdit[] => {
    const value = renamed.get(name)
    return value === undefined ? [] : [{ op: 'set', path: ['schema', 0, 'properties', index, 'name'], value }]
  })
  const text = editYaml(present, file, names)
  const value = parseYamlFile(text, file).value as JsonObject
  const after = withoutAdditions(document, value, before)
  const edits = editsBetween(value, after)
  // Values that are replaced where they are take the time of one edit together.
  const isInPlace = edits.every(({ op, path }) => op === 'set' && valueAt(value, path) !== undefined)
  const size = Math.max(text.length, JSON.stringify(after).length)
  if (isInPlace || edits.length <= Math.max(4, MOST_WORK / size)) return editYaml(text, file, edits)
  const roots = new Set(edits.map(({ path }) => String(path[0])))
  return editYaml(
    text,
    file,
    Array.from(roots, (key): YamlEdit =>
      Object.hasOwn(after, key)
        ? { op: 'set', path: [key], value: after[key] ?? null }
        : { op: 'remove', path: [key] },
    ),
  )
}

/** Returns a document without what responses add to the file. */
function withoutAdditions(document: JsonObject, present: JsonObject, before: JsonObject): JsonObject {
  const [entry, ...more] = listOf(document['schema'])
  if (!isJsonObject(entry) || !Array.isArray(entry['properties'])) return document
  const known = new Map(propertiesOf(present).map((property) => [property['name'], property]))
  const shown = new Map(propertiesOf(before).map((property) => [property['name'], property]))
  const properties = listOf(entry['properties']).map((property) => {
    if (!isJsonObject(property)) return property
    const name = property['name'] ?? null
    const inFile = known.get(name) ?? {}
    const defaults = shown.get(name) ?? DEFAULTS
    const kept = Object.entries(property).filter(
      ([key, value]) =>
        Object.hasOwn(inFile, key) ||
        (key !== 'derived' && (!Object.hasOwn(DEFAULTS, key) || value !== defaults[key])),
    )
    return Object.fromEntries(kept)
  })
  return { ...document, schema: [{ ...entry, properties }, ...more] }
}

function propertiesOf(document: JsonObject): readonly JsonObject[] {
  const [entry] = listOf(document['schema'])
  return isJsonObject(entry) ? listOf(entry['properties']).filter((property) => isJsonObject(property)) : []
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
