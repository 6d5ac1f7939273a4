import type { Contract, Field } from '../../contract/contract.ts'
import { customValues } from '../../contract/odcs/custom-property.ts'
import { own } from '../../contract/odcs/document-shape.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import type { DifferenceReport } from './difference-report.ts'
import {
  FOLIO_ENUM,
  FOLIO_INPUTS,
  FOLIO_KEYS,
  FOLIO_NAME,
  FOLIO_ORIGIN,
  FOLIO_REQUIRED,
  FOLIO_TYPE,
  ORIGINAL_ID_DESCRIPTION,
} from './folio-field.ts'

const FILE = 'contract.yaml'

/** The key at the top of a folio contract with what folio has no place for. */
export const COLOPHON_KEY = 'x-colophon'

/** A field, and the property of the folio contract. */
export interface ExportedField {
  readonly name: string
  /** The name in folio. */
  readonly folio: string
  /** Whether its value is the id of folio, where the record has one. */
  readonly isOriginalId: boolean
  /** The type of the primary key, whose values are texts here; null for any other field, and for a key that is a text. */
  readonly keyType: string | null
}

export interface FolioContractExport {
  readonly document: JsonObject
  readonly fields: readonly ExportedField[]
  /** The name of the primary key in folio. */
  readonly key: string
}

export interface ContractExport {
  readonly contract: Contract
  /** The names of the fields in folio, see {@link folioNames}. */
  readonly names: ReadonlyMap<string, string>
  /** The inputs of each target whose derivation is exported, by the names of fields here. */
  readonly derived: ReadonlyMap<string, readonly string[]>
  readonly report: DifferenceReport
}

const DOCUMENT_KEYS: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'id',
  'name',
  'version',
  'description',
  'schema',
])
/** The keys of a field that the contract of folio does not need: it is one that only records have. */
const UNDECLARED_KEYS: ReadonlySet<string> = new Set(['name', 'logicalType'])
const ENTRY_KEYS: ReadonlySet<string> = new Set(['name', 'physicalType', 'properties'])
const OWN_CUSTOM: ReadonlySet<string> = new Set([
  FOLIO_ENUM,
  FOLIO_INPUTS,
  FOLIO_KEYS,
  FOLIO_NAME,
  FOLIO_ORIGIN,
  FOLIO_REQUIRED,
  FOLIO_TYPE,
  'editableBy',
])

/** Returns the name of each field in folio, all different, and reports those that cannot be the ones which the fields had there. */
export function folioNames(contract: Contract, report: DifferenceReport): ReadonlyMap<string, string> {
  const wanted = contract.fields.map(({ name }, index) => {
    const [folio] = customValues(propertyAt(contract, index), FOLIO_NAME)
    return { name, folio: typeof folio === 'string' ? folio : null }
  })
  const found = new Map(wanted.map(({ name, folio }) => [name, folio ?? name]))
  const taken = new Set(wanted.flatMap(({ name, folio }) => (folio === null ? [name] : [])))
  for (const { name, folio } of wanted) {
    if (folio === null) continue
    let free = folio
    for (let number = 1; taken.has(free); number += 1) free = number === 1 ? name : `${name}_${number}`
    taken.add(free)
    if (free === folio) continue
    found.set(name, free)
    const what = `field ${showValue(name)} is called ${showValue(free)} in folio, and not ${showValue(folio)}: another field is called that`
    report.add('adapted', { file: FILE }, what)
  }
  return found
}

/** Returns the contract for folio. What folio has no place for is in a key at its top, and is reported. */
export function exportFolioContract({
  contract,
  names,
  derived,
  report,
}: ContractExport): FolioContractExport {
  const { document } = contract
  const [entry = {}] = document['schema'] as readonly JsonObject[]
  const more: Record<string, JsonValue> = {}
  const fields: ExportedField[] = []
  const properties: JsonObject[] = []
  let key = 'id'
  for (const [index, field] of contract.fields.entries()) {
    const property = propertyAt(contract, index)
    const folio = names.get(field.name) ?? field.name
    const [origin] = customValues(property, FOLIO_ORIGIN)
    const [type] = customValues(property, FOLIO_TYPE)
    if (field.primaryKey) key = folio
    const keyType = field.primaryKey && typeof type === 'string' ? type : null
    fields.push({ name: field.name, folio, isOriginalId: origin === 'id', keyType })
    const inputs = derived.get(field.name)?.map((name) => names.get(name) ?? name)
    const left = leftOf(property)
    const made = propertyFor(field, property, { folio, inputs, isDerived: derived.has(field.name), report })
    const added = Object.keys({ ...made, ...left }).filter((name) => !UNDECLARED_KEYS.has(name))
    if (origin === 'undeclared' && added.length === 0) continue
    if (origin === 'id') {
      const isOnly = own(property, 'description') === ORIGINAL_ID_DESCRIPTION
      const lost = added.filter((name) => name !== 'description' || !isOnly)
      const what = `field ${showValue(field.name)} is not exported, since it has the ids of folio; lost are ${showNames(lost)}`
      if (lost.length > 0) report.add('cannot', { file: FILE }, what)
      continue
    }
    properties.push(made)
    if (Object.keys(left).length > 0) more[folio] = left
  }
  const unknown = restOf(entry, ENTRY_KEYS)
  if (Object.keys(more).length + Object.keys(unknown).length > 0) {
    const what = [
      ...Object.keys(more).map((name) => `field ${showValue(name)}`),
      ...(Object.keys(unknown).length > 0 ? ['the schema'] : []),
    ]
    report.add(
      'cannot',
      { file: FILE },
      `folio ignores the constraints and keys in ${COLOPHON_KEY}: of ${what.join(', ')}`,
    )
  }
  return {
    document: {
      ...documentFor(document, report),
      schema: [
        {
          name: own(entry, 'name'),
          physicalType: own(entry, 'physicalType') ?? 'jsonl',
          properties,
        },
      ],
      ...(Object.keys(more).length + Object.keys(unknown).length === 0
        ? {}
        : {
            [COLOPHON_KEY]: {
              ...(Object.keys(unknown).length === 0 ? {} : { schema: unknown }),
              properties: more,
            },
          }),
    },
    fields,
    key,
  }
}

function propertyAt({ document }: Contract, index: number): JsonObject {
  const [entry = {}] = document['schema'] as readonly JsonObject[]
  return (own(entry, 'properties') as readonly JsonObject[])[index] ?? {}
}

function documentFor(document: JsonObject, report: DifferenceReport): JsonObject {
  const description = own(document, 'description')
  const text = isJsonObject(description) ? own(description, 'purpose') : description
  if (isJsonObject(description)) {
    report.add(
      'cannot',
      { file: FILE },
      `the description in folio is its purpose; the rest is in ${COLOPHON_KEY}-description`,
    )
  }
  const custom = own(document, 'customProperties')
  const others = (Array.isArray(custom) ? (custom as readonly JsonObject[]) : []).filter(
    (each) => own(each, 'property') !== FOLIO_KEYS,
  )
  const [keys] = customValues(document, FOLIO_KEYS)
  const rest = restOf(document, new Set([...DOCUMENT_KEYS, 'customProperties']))
  const head: JsonObject = {
    apiVersion: own(document, 'apiVersion'),
    kind: 'DataContract',
    id: own(document, 'id'),
    name: own(document, 'name') ?? own(document, 'id'),
    version: own(document, 'version'),
    ...(typeof text === 'string' ? { description: text } : {}),
    ...(isJsonObject(description) ? { [`${COLOPHON_KEY}-description`]: description } : {}),
  }
  const restored = isJsonObject(keys)
    ? Object.entries(keys).filter(([name]) => !Object.hasOwn(head, name))
    : []
  return {
    ...head,
    ...rest,
    ...(others.length === 0 ? {} : { customProperties: others }),
    ...Object.fromEntries(restored),
  }
}

interface PropertyContext {
  readonly folio: string
  /** The inputs of its derivation; undefined if it has none in folio. */
  readonly inputs: readonly string[] | undefined
  readonly isDerived: boolean
  readonly report: DifferenceReport
}

function propertyFor(field: Field, property: JsonObject, context: PropertyContext): JsonObject {
  const { folio, isDerived, report } = context
  const subject = `field ${showValue(folio)}`
  const [type] = customValues(property, FOLIO_TYPE)
  const [left] = customValues(property, FOLIO_INPUTS)
  const inputs = context.inputs ?? (Array.isArray(left) ? left : undefined)
  const description = own(property, 'description')
  const isRequired = field.required || customValues(property, FOLIO_REQUIRED)[0] === true
  if (field.type === 'time')
    report.add('adapted', { file: FILE }, `${subject} is of type string: folio has no type time`)
  const editors = field.editableBy ?? (isDerived ? [] : null)
  if (isDerived && field.editableBy === null) {
    report.add(
      'adapted',
      { file: FILE },
      `${subject}: x-editable-by is [], since without it folio lets everybody write`,
    )
  }
  const values = enumOf(field, property, { subject, report })
  return {
    name: folio,
    logicalType: typeof type === 'string' ? type : field.type === 'time' ? 'string' : field.type,
    ...(field.primaryKey ? { primaryKey: true } : {}),
    ...(isRequired ? { required: true } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(values === null ? {} : { enum: values }),
    ...(inputs === undefined ? {} : { 'x-derived': true, 'x-inputs': inputs }),
    ...(editors === null ? {} : { 'x-editable-by': editors }),
  }
}

function enumOf(
  { type, validValues }: Field,
  property: JsonObject,
  { subject, report }: { readonly subject: string; readonly report: DifferenceReport },
): JsonValue {
  const [original] = customValues(property, FOLIO_ENUM)
  if (original !== undefined) {
    if (validValues !== null && validValues.length > (original as readonly JsonValue[]).length) {
      const added = validValues
        .map(String)
        .filter((value) => !(original as readonly JsonValue[]).includes(value))
      report.add(
        'adapted',
        { file: FILE },
        `${subject}: enum is the one of folio, without ${showNames(added)}`,
      )
    }
    return original
  }
  if (validValues === null) return null
  if (type === 'string') return validValues
  report.add('cannot', { file: FILE }, `${subject}: folio has no list of values of type ${type}`)
  return null
}

/** Returns what folio has no place for; false and null are the same as absent. */
function leftOf(property: JsonObject): JsonObject {
  const known = new Set([
    'name',
    'logicalType',
    'primaryKey',
    'required',
    'description',
    'x-derived',
    'x-inputs',
    'x-editable-by',
  ])
  const [folio] = customValues(property, FOLIO_NAME)
  // Other lists have no place in folio.
  const isListed = own(property, 'logicalType') === 'string' || customValues(property, FOLIO_ENUM).length > 0
  return Object.fromEntries(
    Object.entries(restOf(property, known)).flatMap(([key, value]) => {
      if (value === null || value === false) return []
      if (key === 'businessName' && value === folio) return []
      if (key === 'quality' && isClosedList(value) && isListed) return []
      if (key !== 'customProperties') return [[key, value]]
      const others = (value as readonly JsonObject[]).filter(
        (each) => !OWN_CUSTOM.has(own(each, 'property') as string),
      )
      return others.length === 0 ? [] : [[key, others]]
    }),
  )
}

/** Whether quality rules are nothing but a list of values, which is `enum`. */
function isClosedList(value: JsonValue): boolean {
  if (!Array.isArray(value)) return false
  const [rule, ...others] = value as readonly JsonObject[]
  if (rule === undefined || others.length > 0) return false
  const { metric, arguments: given = null, mustBe } = rule
  return (
    metric === 'invalidValues' &&
    mustBe === 0 &&
    isJsonObject(given) &&
    Object.keys(given).join() === 'validValues' &&
    Object.keys(rule).every((key) => ['metric', 'arguments', 'mustBe', 'type'].includes(key))
  )
}

function restOf(map: JsonObject, known: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !known.has(key)))
}
