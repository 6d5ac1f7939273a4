import { LOGICAL_TYPES, type LogicalType } from '../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { globError } from '../../contract/values/glob.ts'
import { ContractError, fileError } from '../../errors/service-error.ts'
import { typeOfName } from '../adoption/physical-types.ts'
import { yamlText } from '../inference/contract-text.ts'
import { fieldNames } from '../inference/field-names.ts'
import type { DifferenceReport } from './difference-report.ts'
import { FOLIO_KEYS, FOLIO_NAME, FOLIO_TYPE, withCustom, type FolioField } from './folio-field.ts'
import type { FolioYaml } from './folio-yaml.ts'

/** The contract of a folio sheet during its conversion. */
export interface FolioContract {
  /** The document without its schema. */
  readonly document: JsonObject
  /** The entry of the schema without its properties. */
  readonly entry: JsonObject
  readonly fields: readonly FolioField[]
  /** The name of the primary key in folio. */
  readonly key: string
}

const FILE = 'contract.yaml'

const PROPERTY_KEYS: ReadonlySet<string> = new Set([
  'name',
  'logicalType',
  'primaryKey',
  'required',
  'description',
  'enum',
  'x-derived',
  'x-inputs',
  'x-editable-by',
])

/**
 * Reads the contract of a folio sheet, and reports what is different in the new one; `directory` names a sheet without an id. Throws
 * ContractError for a document that is no contract with exactly one schema entry.
 */
export function adoptFolioContract(
  yaml: FolioYaml,
  directory: string,
  report: DifferenceReport,
): FolioContract {
  reportYaml(yaml, report)
  const { value } = yaml
  if (!isJsonObject(value)) return fail(yaml, [], 'not a contract: a map of keys')
  const { schema, ...rest } = value
  const entries: readonly JsonValue[] = Array.isArray(schema) ? (schema as readonly JsonValue[]) : []
  const [entry] = entries
  if (entries.length !== 1 || !isJsonObject(entry)) {
    return fail(yaml, ['schema'], `schema must have exactly one entry, but has ${entries.length}`)
  }
  const { properties, ...others } = entry
  if (!Array.isArray(properties ?? []))
    return fail(yaml, ['schema', 0, 'properties'], 'properties must be a list of fields')
  const list = (properties ?? []) as readonly JsonValue[]
  const fields = adoptFields(list, yaml, report)
  return {
    document: adoptDocument(rest, { yaml, directory, report }),
    entry: adoptEntry(others, yaml, report),
    fields,
    key: fields.find(({ isKey }) => isKey)?.folio ?? 'id',
  }
}

/** Reports what YAML 1.2 reads differently. */
export function reportYaml({ file, only11, repeated }: FolioYaml, report: DifferenceReport): void {
  for (const { key, line } of repeated) {
    report.add(
      'adapted',
      { file, line },
      `the key ${showValue(key)} is there twice: the last value counts, as in folio`,
    )
  }
  if (only11 !== null && repeated.length === 0) {
    report.add('adapted', { file }, `read as YAML 1.1, as folio does, and written as YAML 1.2: ${only11}`)
  }
}

interface DocumentContext {
  readonly yaml: FolioYaml
  readonly directory: string
  readonly report: DifferenceReport
}

function adoptDocument(value: JsonObject, { yaml, directory, report }: DocumentContext): JsonObject {
  const at = (key: string): { file: string; line: number } => ({ file: FILE, line: yaml.lineOf([key]) })
  const { apiVersion = null, version = null, kind = null, id = null, description = null, ...others } = value
  const isKnown = typeof apiVersion === 'string' && /^v3\.[01]\.\d+$/.test(apiVersion)
  if (!isKnown) {
    report.add('adapted', at('apiVersion'), `apiVersion ${showValue(apiVersion)} is v3.1.0 here`)
  }
  if (kind !== 'DataContract') {
    report.add('adapted', at('kind'), `kind ${showValue(kind)} is DataContract here`)
  }
  const missing = [id === null ? 'id' : '', version === null ? 'version' : ''].filter((key) => key !== '')
  if (missing.length > 0)
    report.add('adapted', at('id'), `added ${missing.join(' and ')}, which ODCS requires`)
  let document: JsonObject = {
    apiVersion: isKnown ? apiVersion : 'v3.1.0',
    kind: 'DataContract',
    id: id === null ? directory : textOf(id),
    version: version === null ? '1.0.0' : textOf(version),
    ...(description === null
      ? {}
      : { description: typeof description === 'object' ? description : textOf(description) }),
  }
  const moved: Record<string, JsonValue> = {}
  for (const [key, member] of Object.entries(others)) {
    if (member !== null && isAllowed({ ...document, [key]: member })) {
      document = { ...document, [key]: member }
      continue
    }
    if (key === 'name' && member !== null && isAllowed({ ...document, name: textOf(member) })) {
      document = { ...document, name: textOf(member) }
      continue
    }
    Object.defineProperty(moved, key, { value: member, enumerable: true })
    report.add(
      'adapted',
      at(key),
      `the key ${showValue(key)} is in the custom property ${FOLIO_KEYS}, since ODCS has no such key or another type`,
    )
  }
  if (!isAllowed(document)) {
    Object.defineProperty(moved, 'description', { value: description, enumerable: true })
    report.add(
      'adapted',
      at('description'),
      `the description is in the custom property ${FOLIO_KEYS}: it is no text`,
    )
    const { description: _description, ...rest } = document
    document = rest
  }
  return Object.keys(moved).length === 0 ? document : withCustom(document, FOLIO_KEYS, moved)
}

/** Whether a document without its schema is one of ODCS. */
function isAllowed(document: JsonObject): boolean {
  const properties = [{ name: 'id', logicalType: 'string', primaryKey: true, required: true }]
  try {
    parseContract(yamlText({ ...document, schema: [{ name: 'x', properties }] }))
    return true
  } catch (error) {
    if (error instanceof ContractError) return false
    throw error
  }
}

function adoptEntry(value: JsonObject, yaml: FolioYaml, report: DifferenceReport): JsonObject {
  const { name = null, physicalType = null, ...others } = value
  let entry: JsonObject = {
    name: name === null ? 'records' : textOf(name),
    ...(physicalType === null ? {} : { physicalType: textOf(physicalType) }),
  }
  for (const [key, member] of Object.entries(others)) {
    entry = withCustom(entry, key, member)
    const line = yaml.lineOf(['schema', 0, key])
    report.add(
      'adapted',
      { file: FILE, line },
      `the key ${showValue(key)} of the schema is a custom property`,
    )
  }
  return entry
}

function adoptFields(
  list: readonly JsonValue[],
  yaml: FolioYaml,
  report: DifferenceReport,
): readonly FolioField[] {
  const path = ['schema', 0, 'properties']
  const properties = list.map((property, index) => {
    const name = isJsonObject(property) ? (property['name'] ?? null) : null
    if (!isJsonObject(property) || name === null || typeof name === 'object' || name === '') {
      return fail(yaml, [...path, index], 'a property must be a map of keys with a name')
    }
    return { property, folio: textOf(name), line: yaml.lineOf([...path, index]) }
  })
  const names = properties.map(({ folio }) => folio)
  const twice = properties.find(({ folio }, index) => names.indexOf(folio) !== index)
  if (twice !== undefined) {
    return fail(
      yaml,
      [...path, names.lastIndexOf(twice.folio)],
      `the property ${showValue(twice.folio)} is there twice`,
    )
  }
  const keys = properties.filter(({ property }) => property['primaryKey'] === true)
  if (keys.length > 1) {
    return fail(yaml, path, `${showNames(keys.map(({ folio }) => folio))} are primary keys; a sheet has one`)
  }
  const key = keys[0]?.folio ?? (names.includes('id') ? 'id' : null)
  if (keys.length === 0) {
    report.add('adapted', { file: FILE, line: yaml.lineOf(path) }, 'no property is the primary key: id is')
  }
  const given = renamed(names, key)
  const fields = properties.map((each, index) =>
    adoptField(
      { ...each, name: given[index] ?? each.folio, isKey: each.folio === key },
      { yaml, index, report },
    ),
  )
  return key === null ? [KEY, ...fields] : fields
}

const KEY: FolioField = {
  folio: 'id',
  name: 'id',
  type: 'string',
  isKey: true,
  isDeclared: false,
  isRequired: true,
  validValues: null,
  declaredDerived: false,
  declaredInputs: null,
  hasEditors: false,
  line: null,
  property: { name: 'id', logicalType: 'string', primaryKey: true },
}

/** Returns the field names of properties: `id` for the key, and valid, different names for the others. */
export function renamed(
  names: readonly string[],
  key: string | null,
  taken: readonly string[] = [],
): string[] {
  const others = names.filter((name) => name !== key)
  const valid = fieldNames(
    others.map((name) => (name.toLowerCase() === 'id' ? 'original_id' : name)),
    ['id', ...taken],
  )
  return names.map((name) => (name === key ? 'id' : (valid.shift() ?? name)))
}

interface Property {
  readonly property: JsonObject
  readonly folio: string
  readonly name: string
  readonly isKey: boolean
  readonly line: number
}

interface FieldContext {
  readonly yaml: FolioYaml
  readonly index: number
  readonly report: DifferenceReport
}

function adoptField({ property, folio, name, isKey, line }: Property, context: FieldContext): FolioField {
  const { yaml, index, report } = context
  const at = (key: string): { file: string; line: number } => ({
    file: FILE,
    line: yaml.lineOf(['schema', 0, 'properties', index, key]),
  })
  const declared = typeOf(property, { folio, at, report })
  const editors = editorsOf(property['x-editable-by'] ?? null, { folio, at, report })
  const description = property['description'] ?? null
  for (const flag of ['required', 'x-derived', 'primaryKey']) {
    const value = property[flag] ?? false
    if (typeof value !== 'boolean')
      report.add(
        'cannot',
        at(flag),
        `field ${showValue(folio)}: ${flag} ${showValue(value)} is left out: it is neither true nor false`,
      )
  }
  let adopted: JsonObject = {
    name,
    ...(name === folio ? {} : { businessName: folio }),
    logicalType: isKey ? 'string' : declared,
    ...(isKey ? { primaryKey: true } : {}),
    ...(description === null ? {} : { description: textOf(description) }),
    ...(editors === null ? {} : { 'x-editable-by': editors }),
  }
  for (const [key, value] of Object.entries(property)) {
    if (PROPERTY_KEYS.has(key)) continue
    adopted = withCustom(adopted, key, value)
    report.add(
      'adapted',
      at(key),
      `field ${showValue(folio)}: the key ${showValue(key)} is a custom property`,
    )
  }
  if (name !== folio) {
    adopted = withCustom(adopted, FOLIO_NAME, folio)
    const why = isKey ? 'the primary key is called id' : 'a field cannot be called that, or another one is'
    report.add('adapted', at('name'), `field ${showValue(folio)} is called ${showValue(name)}: ${why}`)
  }
  if (isKey && declared !== 'string') {
    adopted = withCustom(adopted, FOLIO_TYPE, declared)
    report.add('adapted', at('logicalType'), `ids are texts: the primary key was of type ${declared}`)
  }
  return {
    folio,
    name,
    type: isKey ? 'string' : declared,
    isKey,
    isDeclared: true,
    isRequired: isKey || property['required'] === true,
    validValues: valuesOf(property['enum'] ?? null, { folio, at, report }),
    declaredDerived: property['x-derived'] === true,
    declaredInputs: inputsOf(property['x-inputs'] ?? null, { folio, at, report }),
    hasEditors: editors !== null,
    line,
    property: adopted,
  }
}

interface KeyContext {
  readonly folio: string
  readonly at: (key: string) => { readonly file: string; readonly line: number }
  readonly report: DifferenceReport
}

function typeOf(property: JsonObject, { folio, at, report }: KeyContext): LogicalType {
  const type = property['logicalType'] ?? null
  const known = LOGICAL_TYPES.find((name) => name === type)
  if (known !== undefined) return known
  const meant = (typeof type === 'string' ? typeOfName(type) : null) ?? 'string'
  report.add(
    'adapted',
    at('logicalType'),
    `field ${showValue(folio)}: the logicalType ${showValue(type)} is ${meant} here`,
  )
  return meant
}

function editorsOf(value: JsonValue, { folio, at, report }: KeyContext): readonly string[] | null {
  if (value === null) return null
  const list = (Array.isArray(value) ? (value as readonly JsonValue[]) : [value]).map(textOf)
  return list.flatMap((pattern) => {
    const fault = globError(pattern)
    if (fault === null) return [pattern]
    const escaped = pattern.replaceAll('[', '[[]')
    const isFixed = globError(escaped) === null
    const what = isFixed ? `is ${showValue(escaped)} here` : `is left out: ${fault}`
    report.add(
      isFixed ? 'adapted' : 'cannot',
      at('x-editable-by'),
      `field ${showValue(folio)}: the pattern ${showValue(pattern)} ${what}`,
    )
    return isFixed ? [escaped] : []
  })
}

function inputsOf(value: JsonValue, { folio, at, report }: KeyContext): readonly JsonValue[] | null {
  if (value === null) return null
  if (Array.isArray(value)) return value as readonly JsonValue[]
  report.add(
    'cannot',
    at('x-inputs'),
    `field ${showValue(folio)}: x-inputs ${showValue(value)} is no list; it is left out`,
  )
  return null
}

function valuesOf(value: JsonValue, { folio, at, report }: KeyContext): readonly string[] | null {
  if (value === null) return null
  const list = Array.isArray(value) ? (value as readonly JsonValue[]).filter((item) => item !== null) : []
  if (list.length === 0) {
    report.add(
      'cannot',
      at('enum'),
      `field ${showValue(folio)}: enum ${showValue(value)} is no list of values; it is left out`,
    )
    return null
  }
  if (list.length < (value as readonly JsonValue[]).length)
    report.add('cannot', at('enum'), `field ${showValue(folio)}: null in enum is left out`)
  report.add('adapted', at('enum'), `field ${showValue(folio)}: enum is a quality rule with validValues`)
  return [...new Set(list.map(textOf))]
}

/** Returns a scalar as the text that folio's users wrote. */
function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function fail(yaml: FolioYaml, path: readonly (string | number)[], message: string): never {
  throw new ContractError(
    ...fileError({ file: yaml.file, line: yaml.lineOf(path), message }, 'invalid_definition'),
  )
}
