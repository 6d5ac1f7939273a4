import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Field } from '../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../contract/json/json.ts'
import { DepthError, PART_BYTES, parseInParts, UncutError } from '../contract/json/parse-in-parts.ts'
import { rawMembers, rawValue } from '../contract/json/raw-json.ts'

/**
 * Lines of `provenance.jsonl` (D33), as they are in the file: a computed cell is a line; a direct write or a deletion
 * is a line for the record; an import is a line for all of it; a cell that is put back is a line; a deleted record that is
 * restored is a line, and one for each of its computed cells.
 */
export type LogLine = CellLine | RecordLine | ImportLine | RevertLine

interface CommonFields {
  /** Counts up without gaps. */
  readonly seq: number
  /** UTC with milliseconds and `Z` (D40). */
  readonly at: string
  readonly actor: string
}

/** What the line of a computed cell says whatever the kind of its derivation. `source` is the name of the kind. */
export interface CellLineStart extends CommonFields {
  readonly source: string
  readonly record_id: string
  readonly field: string
  readonly value: JsonValue
  readonly previous: JsonValue
  readonly input_hash: string
  readonly derivation: string
  /** The run that computed it; absent in lines of before runs had ids. */
  readonly run_id: string
}

/** A computed cell. */
export interface CellLine extends CellLineStart {
  readonly cached: boolean
  /** What the kind adds, for http `method`, `url`, `status` and `duration_ms`. */
  readonly [key: string]: JsonValue
}

/** A direct write, a deletion or a restored record; `values` and `previous` have just the fields that changed. */
export interface RecordLine extends CommonFields {
  readonly source: 'write' | 'delete' | 'revert'
  /** Of a restored record: the `seq` of the deletion that was undone. */
  readonly reverts?: number
  readonly record_id: string
  readonly values: JsonObject
  readonly previous: JsonObject
  /** Where an accepted proposal was the reason: its id, and who proposed it. `actor` is who accepted it. */
  readonly proposal?: string
  readonly proposed_by?: string
}

/** The import of a file. */
export interface ImportLine extends CommonFields {
  readonly source: 'import'
  readonly file: string
  readonly sha256: string
  readonly records: number
}

/** A cell that has got back what it was before the entry `reverts` wrote it. */
export interface RevertLine extends CommonFields {
  readonly source: 'revert'
  readonly record_id: string
  readonly field: string
  readonly value: JsonValue
  readonly previous: JsonValue
  /** The `seq` of the entry that was undone. */
  readonly reverts: number
  /** The run that put it back, when a whole run was undone. */
  readonly run_id?: string
  /** Of a computed value: the hash and the file that it was computed with. */
  readonly input_hash?: string
  readonly derivation?: string
}

/** A line's text, without the line break. */
export function formatLine(line: LogLine): string {
  return JSON.stringify(line)
}

/** The text of a {@link CellLine}; `added`: JSON of an object with its fields beyond the start, each of another name. */
export function formatCellLine(start: CellLineStart, added: string): string {
  const text = JSON.stringify(start)
  return added === '{}' ? text : `${text.slice(0, -1)},${added.slice(1)}`
}

/** A line without what the change set gives it. */
export type Unnumbered<Line extends CommonFields> = Omit<Line, 'seq' | 'at'>

/** What a {@link RecordLine} says, field by field. */
export interface RecordChange {
  readonly actor: string
  readonly source: RecordLine['source']
  /** Of a restored record: the seq of the deletion that is undone. */
  readonly reverts?: number
  readonly recordId: string
  /** The fields that changed. */
  readonly fields: readonly Field[]
  /** Their new values, perhaps among others; null when they have none any more. */
  readonly values: JsonObject | null
  /** The values that they had; null for a record that was not there. */
  readonly previous: ((field: Field) => JsonValue) | null
  /** The proposal that was accepted by this; null for a change of the actor's own. */
  readonly proposal: AcceptedProposal | null
}

/** A proposal, as lines tell of it. */
export interface AcceptedProposal {
  readonly id: string
  /** Who proposed it. */
  readonly by: string
}

/** A line's text in two parts: a table that knows {@link wholeLine} need not keep the end. */
export interface LineText {
  readonly start: string
  /** Empty where the start is all of it. */
  readonly end: string
}

/**
 * The text of a {@link RecordLine}, put together by hand: there is one for every record written, and making objects of
 * these just to serialize them took longer than all else of the writing. The line of a new record has an end, a third of
 * it, which says of each field that it had no value.
 */
export function formatRecordLine({ seq, at }: { seq: number; at: string }, change: RecordChange): LineText {
  const { values, fields, previous, proposal } = change
  const proposed =
    proposal === null ? '' : `"proposal":"${proposal.id}","proposed_by":${JSON.stringify(proposal.by)},`
  const undone = change.reverts === undefined ? '' : `"reverts":${change.reverts},`
  const start =
    `{"seq":${seq},"at":"${at}","actor":${JSON.stringify(change.actor)},"source":"${change.source}",${proposed}${undone}` +
    `"record_id":${JSON.stringify(change.recordId)},"values":${valuesText(values, fields)},`
  if (previous === null) return { start, end: nothingBefore(fields) }
  return { start: `${start}"previous":${membersText(fields, previous)}}`, end: '' }
}

/** The text of a line of which a table may have the start alone: only that ends with a comma. */
export function wholeLine(stored: string): string {
  const started = parseStart(stored)
  return started === null ? stored : stored + endOf(Object.keys(started.values))
}

/** Reads the text of a line, or its start, as a table has it; null when it is no line of a provenance log. */
export function parseStored(stored: string): JsonObject | null {
  const started = parseStart(stored)
  if (started === null) return parseLine(stored)
  return { ...started.line, previous: nothingIn(Object.keys(started.values)) }
}

/** A line, or its start, as a table has it: its text, or where it is long, its bytes in UTF-8. */
export type StoredLine = string | Uint8Array

/** The same, between parts of which other requests have their turn where the line is long. */
export async function parseStoredInTurns(stored: StoredLine): Promise<JsonObject | null> {
  const parts = parseStoredInParts(stored)
  for (let part = parts.next(); ; part = parts.next()) {
    if (part.done === true) return part.value
    await nextTurn()
  }
}

/** The same in parts: the time between is the caller's. */
export function* parseStoredInParts(stored: StoredLine): Generator<void, JsonObject | null> {
  if (typeof stored === 'string' && stored.length <= PART_BYTES) return parseStored(stored)
  const bytes = bytesOf(stored)
  const isStart = bytes.at(-1) === COMMA
  const parts = parseInParts(isStart ? Buffer.concat([bytes.subarray(0, -1), CLOSE_OBJECT]) : bytes)
  try {
    for (let part = parts.next(); ; part = parts.next()) {
      if (part.done === true) return lineFrom(part.value, isStart)
      yield
    }
  } catch (error) {
    if (error instanceof DepthError || error instanceof UncutError) return parseStored(bytes.toString())
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/**
 * Reads a line, or its start, for serializing what it says: long values are a `RawJson`.
 * Other requests have their turn while a long line is read. Null when it is no line of a provenance log.
 */
export async function readStoredInTurns(stored: StoredLine): Promise<JsonObject | null> {
  if (stored.length < PART_BYTES)
    return parseStored(typeof stored === 'string' ? stored : String(bytesOf(stored)))
  const bytes = bytesOf(stored)
  const isStart = bytes.at(-1) === COMMA
  const steps = rawLine(isStart ? Buffer.concat([bytes.subarray(0, -1), CLOSE_OBJECT]) : bytes)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return lineFrom(step.value, isStart)
    await nextTurn()
  }
}

/** A line of which long values are a `RawJson`. */
function* rawLine(bytes: Buffer): Generator<void, JsonObject | null> {
  const members = yield* rawMembers(bytes)
  if (members === null) return null
  const isOfCell = members.has('field')
  const line: [string, JsonValue][] = []
  for (const [name, text] of members) {
    const isOfFields = !isOfCell && (name === 'values' || name === 'previous') && text.length >= PART_BYTES
    const fields = isOfFields ? yield* rawMembers(text) : null
    line.push([
      name,
      fields === null
        ? rawValue(text)
        : Object.fromEntries([...fields].map(([field, value]) => [field, rawValue(value)])),
    ])
  }
  return Object.fromEntries(line)
}

function bytesOf(stored: StoredLine): Buffer {
  if (typeof stored === 'string') return Buffer.from(stored)
  return Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
}

function lineFrom(value: unknown, isStart: boolean): JsonObject | null {
  if (!isLine(value)) return null
  if (!isStart) return value
  const { values } = value
  return isJsonObject(values) ? { ...value, previous: nothingIn(Object.keys(values)) } : null
}

function parseStart(stored: string): { readonly line: JsonObject; readonly values: JsonObject } | null {
  if (!stored.endsWith(',')) return null
  const line = parseLine(`${stored.slice(0, -1)}}`)
  const values = line?.['values']
  return line !== null && isJsonObject(values) ? { line, values } : null
}

function valuesText(values: JsonObject | null, fields: readonly Field[]): string {
  // A new record has mostly nothing but changed fields: then it goes in as it came, which takes a third of the time.
  if (values !== null && Object.keys(values).length === fields.length) return JSON.stringify(values)
  return membersText(fields, ({ name }) => values?.[name] ?? null)
}

/** Ends of lines, remembered: many new records have the same fields. */
const NOTHING_BEFORE = new WeakMap<readonly Field[], string>()

function nothingBefore(fields: readonly Field[]): string {
  let end = NOTHING_BEFORE.get(fields)
  if (end === undefined) {
    end = endOf(fields.map(({ name }) => name))
    NOTHING_BEFORE.set(fields, end)
  }
  return end
}

function endOf(names: readonly string[]): string {
  return JSON.stringify({ previous: nothingIn(names) }).slice(1)
}

/** In an order of its own, since the start of a line may name the fields in any. */
function nothingIn(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.toSorted().map((name) => [name, null]))
}

function membersText(fields: readonly Field[], valueOf: (field: Field) => JsonValue): string {
  let members = ''
  for (const field of fields) {
    members += `${members === '' ? '' : ','}${memberName(field.name)}${JSON.stringify(valueOf(field))}`
  }
  return `{${members}}`
}

const COMMA = 0x2c
const CLOSE_OBJECT = Buffer.from('}')

const MEMBER_NAMES = new Map<string, string>()

/** `"name":`, remembered: contracts have few fields. */
function memberName(field: string): string {
  let text = MEMBER_NAMES.get(field)
  if (text === undefined) {
    text = `${JSON.stringify(field)}:`
    MEMBER_NAMES.set(field, text)
  }
  return text
}

/** Reads a line's text; null when it is no line of a provenance log. */
export function parseLine(text: string): JsonObject | null {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    return null
  }
  return isLine(line) ? line : null
}

function isLine(value: unknown): value is JsonObject {
  return isJsonObject(value) && Number.isSafeInteger(value['seq']) && (value['seq'] as number) > 0
}

/** What a line says of one field of its record, as `GET /api/provenance` answers it; null when it says nothing. */
export function entryOfField(line: JsonObject, field: string): JsonObject | null {
  if (line['field'] !== undefined) return line['field'] === field ? line : null
  const { values, previous, ...common } = line
  if (!isJsonObject(values) || !Object.hasOwn(values, field)) return null
  const before = isJsonObject(previous) && Object.hasOwn(previous, field) ? previous[field] : null
  return { ...common, field, value: values[field] ?? null, previous: before ?? null }
}

/** What the fields that a line changed were before; empty for a line that is not about a record. */
export function valuesBefore({ field, previous }: JsonObject): JsonObject {
  if (typeof field === 'string') return { [field]: previous ?? null }
  return isJsonObject(previous) ? previous : {}
}

/** What an import line says of one cell that it brought. */
export function entryOfImport(
  line: JsonObject,
  cell: { recordId: string; field: string; value: JsonValue; previous: JsonValue },
): JsonObject {
  const { seq, at, actor, source, file } = line
  return {
    seq: seq ?? null,
    at: at ?? null,
    actor: actor ?? null,
    source: source ?? null,
    record_id: cell.recordId,
    field: cell.field,
    value: cell.value,
    previous: cell.previous,
    file: file ?? null,
  }
}

/** Where the log's lines are kept for good, in order. */
export interface LogSource {
  /** The highest seq, 0 when there is none. */
  lastSeq(): number
  /** Texts of the lines after a seq, ascending. */
  linesAfter(seq: number): Iterable<{ readonly seq: number; readonly line: string }>
}
