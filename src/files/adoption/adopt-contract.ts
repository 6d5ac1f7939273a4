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

/** A foreign contract converted to that of a sheet, and the mapping between them. */
export interface Adoption {
  readonly contract: Contract
  readonly fields: readonly InferredField[]
  /** Parts that were omitted or changed; each a sentence without a full stop. */
  readonly notes: readonly string[]
}

export interface AdoptOptions {
  /** The name of the entry of `schema` to use; null if there is only one. */
  readonly schema: string | null
  /** The name of the property that becomes `id`; null for the primary key of the contract. */
  readonly key: string | null
}

/**
 * Converts a contract of ODCS v3.0 or v3.1 to that of a sheet: one schema entry, a text `id` as its key, valid field
 * names, a type for each field. Everything else is kept. Throws ContractError for an invalid contract and for parts
 * that a sheet does not support, ValidationError for options that do not match it.
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

/** Gives the properties valid field names; the key becomes `id`. */
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

/**
 * Returns the key that stores the original name of a property: `businessName`, or the custom property if that is
 * taken.
 */
function originalNameOf(property: JsonObject, original: string): JsonObject {
  const business = own(property, 'businessName')
  if (business === null || business === original) return { businessName: original }
  if (own(property, 'physicalName') === original) return {}
  const custom = own(property, 'customProperties')
  const others = Array.isArray(custom) ? (custom as readonly JsonValue[]) : []
  return { customProperties: [...others, { property: ORIGINAL_NAME, value: original }] }
}

/** Stores in `id` the fields that its values are joined from, by their new names. */
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

/** Parses the converted text. Its line numbers mean nothing to the user, so errors show the line instead. */
function parseAdopted(text: string, file: string): Contract {
  try {
    return parseContract(text, file)
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    const { line, message } = error.inFile ?? { line: null, message: error.message }
    const shown = line === null ? undefined : text.split('\n')[line - 1]?.trim()
    throw new ContractError(`${file}: ${message}${shown === undefined ? '' : ` (at ${showValue(shown)})`}`)
  }
}
