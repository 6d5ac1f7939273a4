import { own } from '../../contract/odcs/document-shape.ts'
import { ID_FROM, ROW_NUMBER } from '../../contract/odcs/id-source.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { AdoptedProperty } from './adopt-property.ts'
import { SEPARATOR } from '../inference/generated-ids.ts'

/** The properties, one of which becomes `id`. */
export interface AdoptedKey {
  readonly properties: readonly AdoptedProperty[]
  /** The original names of the properties whose values form the ids, in order; null if there are none. */
  readonly parts: readonly string[] | null
  readonly notes: readonly string[]
}

/** Options of other types that an id keeps, because a text has them too. */
const TEXT_OPTIONS: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'pattern', 'format'])

/**
 * Chooses the key: the requested property, the primary key, a property called `id`, or the first that is required and
 * unique. A composite key gets an `id` that joins its values; without a key, records are numbered. Throws
 * ValidationError for a property that does not exist or cannot be a text.
 */
export function adoptKey(
  properties: readonly AdoptedProperty[],
  { asked, file }: { readonly asked: string | null; readonly file: string },
): AdoptedKey {
  const primary = properties.filter(({ property }) => own(property, 'primaryKey') === true)
  if (asked !== null) return withKey(properties, askedProperty(properties, asked, file), file)
  if (primary.length > 1) return withJoinedKey(properties, primary)
  const [key] = primary.length === 1 ? primary : likely(properties)
  return key === undefined ? withNumbers(properties) : withKey(properties, key, file)
}

function likely(properties: readonly AdoptedProperty[]): readonly AdoptedProperty[] {
  const scalar = properties.filter(({ type }) => type === 'string' || type === 'integer')
  const called = scalar.filter(({ original }) => original.toLowerCase() === 'id')
  const unique = scalar.filter(
    ({ property }) => own(property, 'unique') === true && own(property, 'required') === true,
  )
  return [...called, ...unique]
}

function askedProperty(properties: readonly AdoptedProperty[], asked: string, file: string): AdoptedProperty {
  const found = properties.find(
    ({ original, property }) => original === asked || own(property, 'physicalName') === asked,
  )
  if (found !== undefined) return found
  const known = showNames(properties.map(({ original }) => original))
  throw new ValidationError(
    `${file} has no property ${showValue(asked)} for the key; it has ${known}`,
    'key_required',
  )
}

function withKey(properties: readonly AdoptedProperty[], key: AdoptedProperty, file: string): AdoptedKey {
  if (key.type === 'array' || key.type === 'object') {
    throw new ValidationError(
      `${file}: ${showValue(key.original)} is an ${key.type} and cannot be the key; choose another with --key`,
      'key_required',
    )
  }
  const others = properties.filter(
    ({ property }) => own(property, 'primaryKey') === true && property !== key.property,
  )
  return {
    properties: properties.map((each) => (each === key ? asId(each) : withoutPrimaryKey(each))),
    parts: null,
    notes: others.map(({ original }) => `${showValue(original)} is the primary key no more`),
  }
}

/** Converts the property to a valid `id`: a required text (D5). */
function asId({ property, original, type, doubts, ...rest }: AdoptedProperty): AdoptedProperty {
  const { logicalTypeOptions, ...others } = property
  const options = type === 'string' ? logicalTypeOptions : textOptions(logicalTypeOptions)
  const said = [
    ...(original === 'id' ? [] : [`the key, so called id`]),
    ...(type === 'string' ? [] : [`ids are texts: was of type ${type}`]),
  ]
  return {
    ...rest,
    original,
    type: 'string',
    isKey: true,
    property: {
      ...others,
      logicalType: 'string',
      ...(options === undefined || options === null ? {} : { logicalTypeOptions: options }),
      primaryKey: true,
      required: true,
    },
    doubts: [...doubts, ...said],
  }
}

function textOptions(options: JsonValue | undefined): JsonObject | null {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return null
  const kept = Object.entries(options as JsonObject).filter(
    ([name]) => TEXT_OPTIONS.has(name) && name !== 'format',
  )
  return kept.length === 0 ? null : Object.fromEntries(kept)
}

function withoutPrimaryKey(adopted: AdoptedProperty): AdoptedProperty {
  const { primaryKey, primaryKeyPosition: _position, ...property } = adopted.property
  if (primaryKey === undefined) return adopted
  return { ...adopted, property: primaryKey === true ? { ...property, required: true } : property }
}

function withJoinedKey(
  properties: readonly AdoptedProperty[],
  primary: readonly AdoptedProperty[],
): AdoptedKey {
  const position = ({ property }: AdoptedProperty): number => Number(own(property, 'primaryKeyPosition') ?? 0)
  const parts = primary.toSorted((a, b) => position(a) - position(b))
  const originals = parts.map(({ original }) => original)
  const names = originals.join(SEPARATOR)
  return {
    properties: [
      madeUpId(`the primary key has ${parts.length} fields: joined as ${names}`, {
        description: `Joined from ${names}.`,
      }),
      ...properties.map(withoutPrimaryKey),
    ],
    parts: originals,
    notes: [],
  }
}

function withNumbers(properties: readonly AdoptedProperty[]): AdoptedKey {
  return {
    properties: [
      madeUpId('no property tells the records apart: numbered in the order of the file', {
        customProperties: [{ property: ID_FROM, value: ROW_NUMBER }],
      }),
      ...properties.map(withoutPrimaryKey),
    ],
    parts: null,
    notes: [],
  }
}

function madeUpId(doubt: string, keys: JsonObject): AdoptedProperty {
  return {
    property: {
      name: 'id',
      ...keys,
      logicalType: 'string',
      primaryKey: true,
      required: true,
    },
    original: 'id',
    type: 'string',
    isKey: true,
    made: true,
    doubts: [doubt],
  }
}
