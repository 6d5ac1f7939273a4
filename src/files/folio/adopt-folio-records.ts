import type { Contract, Field, LogicalType } from '../../contract/contract.ts'
import { parseExactly } from '../../contract/json/exact-json.ts'
import { nestsTooDeep } from '../../contract/json/json-depth.ts'
import { own } from '../../contract/odcs/document-shape.ts'
import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { WrittenNumber } from '../../contract/json/written-number.ts'
import { parseMoment } from '../../contract/values/date-time.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { typeCells } from '../inference/type-cells.ts'
import { STRICT } from '../notation/notation-sketch.ts'
import type { DifferenceReport } from './difference-report.ts'
import type { FolioField } from './folio-field.ts'

const FILE = 'records.jsonl'

/** A line of `records.jsonl` with an object. */
export interface FolioRecord {
  readonly line: number
  readonly raw: JsonObject
}

/** A value or a line that the new sheet does not have; it is written to a file beside it. */
export interface SetAside {
  readonly file: string
  readonly line: number
  /** The id of the record in the new sheet; null for a line that is no record. */
  readonly recordId: string | null
  readonly field: string | null
  readonly value: JsonValue
  readonly reason: string
}

/** Texts outside strings that Python writes and JSON does not have. A string without an end matches to the end, so that a search is linear. */
const PYTHON_NUMBER = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|-?\bInfinity\b|\bNaN\b/g

/**
 * Reads the lines of a JSONL file of folio: objects, blank lines are ignored. `NaN` and infinities, which Python writes, are texts. Lines
 * that are no objects are reported and set aside.
 */
export function readFolioLines(
  bytes: Uint8Array,
  file: string,
  { report, aside }: { readonly report: DifferenceReport; readonly aside: SetAside[] },
): FolioRecord[] {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const records: FolioRecord[] = []
  const refuse = (line: number, value: string, reason: string): void => {
    aside.push({ file, line, recordId: null, field: null, value, reason })
    report.count({ action: 'cannot', file, what: `a line is set aside: ${reason}` }, line)
  }
  for (const { line, part } of linesOf(bytes)) {
    let text: string
    try {
      text = decoder.decode(part)
    } catch {
      refuse(line, Buffer.from(part).toString('base64'), 'not valid UTF-8; its bytes are kept as base64')
      continue
    }
    if (text.trim() === '') continue
    const value = parsed(text)
    if (value === undefined) refuse(line, text, 'not JSON')
    else if (!isJsonObject(value)) refuse(line, text, 'not a JSON object')
    else if (nestsTooDeep(value)) refuse(line, text, 'nested too deep')
    else records.push({ line, raw: value })
  }
  return records
}

function* linesOf(bytes: Uint8Array): Generator<{ readonly line: number; readonly part: Uint8Array }> {
  let line = 1
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, start)
    yield { line, part: bytes.subarray(start, end === -1 ? bytes.length : end) }
    start = end === -1 ? bytes.length : end + 1
  }
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    const quoted = text.replace(PYTHON_NUMBER, (token) =>
      token.startsWith('"') ? token : JSON.stringify(token),
    )
    if (quoted === text) return undefined
    try {
      return parseExactly(quoted)
    } catch {
      return undefined
    }
  }
}

/** A name that records have and the contract has not, with the type of its values. */
export interface UndeclaredField {
  readonly folio: string
  readonly type: LogicalType
  /** The first line with it. */
  readonly line: number
}

/** Finds the names that the contract does not have, in the order of their occurrence. */
export function undeclaredFields(
  records: readonly FolioRecord[],
  declared: ReadonlySet<string>,
): readonly UndeclaredField[] {
  const found = new Map<string, { types: Set<LogicalType>; line: number }>()
  for (const { line, raw } of records) {
    for (const name of Object.keys(raw)) {
      if (declared.has(name)) continue
      const known = found.get(name) ?? { types: new Set(), line }
      found.set(name, known)
      const type = typeOfValue(raw[name] ?? null)
      if (type !== null) known.types.add(type)
    }
  }
  return Array.from(found, ([folio, { types, line }]) => ({ folio, type: commonType(types), line }))
}

function typeOfValue(value: JsonValue): LogicalType | null {
  if (value === null) return null
  if (value instanceof WrittenNumber || typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  return Array.isArray(value) ? 'array' : 'object'
}

/** Returns the type of a column; text takes all values, arrays and objects as JSON. */
function commonType(types: ReadonlySet<LogicalType>): LogicalType {
  const [first = 'string', ...others] = types
  if (others.length === 0) return first
  return [...types].every((type) => type === 'integer' || type === 'number') ? 'number' : 'string'
}

/** Whether values of an integer field are no integers, but numbers. */
export function hasFractions(records: readonly FolioRecord[], { folio }: FolioField): boolean {
  return records.some(({ raw }) => {
    const value = Object.hasOwn(raw, folio) ? raw[folio] : null
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return typeof number === 'number' && Number.isFinite(number) && !Number.isInteger(number)
  })
}

/** A record of the new sheet. */
export interface AdoptedRecord {
  readonly line: number
  /** The record as folio has it. */
  readonly raw: JsonObject
  readonly id: string
  /** Values by the fields of the new sheet, those that are not null. */
  readonly values: JsonObject
}

export interface RecordAdoption {
  readonly records: readonly AdoptedRecord[]
  /** Whether the id of a record is another text than in folio. */
  readonly hasOtherIds: boolean
  /** The first line without a value of a field, by field; only fields that have such. */
  readonly missing: ReadonlyMap<string, number>
}

export interface RecordRules {
  /** The fields of the new sheet, with types but without lists of values and `required`. */
  readonly contract: Contract
  readonly fields: readonly FolioField[]
  /** The name of the primary key in folio. */
  readonly key: string
  /** The field with the ids of folio where they are others. */
  readonly originalId: string
  readonly report: DifferenceReport
  readonly aside: SetAside[]
}

/**
 * Converts records: values of another type are read as in CSV files, ids become valid and unique. A value that the type of its field does not
 * take is set aside.
 */
export function adoptFolioRecords(records: readonly FolioRecord[], rules: RecordRules): RecordAdoption {
  const ids = new Ids(rules.key, rules.report)
  const missing = new Map<string, number>()
  let hasOtherIds = false
  const adopted = records.map(({ line, raw }) => {
    const { id, original } = ids.idOf(raw, line)
    const values: [string, JsonValue][] = [['id', id]]
    for (const { folio, name, isKey } of rules.fields) {
      if (isKey) continue
      const given = own(raw, folio)
      const value = given === null ? null : adoptValue(given, { line, id, folio, name, rules })
      if (value !== null) values.push([name, value])
      else if (!missing.has(name)) missing.set(name, line)
    }
    if (original !== null) {
      hasOtherIds = true
      values.push([rules.originalId, original])
    }
    return { line, raw, id, values: Object.fromEntries(values) }
  })
  return { records: adopted, hasOtherIds, missing }
}

/** The most characters of an id (D14). */
const MAX_ID = 512

class Ids {
  readonly #key: string
  readonly #report: DifferenceReport
  readonly #used = new Set<string>()
  /** The last number of each text that several records want as their id. */
  readonly #last = new Map<string, number>()

  constructor(key: string, report: DifferenceReport) {
    this.#key = key
    this.#report = report
  }

  /** Returns the id of a record, and the text that it has in folio if that is another one. */
  idOf(raw: JsonObject, line: number): { readonly id: string; readonly original: string | null } {
    const value = own(raw, this.#key)
    const given = value === null ? null : typeof value === 'string' ? value : JSON.stringify(value)
    const valid = given === null ? '' : validId(given)
    const wanted = valid === '' ? `line-${line}` : valid
    const id = this.#free(wanted)
    if (given === null) {
      this.#count('a record without an id gets an id from its line number', line)
    } else if (id !== given) {
      const why =
        id === wanted ? 'an id has no commas, control characters or spaces at its ends' : 'ids are unique'
      this.#count(`an id was changed; the id in folio is in the field of original ids: ${why}`, line, given)
    } else if (typeof value !== 'string') this.#count('an id is a text', line, value)
    if (/\s/.test(id)) {
      this.#report.count({ action: 'kept', file: FILE, what: 'an id has spaces' }, line, id)
    }
    return { id, original: given === null || given === id ? null : storable(given) }
  }

  #count(what: string, line: number, value?: unknown): void {
    this.#report.count({ action: 'adapted', file: FILE, what }, line, value)
  }

  #free(wanted: string): string {
    let id = wanted
    while (this.#used.has(id)) {
      const number = (this.#last.get(wanted) ?? 1) + 1
      this.#last.set(wanted, number)
      id = `${wanted.slice(0, MAX_ID - 12)}_${number}`
    }
    this.#used.add(id)
    return id
  }
}

function validId(text: string): string {
  return text
    .toWellFormed()
    .replace(/[,\p{Cc}]/gu, '_')
    .slice(0, MAX_ID)
    .toWellFormed()
    .trim()
}

/** Returns a text without the characters that no field takes; JSON text shows them. */
function storable(text: string): string {
  return text.isWellFormed() && !text.includes('\0')
    ? text
    : JSON.stringify(text).replaceAll('\\u0000', '\\\\u0000')
}

interface GivenValue {
  readonly line: number
  readonly id: string
  readonly folio: string
  readonly name: string
  readonly rules: RecordRules
}

function adoptValue(given: JsonValue, { line, id, folio, name, rules }: GivenValue): JsonValue {
  const { contract, report, aside } = rules
  const field = contract.fieldByName.get(name)
  if (field === undefined) throw new Error(`the field ${name} is missing in the contract`)
  const fault = valueError(field, given)
  if (fault === null) return given
  const typed = typedValue(field, given, contract)
  if (valueError(field, typed) !== null || (typed === null && given !== '')) {
    aside.push({ file: FILE, line, recordId: id, field: folio, value: given, reason: fault })
    const what = `field ${showValue(folio)}: a value is set aside, since the field is of type ${field.type}`
    report.count({ action: 'cannot', file: FILE, what }, line, given)
    return null
  }
  if (!jsonEqual(typed, given)) {
    const how = typed === null ? 'an empty text is no value' : `a value is read as ${field.type}`
    const what = `field ${showValue(folio)}: ${how}`
    report.count({ action: 'adapted', file: FILE, what }, line, given)
  }
  return typed
}

function typedValue(field: Field, given: JsonValue, contract: Contract): JsonValue {
  const { type, name } = field
  if (type === 'string') {
    return typeof given === 'object' ? JSON.stringify(given) : String(given)
  }
  // The offset is unknown; folio compares such texts as they are.
  if (type === 'timestamp' && typeof given === 'string' && parseMoment('timestamp', `${given}Z`) !== null)
    return `${given}Z`
  const typed = own(
    typeCells(contract, { [name]: given }, { cells: 'text', readings: { of: () => STRICT } }),
    name,
  )
  return type === 'integer' && typeof typed === 'number' && Number.isInteger(typed)
    ? Math.trunc(typed)
    : typed
}
