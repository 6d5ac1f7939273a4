import { ContractError, fileError } from '../../errors/service-error.ts'
import { actorPatterns } from './actor-patterns.ts'
import type { Contract, Field } from '../contract.ts'
import { checkKeys, checkShape, own } from './document-shape.ts'
import type { PatternWork, ShapeContext } from './document-shape.ts'
import { checkIdSource } from './id-source.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { DOCUMENT, serverShape } from './odcs-document.ts'
import { SCHEMA_ENTRY } from './odcs-schema.ts'
import { parseField } from './parse-field.ts'
import { checkQuality } from './quality-rules.ts'
import { showValue } from '../json/show-value.ts'
import { parseYamlFile } from '../yaml/yaml-file.ts'
import type { YamlFile } from '../yaml/yaml-file.ts'
import { STORED_LIMITS } from '../yaml/yaml-limits.ts'

/** The most fields of a contract; SQLite has 2000 columns. */
export const MAX_FIELDS = 1000

/**
 * Parses a contract: an Open Data Contract Standard document of v3.0.x or v3.1.x (D4–D7). Throws ContractError
 * `<file>:<line>: …` at its first error. `Contract.document` is the whole document with the standard's defaults for
 * the keys that the service uses: `primaryKey`, `required` and `unique` on each field, false by default (`required`
 * is true on the primary key). `status` has no default in the standard and stays absent.
 */
export function parseContract(text: string, file = 'contract.yaml'): Contract {
  return (latest = contractOf(text, parseYamlFile(text, file), false))
}

/** The contract that was parsed last: a store is opened with the text that it has, and reads its own again. */
let latest: Contract | null = null

/**
 * Parses the contract in a store, which was validated when it was written: limits and patterns are not checked again.
 * Throws ContractError for an invalid document.
 */
export function parseStoredContract(text: string): Contract {
  if (latest?.text !== text)
    latest = contractOf(text, parseYamlFile(text, 'contract.yaml', STORED_LIMITS), true)
  return latest
}

function contractOf(text: string, yaml: YamlFile, stored: boolean): Contract {
  const context: ShapeContext = { file: yaml, since31: versionOf(yaml) !== '3.0', stored, work: noWork() }
  const document = checkKeys(yaml.value, DOCUMENT, [], context)
  checkShape(document, DOCUMENT, [], context)
  for (const [index, server] of list(document, 'servers').entries()) {
    const { type } = checkKeys(server, { keys: {} }, ['servers', index], context)
    checkShape(server, serverShape(type), ['servers', index], context)
  }
  const entry = schemaEntry(document, context)
  const fields = parseFields(entry, context)
  return {
    document: withDefaults(document, entry, fields),
    fields,
    fieldByName: new Map(fields.map((field) => [field.name, field])),
    deletableBy: deletableBy(document, entry, context),
    text,
  }
}

function noWork(): PatternWork {
  return { patterns: new Set(), compiled: 0, matched: 0 }
}

/** Reads the version first: a wrong one causes most other errors. */
function versionOf(yaml: YamlFile): '3.0' | '3.1' {
  const { file, value } = yaml
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'a contract is a map of keys, as in the Open Data Contract Standard (ODCS) v3.1'
    throw new ContractError(...fileError({ file, line: 1, message }, 'invalid_definition'))
  }
  const version = own(value as JsonObject, 'apiVersion')
  const match = typeof version === 'string' ? /^v3\.([01])\.\d+$/.exec(version) : null
  if (match) return match[1] === '0' ? '3.0' : '3.1'
  const found = version === null ? 'apiVersion is missing' : `apiVersion is ${showValue(version)}`
  return yaml.fail(['apiVersion'], `${found}; write "apiVersion: v3.1.0" (v3.0.x and v3.1.x are understood)`)
}

function schemaEntry(document: JsonObject, context: ShapeContext): JsonObject {
  const entries = list(document, 'schema')
  const [entry] = entries
  if (entry === undefined || entries.length > 1) {
    context.file.fail(
      ['schema'],
      `schema must have exactly one entry, the sheet's records, but has ${entries.length}`,
    )
  }
  const path = ['schema', 0]
  checkShape(entry, SCHEMA_ENTRY, path, context)
  for (const [index, rule] of list(entry as JsonObject, 'quality').entries()) {
    checkQuality(rule, [...path, 'quality', index], context)
  }
  return entry as JsonObject
}

function parseFields(entry: JsonObject, context: ShapeContext): readonly Field[] {
  const path = ['schema', 0, 'properties']
  const properties = list(entry, 'properties')
  if (properties.length > MAX_FIELDS) {
    context.file.fail(path, `${properties.length} fields; a sheet has at most ${MAX_FIELDS}`)
  }
  const fields = properties.map((property, index) => parseField(property, [...path, index], context))
  checkNames(fields, path, context)
  const key = checkPrimaryKey(fields, path, context)
  checkIdSource(properties[key] as JsonObject, fields, { path: [...path, key], context })
  return fields
}

function checkNames(
  fields: readonly Field[],
  path: readonly (string | number)[],
  context: ShapeContext,
): void {
  const seen = new Map<string, string>()
  for (const [index, { name }] of fields.entries()) {
    const earlier = seen.get(name.toLowerCase())
    if (earlier !== undefined) {
      const clash = earlier === name ? 'is there twice' : `differs from "${earlier}" in case only`
      context.file.fail([...path, index, 'name'], `the field name "${name}" ${clash}; rename one`)
    }
    seen.set(name.toLowerCase(), name)
  }
}

/** Checks the primary key (D5) and returns its index. */
function checkPrimaryKey(
  fields: readonly Field[],
  path: readonly (string | number)[],
  context: ShapeContext,
): number {
  const [first, second] = [...fields.entries()].filter(([, field]) => field.primaryKey)
  if (!first) {
    context.file.fail(path, 'no property has primaryKey: true; add a required string "id" that has it')
  }
  if (second) {
    context.file.fail([...path, second[0], 'primaryKey'], 'a second primaryKey: true; only "id" may have it')
  }
  const [index, field] = first
  if (field.name !== 'id') {
    context.file.fail(
      [...path, index, 'name'],
      `the primary key is called "${field.name}"; it must be called "id"`,
    )
  }
  if (field.type !== 'string') {
    context.file.fail([...path, index, 'logicalType'], `"id" is of type ${field.type}; it must be a string`)
  }
  if (!field.required) context.file.fail([...path, index, 'required'], '"id" must be required: true')
  return index
}

/** Reads `deletableBy` of the contract or its schema entry (D7). */
function deletableBy(
  document: JsonObject,
  entry: JsonObject,
  context: ShapeContext,
): readonly string[] | null {
  const ofContract = actorPatterns(document, 'deletableBy', [], context)
  const ofEntry = actorPatterns(entry, 'deletableBy', ['schema', 0], context)
  if (ofContract && ofEntry) {
    context.file.fail(
      ['schema', 0, 'customProperties'],
      'the custom property deletableBy is on the contract and on its schema entry; keep one',
    )
  }
  return ofContract ?? ofEntry
}

function withDefaults(document: JsonObject, entry: JsonObject, fields: readonly Field[]): JsonObject {
  const properties = list(entry, 'properties').map((property, index) => {
    const { primaryKey, required, unique } = fields[index]!
    return { ...(property as JsonObject), primaryKey, required, unique }
  })
  return { ...document, schema: [{ ...entry, properties }] }
}

function list(map: JsonObject, key: string): readonly JsonValue[] {
  return (own(map, key) ?? []) as readonly JsonValue[]
}
