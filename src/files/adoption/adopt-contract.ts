import type { Contract } from '../../contract/contract.ts'
import { own } from '../../contract/odcs/document-shape.ts'
import { ID_FROM } from '../../contract/odcs/id-source.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { ORIGINAL_NAME } from '../../contract/odcs/original-names.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { parseYamlFile, type YamlFile } from '../../contract/yaml/yaml-file.ts'
import { ContractError, ValidationError } from '../../errors/service-error.ts'
import { adoptKey } from './adopt-key.ts'
import { adoptType, nameOf, type AdoptedProperty } from './adopt-property.ts'
import { renameReferences } from './adopt-references.ts'
import { yamlText } from '../inference/contract-text.ts'
import { fieldNames } from '../inference/field-names.ts'
import type { InferredField } from '../inference/infer-contract.ts'

/** A contract of somebody else as one of a sheet, and how to get from theirs to it. */
export interface Adoption {
  readonly contract: Contract
  readonly fields: readonly InferredField[]
  /** What was left out or is otherwise than in theirs; each a sentence without a full stop. */
  readonly notes: readonly string[]
}

export interface AdoptOptions {
  /** Which entry of `schema`; null when there is one only. */
  readonly schema: string | null
  /** The name of the property that becomes `id`; null for their primary key. */
  readonly key: string | null
}

/**
 * Makes a contract that a sheet can have of any contract of ODCS v3.0 or v3.1: one schema entry of it, its key called `id`
 * and a text, names that fields can have, a type for each. Everything else stays. Throws ContractError where it is no such
 * contract or has something that no sheet can do, ValidationError for options that do not go with it.
 */
export function adoptContract(
  { text, name }: { readonly text: string; readonly name: string },
  options: AdoptOptions,
): Adoption {
  const yaml = parseYamlFile(text, name)
  const document = documentOf(yaml)
  const { entry, index, notes } = chooseEntry(document, options.schema, yaml)
  const properties = propertiesOf(entry, index, yaml).map(adoptType)
  const key = adoptKey(properties, { asked: options.key, file: name })
  const adoptedFields = named(key.properties)
  const renamed = new Map(
    adoptedFields.flatMap(({ original, property, made }) =>
      made ? [] : [[original, nameOf(property)] as const],
    ),
  )
  const fields = key.parts === null ? adoptedFields : withParts(adoptedFields, key.parts, renamed)
  const entryName = nameOf(entry)
  const adopted = renameReferences(
    { ...document, schema: [{ ...entry, properties: fields.map(({ property }) => property) }] },
    { entry: entryName, renamed },
  )
  const contract = parseAdopted(yamlText(adopted), name)
  return {
    contract,
    fields: describe(contract, fields),
    notes: [...notes, ...key.notes],
  }
}

function documentOf(yaml: YamlFile): JsonObject {
  const { value, file } = yaml
  if (!isJsonObject(value)) {
    throw new ContractError(`${file}:1: not a contract: a map of keys, as in the Open Data Contract Standard`)
  }
  const version = own(value, 'apiVersion') ?? own(value, 'dataContractSpecification')
  if (own(value, 'apiVersion') === null && version !== null) {
    yaml.fail(
      ['dataContractSpecification'],
      'this is a contract of the Data Contract Specification; export it as ODCS v3 first',
    )
  }
  if (typeof version === 'string' && /^v?[12]\./.test(version)) {
    yaml.fail(['apiVersion'], `apiVersion is ${showValue(version)}; only ODCS v3.0 and v3.1 can be read`)
  }
  return value
}

interface ChosenEntry {
  readonly entry: JsonObject
  readonly index: number
  readonly notes: readonly string[]
}

function chooseEntry(document: JsonObject, asked: string | null, yaml: YamlFile): ChosenEntry {
  const schema = own(document, 'schema')
  const entries = Array.isArray(schema) ? (schema as readonly JsonValue[]).filter(isJsonObject) : []
  if (entries.length === 0) yaml.fail(['schema'], 'the contract has no schema, so no fields')
  const known = showNames(entries.map(nameOf))
  if (asked === null && entries.length > 1) {
    throw new ValidationError(
      `${yaml.file} has ${entries.length} schema entries (${known}), and a sheet has one; choose it with --schema`,
    )
  }
  const index =
    asked === null
      ? 0
      : entries.findIndex((entry) => [nameOf(entry), own(entry, 'physicalName')].includes(asked))
  const entry = entries[index]
  if (entry === undefined) {
    throw new ValidationError(`${yaml.file} has no schema entry ${showValue(asked)}; it has ${known}`)
  }
  const others = entries.filter((other) => other !== entry).map(nameOf)
  const notes = others.length === 0 ? [] : [`left out the schema entries ${showNames(others)}`]
  return { entry, index, notes }
}

function propertiesOf(entry: JsonObject, index: number, yaml: YamlFile): JsonObject[] {
  const list = own(entry, 'properties')
  const path = ['schema', index, 'properties']
  if (!Array.isArray(list) || list.length === 0) {
    return yaml.fail(path.slice(0, 2), 'the schema entry has no properties, so no fields')
  }
  return (list as readonly JsonValue[]).map((property, at) => {
    const name = isJsonObject(property) ? own(property, 'name') : null
    if (isJsonObject(property) && typeof name === 'string' && name !== '') return property
    return yaml.fail([...path, at], 'a property must be a map of keys with a name')
  })
}

/** Gives the properties names that fields can have; the key comes as `id`. */
function named(properties: readonly AdoptedProperty[]): AdoptedProperty[] {
  const others = properties.filter(({ isKey }) => !isKey)
  const names = fieldNames(
    others.map(({ original }) => (original.toLowerCase() === 'id' ? 'original_id' : original)),
    ['id'],
  )
  return properties.map((adopted) => {
    const { original, property, isKey, doubts } = adopted
    const name = isKey ? 'id' : (names.shift() ?? original)
    if (name === original) return adopted
    return {
      ...adopted,
      property: { ...property, name, ...originalNameOf(property, original) },
      doubts: isKey ? doubts : [...doubts, 'renamed, since a field cannot be called that'],
    }
  })
}

/** The key that keeps the name that a property had: `businessName`, or the custom property where there is one. */
function originalNameOf(property: JsonObject, original: string): JsonObject {
  const business = own(property, 'businessName')
  if (business === null || business === original) return { businessName: original }
  if (own(property, 'physicalName') === original) return {}
  const custom = own(property, 'customProperties')
  const others = Array.isArray(custom) ? (custom as readonly JsonValue[]) : []
  return { customProperties: [...others, { property: ORIGINAL_NAME, value: original }] }
}

/** Says in the `id` which fields its values are made from, by the names that these have here. */
function withParts(
  fields: readonly AdoptedProperty[],
  parts: readonly string[],
  renamed: ReadonlyMap<string, string>,
): AdoptedProperty[] {
  const value = parts.map((part) => renamed.get(part) ?? part)
  return fields.map((adopted) =>
    adopted.made
      ? {
          ...adopted,
          property: { ...adopted.property, customProperties: [{ property: ID_FROM, value }] },
        }
      : adopted,
  )
}

function describe({ fields }: Contract, adopted: readonly AdoptedProperty[]): InferredField[] {
  return fields.map(({ name, type, required, unique, primaryKey, validValues }, index) => {
    const { original, made, doubts } = adopted[index]!
    return {
      field: name,
      column: made ? null : original,
      type,
      required,
      unique: unique || primaryKey,
      validValues: validValues?.map(String) ?? null,
      values: null,
      doubts,
    }
  })
}

/** Lines of the text that is written are nobody's lines: messages show the line instead. */
function parseAdopted(text: string, file: string): Contract {
  try {
    return parseContract(text, file)
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    const rest = error.message.startsWith(`${file}:`) ? error.message.slice(file.length + 1) : error.message
    const [, line = '', message = rest] = /^(\d+): (.*)$/s.exec(rest) ?? []
    const shown = text.split('\n')[Number(line) - 1]?.trim()
    throw new ContractError(`${file}: ${message}${shown === undefined ? '' : ` (at ${showValue(shown)})`}`)
  }
}
