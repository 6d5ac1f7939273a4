import { OperationError, SheetError } from '../../errors/service-error.ts'
import type { Contract, Field, LogicalType } from '../contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { nearest } from '../nearest.ts'
import { ID_FROM } from '../odcs/id-source.ts'
import { editYaml } from '../yaml/edit/edit-yaml.ts'
import { editsBetween } from '../yaml/edit/value-edits.ts'
import { valueAt, type YamlEdit, type YamlPath } from '../yaml/edit/yaml-edit.ts'
import { parseYamlFile } from '../yaml/yaml-file.ts'

/** The properties of a field that can be set without editing the file. */
export interface FieldSettings {
  readonly logicalType?: LogicalType | undefined
  /** Null removes it. */
  readonly description?: string | null | undefined
  readonly required?: boolean | undefined
  readonly unique?: boolean | undefined
  /** The patterns of actors who may write the field. */
  readonly editableBy?: readonly string[] | undefined
}

/** A field to add. */
export interface NewField extends FieldSettings {
  readonly name: string
  readonly logicalType: LogicalType
}

const FILE = 'contract.yaml'
const PROPERTIES: YamlPath = ['schema', 0, 'properties']
const EDITABLE_BY = 'editableBy'

/** Returns the text of a contract with another field at its end. Throws OperationError if it has one of that name. */
export function addField(contract: Contract, { name, logicalType, ...settings }: NewField): string {
  refuseDuplicate(contract, name)
  const { description, required, unique, editableBy } = settings
  const property: JsonObject = {
    name,
    logicalType,
    ...(description === null || description === undefined ? {} : { description }),
    ...(required === true ? { required } : {}),
    ...(unique === true ? { unique } : {}),
    ...(editableBy === undefined ? {} : permission(contract, editableBy)),
  }
  const path = [...PROPERTIES, contract.fields.length]
  return editYaml(contract.text, FILE, [{ op: 'insert', path, values: [property] }])
}

/**
 * Returns the text of a contract with other settings of a field, the same where they change nothing. Throws SheetError for an unknown field
 * and OperationError for the primary key.
 */
export function changeField(contract: Contract, name: string, settings: FieldSettings): string {
  const { path, property } = editableField(contract, name)
  const { logicalType, description, required, unique, editableBy } = settings
  const edits: YamlEdit[] = []
  if (logicalType !== undefined) edits.push({ op: 'set', path: [...path, 'logicalType'], value: logicalType })
  if (description !== undefined) edits.push(...setOrRemove(property, [...path, 'description'], description))
  // False is the default.
  if (required !== undefined) edits.push(...setFlag(property, [...path, 'required'], required))
  if (unique !== undefined) edits.push(...setFlag(property, [...path, 'unique'], unique))
  if (editableBy !== undefined) edits.push(...editPermission(contract, { path, property }, editableBy))
  return editYaml(contract.text, FILE, edits)
}

/**
 * Returns the text of a contract with another name of a field, also where `idFrom` names it, and with `inputs` where `x-inputs` of others name
 * it. Throws SheetError for an unknown field, OperationError for the primary key, for a name that another field has, and without `inputs` if
 * `x-inputs` of others name it.
 */
export function renameField(
  contract: Contract,
  { name, newName, inputs }: { readonly name: string; readonly newName: string; readonly inputs: boolean },
): string {
  const place = editableField(contract, name)
  refuseDuplicate(contract, newName, name)
  const yaml = parseYamlFile(contract.text, FILE)
  const others = inputsNaming(contract, name)
  const [other] = others
  if (other !== undefined && !inputs) {
    const { line, field } = { line: yaml.lineOf(other.path), field: other.field }
    throw new OperationError(
      `${FILE}:${line}: x-inputs of "${field}" names "${name}"; ask to edit x-inputs as well, or take it out there first`,
    )
  }
  const places = [
    [...place.path, 'name'],
    ...idSourcesNaming(yaml.value, name),
    ...others.map((each) => each.path),
  ]
  const edits = places.map((path): YamlEdit => ({ op: 'set', path, value: newName }))
  return editYaml(contract.text, FILE, edits)
}

/**
 * Returns the text of a contract without a field. Throws SheetError for an unknown field, OperationError for the primary key, for a derived
 * field and for one that `x-inputs` or `idFrom` name.
 */
export function removeField(contract: Contract, name: string, derivation: string | null): string {
  const { path } = editableField(contract, name)
  if (derivation !== null) {
    throw new OperationError(
      `the field "${name}" is derived; remove it from the targets of derivations/${derivation} first, or remove that file in the same change`,
      'invalid_operation',
      { hint: { action: 'remove_with_derivation' } },
    )
  }
  const yaml = parseYamlFile(contract.text, FILE)
  const [other] = inputsNaming(contract, name)
  if (other !== undefined) {
    throw new OperationError(
      `${FILE}:${yaml.lineOf(other.path)}: x-inputs of "${other.field}" names "${name}"; take it out there first`,
    )
  }
  const [source] = idSourcesNaming(yaml.value, name)
  if (source !== undefined) {
    throw new OperationError(
      `${FILE}:${yaml.lineOf(source)}: idFrom names "${name}"; take it out there first`,
    )
  }
  return editYaml(contract.text, FILE, [{ op: 'remove', path }])
}

function refuseDuplicate({ fields }: Contract, name: string, own: string | null = null): void {
  const same = fields.find((field) => field.name !== own && field.name.toLowerCase() === name.toLowerCase())
  if (same === undefined) return
  const clash = same.name === name ? '' : ', which differs in case only'
  throw new OperationError(`the contract has a field "${same.name}" already${clash}; choose another name`)
}

interface FieldPlace {
  readonly path: YamlPath
  readonly property: JsonObject
}

function editableField(contract: Contract, name: string): FieldPlace {
  const index = contract.fields.findIndex((field) => field.name === name)
  const field: Field | undefined = contract.fields[index]
  if (field === undefined) {
    const meant = nearest(name, contract.fieldByName.keys())
    throw new SheetError(
      `the contract has no field "${name}"${meant === null ? '' : `; was ${meant} meant?`}`,
      'unknown_property',
    )
  }
  if (field.primaryKey) {
    throw new OperationError(
      `"${name}" is the primary-key field, which identifies records and cannot be changed`,
    )
  }
  const path = [...PROPERTIES, index]
  return { path, property: valueAt(parseYamlFile(contract.text, FILE).value, path) as JsonObject }
}

function setOrRemove(property: JsonObject, path: YamlPath, value: JsonValue): YamlEdit[] {
  if (value !== null) return [{ op: 'set', path, value }]
  return Object.hasOwn(property, path.at(-1) as string) ? [{ op: 'remove', path }] : []
}

function setFlag(property: JsonObject, path: YamlPath, value: boolean): YamlEdit[] {
  return value || Object.hasOwn(property, path.at(-1) as string) ? [{ op: 'set', path, value }] : []
}

/** Returns the permission of a new field, in the form that the contract uses. */
function permission(contract: Contract, patterns: readonly string[]): JsonObject {
  const [entry] = contract.document['schema'] as readonly JsonObject[]
  const usesKey = ((entry?.['properties'] ?? []) as readonly JsonObject[]).some((property) =>
    Object.hasOwn(property, 'x-editable-by'),
  )
  if (usesKey) return { 'x-editable-by': patterns }
  return { customProperties: [{ property: EDITABLE_BY, value: patterns }] }
}

function editPermission(
  contract: Contract,
  { path, property }: FieldPlace,
  patterns: readonly string[],
): YamlEdit[] {
  const key = [...path, 'x-editable-by']
  const given = property['x-editable-by'] ?? null
  if (given !== null) return editsBetween(given, patterns, key)
  const custom = property['customProperties'] ?? null
  const properties = Array.isArray(custom) ? (custom as readonly JsonValue[]) : []
  const index = properties.findIndex((item) => isJsonObject(item) && item['property'] === EDITABLE_BY)
  const at = [...path, 'customProperties']
  if (index !== -1) {
    const value = valueAt(properties, [index, 'value']) ?? null
    return editsBetween(value, patterns, [...at, index, 'value'])
  }
  const added = permission(contract, patterns)
  if (!Object.hasOwn(added, 'customProperties')) return [{ op: 'set', path: key, value: patterns }]
  const value = { property: EDITABLE_BY, value: patterns }
  if (properties.length === 0) return [{ op: 'set', path: at, value: [value] }]
  return [{ op: 'insert', path: [...at, properties.length], values: [value] }]
}

/** Returns the places where `x-inputs` of other fields name a field. */
function inputsNaming(
  { fields }: Contract,
  name: string,
): readonly { readonly field: string; readonly path: YamlPath }[] {
  return fields.flatMap((field, index) =>
    (field.declaredInputs ?? []).flatMap((input, at) =>
      input === name ? [{ field: field.name, path: [...PROPERTIES, index, 'x-inputs', at] }] : [],
    ),
  )
}

/** Returns the places where `idFrom` names a field. */
function idSourcesNaming(document: JsonValue, name: string): readonly YamlPath[] {
  const properties = valueAt(document, PROPERTIES) as readonly JsonObject[]
  return properties.flatMap((property, index) => {
    const custom = property['customProperties'] ?? []
    return (custom as readonly JsonObject[]).flatMap((each, at) => {
      const { property: kind, value } = each
      if (kind !== ID_FROM || !Array.isArray(value)) return []
      return (value as readonly JsonValue[]).flatMap((item, place) =>
        item === name ? [[...PROPERTIES, index, 'customProperties', at, 'value', place]] : [],
      )
    })
  })
}
