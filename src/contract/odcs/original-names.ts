import type { Contract } from '../contract.ts'
import { customProperty, customValues } from './custom-property.ts'
import { checkShape, own } from './document-shape.ts'
import type { Path, ShapeContext } from './document-shape.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { nearest } from '../nearest.ts'

/** The custom property of a field with the name of its column in files, or a list of such names. */
export const ORIGINAL_NAME = 'originalName'

/** The keys of the standard that are also column names in files. */
const NAME_KEYS = ['businessName', 'physicalName'] as const

const KNOWN = new WeakMap<Contract, ReadonlyMap<string, readonly string[]>>()

/**
 * Returns the column names of each field in files besides its own: those of the custom property `originalName`,
 * `businessName` and `physicalName`.
 */
export function originalNames(contract: Contract): ReadonlyMap<string, readonly string[]> {
  const known = KNOWN.get(contract) ?? new Map(propertiesOf(contract).map(namesOf))
  KNOWN.set(contract, known)
  return known
}

/** An original name of several fields. */
export interface SharedName {
  readonly name: string
  /** The fields in the order of the contract. */
  readonly fields: readonly [first: string, second: string, ...more: string[]]
  /** The path of the second field in the document. */
  readonly path: Path
}

/** Returns the original names of several fields. A column with such a name belongs to none of them. */
export function sharedNames(contract: Contract): SharedName[] {
  const owners = new Map<string, string[]>()
  for (const [field, names] of originalNames(contract)) {
    for (const name of names) owners.set(name, [...(owners.get(name) ?? []), field])
  }
  return Array.from(owners).flatMap(([name, [first, second, ...more]]) => {
    if (first === undefined || second === undefined) return []
    const index = contract.fields.findIndex((field) => field.name === second)
    return [{ name, fields: [first, second, ...more], path: ['schema', 0, 'properties', index] }]
  })
}

/** Returns the message for an unknown field. */
export function unknownFieldMessage(contract: Contract, name: string): string {
  const meant = meantField(contract, name)
  return `the contract has no such field${meant === null ? '' : `; was ${meant} meant?`}`
}

/** Returns the message for an unknown column of a file, with the existing names if none is similar. */
export function unknownColumnMessage(contract: Contract, name: string): string {
  const list = meantField(contract, name) === null ? `; it has ${knownNames(contract)}` : ''
  return `${unknownFieldMessage(contract, name)}${list}`
}

/** Lists the fields of a contract with their original names: `id ("zip_code")`. */
function knownNames(contract: Contract): string {
  const names = Array.from(originalNames(contract), ([field, others]) => withOthers(field, others))
  const shown = names.slice(0, SHOWN).join(', ')
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown
}

const SHOWN = 20

function meantField(contract: Contract, name: string): string | null {
  const owners = new Map<string, string>()
  for (const [field, others] of originalNames(contract)) {
    for (const other of others) if (!owners.has(other)) owners.set(other, field)
  }
  const meant = nearest(name, new Set([...contract.fieldByName.keys(), ...owners.keys()]))
  if (meant === null || contract.fieldByName.has(meant)) return meant
  return withOthers(owners.get(meant) ?? '', [meant])
}

function withOthers(field: string, others: readonly string[]): string {
  return others.length === 0 ? field : `${field} (${others.map((other) => JSON.stringify(other)).join(', ')})`
}

/** Throws ContractError for a custom property `originalName` that is neither a text nor a list of texts. */
export function checkOriginalName(property: JsonObject, path: Path, context: ShapeContext): void {
  if (context.stored) return
  const custom = customProperty(property, ORIGINAL_NAME, path, context)
  if (custom === null) return
  const shape = Array.isArray(custom.value) ? ({ listOf: 'string' } as const) : 'string'
  checkShape(custom.value, shape, custom.path, context)
}

function propertiesOf({ document }: Contract): readonly JsonObject[] {
  const [entry] = document['schema'] as readonly JsonObject[]
  return (entry === undefined ? [] : own(entry, 'properties')) as readonly JsonObject[]
}

function namesOf(property: JsonObject): readonly [field: string, names: readonly string[]] {
  const name = own(property, 'name') as string
  const given: readonly JsonValue[] = [
    ...customValues(property, ORIGINAL_NAME).flat(),
    // A blank heading is not a name.
    ...NAME_KEYS.map((key) => own(property, key)).filter(
      (text) => typeof text === 'string' && text.trim() !== '',
    ),
  ]
  const others = given.filter((other): other is string => typeof other === 'string')
  return [name, [...new Set(others)].filter((other) => other !== name)]
}
