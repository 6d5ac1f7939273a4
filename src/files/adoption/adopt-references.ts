import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'

/** The new names of the properties of a schema entry. */
export interface Renaming {
  readonly entry: string
  readonly renamed: ReadonlyMap<string, string>
}

/** Renames references to properties (`entry.property`) in service levels and relationships. */
export function renameReferences(document: JsonObject, renaming: Renaming): JsonObject {
  const rename = (value: JsonValue): JsonValue => renameIn(value, renaming)
  return mapKeys(document, {
    slaDefaultElement: rename,
    slaProperties: rename,
    schema: (schema) =>
      mapItems(schema, (entry) =>
        mapKeys(entry, {
          relationships: rename,
          properties: (properties) =>
            mapItems(properties, (property) => mapKeys(property, { relationships: rename })),
        }),
      ),
  })
}

function renameIn(value: JsonValue, renaming: Renaming): JsonValue {
  if (typeof value === 'string') {
    const start = `${renaming.entry}.`
    if (!value.startsWith(start)) return value
    const name = renaming.renamed.get(value.slice(start.length))
    return name === undefined ? value : start + name
  }
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => renameIn(item, renaming))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renameIn(item, renaming)]))
}

type KeyMap = Readonly<Record<string, (value: JsonValue) => JsonValue>>

function mapKeys(object: JsonObject, maps: KeyMap): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key,
      Object.hasOwn(maps, key) ? (maps[key]?.(value) ?? value) : value,
    ]),
  )
}

function mapItems(list: JsonValue, map: (item: JsonObject) => JsonObject): JsonValue {
  if (!Array.isArray(list)) return list
  return (list as readonly JsonValue[]).map((item) => (isJsonObject(item) ? map(item) : item))
}
