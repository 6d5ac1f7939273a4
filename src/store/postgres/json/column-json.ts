import type { FieldDef } from 'pg'

/** Returns the JSON text of a value in the text format of PostgreSQL. */
type ToJson = (text: string) => string

/** OIDs of types (pg_type.oid), which are the same in every PostgreSQL. */
const NUMERIC = 1700

/**
 * Returns the conversion of a result column to JSON (D18): integers that a JSON number cannot hold exactly become strings,
 * bytes become base64, and infinity, which JSON lacks, becomes null. The number of a field stays a number, however large.
 */
export function toJsonOf({ dataTypeID, tableID }: Pick<FieldDef, 'dataTypeID' | 'tableID'>): ToJson {
  // The only table that a column can be from is that of the records.
  if (dataTypeID === NUMERIC && tableID !== 0) return floatJson
  return elementJson(ARRAYS.get(dataTypeID)) ?? SCALARS[dataTypeID] ?? JSON.stringify
}

function elementJson(element: number | undefined): ToJson | undefined {
  if (element === undefined) return undefined
  const toJson = SCALARS[element] ?? JSON.stringify
  return (text) => arrayJson(text, toJson)
}

const SCALARS: Readonly<Record<number, ToJson>> = {
  16: (text) => (text === 't' ? 'true' : 'false'),
  17: (text) => `"${Buffer.from(text.slice(2), 'hex').toString('base64')}"`,
  20: integerJson,
  21: integerJson,
  23: integerJson,
  26: integerJson,
  114: (text) => text,
  700: floatJson,
  701: floatJson,
  1114: (text) => JSON.stringify(moment(text)),
  1184: (text) => JSON.stringify(moment(text)),
  [NUMERIC]: numericJson,
  3802: (text) => text,
}

/** Types of arrays, with the types of their items. */
const ARRAYS: ReadonlyMap<number, number> = new Map([
  [199, 114], [1000, 16], [1001, 17], [1002, 18], [1003, 19], [1005, 21], [1007, 23], [1009, 25], [1014, 1042], [1015, 1043],
  [1016, 20], [1021, 700], [1022, 701], [1028, 26], [1115, 1114], [1182, 1082], [1183, 1083], [1185, 1184], [1187, 1186],
  [1231, 1700], [2951, 2950], [3807, 3802],
]) // prettier-ignore

function integerJson(text: string): string {
  return Number.isSafeInteger(Number(text)) ? text : `"${text}"`
}

function floatJson(text: string): string {
  return JSON.stringify(Number(text))
}

function numericJson(text: string): string {
  return /^-?\d+$/.test(text) ? integerJson(text) : floatJson(text)
}

/** Returns `2024-03-10 14:22:35.5+00` in ISO 8601; other forms, such as `infinity`, unchanged. */
function moment(text: string): string {
  const match = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(\+00)?$/.exec(text)
  if (match === null) return text
  const [, day = '', time = '', fraction = '', offset] = match
  const digits = fraction === '' ? '' : `.${fraction.padEnd(fraction.length > 3 ? 6 : 3, '0')}`
  return `${day}T${time}${digits}${offset === undefined ? '' : 'Z'}`
}

const ARRAY_PART = /[{},]|"((?:[^"\\]|\\[^])*)"|[^{},"]+/gy

/**
 * Returns the JSON text of an array that PostgreSQL writes as `{1,NULL,"a b",{…}}`, perhaps with its bounds before that.
 */
function arrayJson(text: string, toJson: ToJson): string {
  ARRAY_PART.lastIndex = text.startsWith('[') ? text.indexOf('=') + 1 : 0
  let json = ''
  for (let match = ARRAY_PART.exec(text); match !== null; match = ARRAY_PART.exec(text)) {
    const [part, inner] = match
    if (inner !== undefined) json += toJson(inner.replaceAll(/\\([^])/g, '$1'))
    else if (part === '{') json += '['
    else if (part === '}') json += ']'
    else json += part === ',' ? ',' : part === 'NULL' ? 'null' : toJson(part)
  }
  return json
}
