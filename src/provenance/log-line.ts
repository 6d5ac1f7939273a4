import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Field, LogicalType } from '../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../contract/json/json.ts'
import { DepthError, PART_BYTES, parseInParts, UncutError } from '../contract/json/parse-in-parts.ts'
import { rawMembers, rawValue } from '../contract/json/raw-json.ts'

/**
 * Lines of `provenance.jsonl` (D33), as they are in the file. There is one line for a computed cell, for a direct write or
 * a deletion of a record, for an import of `records.jsonl`, for some records that another import creates ({@link ImportedRecordsLine}),
 * for a reverted cell, for a restored record and each of its computed cells, for a change of fields, and for a review.
 */
export type LogLine = CellLine | RecordLine | ImportLine | RevertLine | FieldsLine | ReviewLine

interface CommonFields {
  /** Ascends without gaps. */
  readonly seq: number
  /** UTC with milliseconds and `Z` (D40). */
  readonly at: string
  readonly actor: string
}

/** The members of a computed cell's line that all kinds of derivations have. `source` is the name of the kind. */
export interface CellLineStart extends CommonFields {
  readonly source: string
  readonly record_id: string
  readonly field: string
  readonly value: JsonValue
  readonly previous: JsonValue
  readonly input_hash: string
  readonly derivation: string
  /** The run that computed it; absent in lines written before runs had ids. */
  readonly run_id: string
}

export interface CellLine extends CellLineStart {
  readonly cached: boolean
  /** The members of the kind, for http `method`, `url`, `status` and `duration_ms`. */
  readonly [key: string]: JsonValue
}

/**
 * A direct write, a deletion, a restored record or an erasure; `values` and `previous` have exactly the changed fields. Of an erasure they
 * have null for the erased fields, whether or not the record had a value.
 */
export interface RecordLine extends CommonFields {
  readonly source: 'write' | 'delete' | 'revert' | 'erase'
  /** The `seq` of each line from which an erasure has removed values. */
  readonly lines?: readonly number[]
  /** The `seq` of the deletion that was undone, of a restored record. */
  readonly reverts?: number
  readonly record_id: string
  readonly values: JsonObject
  readonly previous: JsonObject
  /** The values that a deleted record kept of removed and converted fields, by their columns; absent for none. */
  readonly kept?: JsonObject
  /**
   * The id and the proposer of an accepted proposal, whose changes these are; absent for other changes. `actor` accepted
   * it.
   */
  readonly proposal?: string
  readonly proposed_by?: string
  /** The run of an import of a file, or of the revert of one; absent for other changes. */
  readonly run_id?: string
}

export interface ImportLine extends CommonFields {
  readonly source: 'import'
  readonly file: string
  readonly sha256: string
  readonly records: number
}

/** A cell that was reverted to its state before the entry `reverts`. */
export interface RevertLine extends CommonFields {
  readonly source: 'revert'
  readonly record_id: string
  readonly field: string
  readonly value: JsonValue
  readonly previous: JsonValue
  /** The `seq` of the entry that was undone. */
  readonly reverts: number
  /** The revert, when it undid a whole run. */
  readonly run_id?: string
  /** The hash and the derivation file of a computed value. */
  readonly input_hash?: string
  readonly derivation?: string
}

/** A change of fields: lines before it have the earlier names and types. */
export interface FieldsLine extends CommonFields {
  readonly source: 'contract'
  /** New names by the names before. */
  readonly renamed?: Readonly<Record<string, string>>
  readonly removed?: Readonly<Record<string, { readonly type: LogicalType }>>
  /** By the names after the change. */
  readonly converted?: Readonly<Record<string, ConvertedValues>>
  /** Fields that have their values back, with the `seq` of the line that removed each. */
  readonly restored?: Readonly<Record<string, number>>
  /** See {@link RecordLine.proposal}. */
  readonly proposal?: string
  readonly proposed_by?: string
}

interface ConvertedValues {
  readonly from: LogicalType
  readonly to: LogicalType
  /** The number of values that did not fit; absent in lines of earlier versions. */
  readonly lost?: number
  /** The `seq` of the conversion that was taken back; absent for none, and in lines of earlier versions. */
  readonly reverts?: number
}

/** A review of the value of a cell. It changes no value, so that it is no entry of the cell. */
export interface ReviewLine extends CommonFields {
  readonly source: 'review'
  readonly record_id: string
  /** The field of the cell, by its name at that time. */
  readonly reviewed: string
  /** `approved` or `flagged`; null for the end of a review. */
  readonly verdict: string | null
  readonly note?: string
  /** The value that was reviewed. */
  readonly value: JsonValue
}

/**
 * Whether a line is about an imported `records.jsonl`; lines of looked-up cells have the same `source`, the name of their kind, and so
 * have lines with imported records.
 */
export function isImportLine({ source, record_id: id, rows }: JsonObject): boolean {
  return source === 'import' && id === undefined && rows === undefined
}

/** Returns a line's text, without the line break. */
export function formatLine(line: LogLine): string {
  return JSON.stringify(line)
}

/**
 * Returns the text of a {@link CellLine}; `added` is JSON of an object with its members beyond the start, each of another
 * name.
 */
export function formatCellLine(start: CellLineStart, added: string): string {
  const text = JSON.stringify(start)
  return added === '{}' ? text : `${text.slice(0, -1)},${added.slice(1)}`
}

/** A line without the members that the change set adds. */
export type Unnumbered<Line extends CommonFields> = Omit<Line, 'seq' | 'at'>

/** The content of a {@link RecordLine}. */
export interface RecordChange {
  readonly actor: string
  readonly source: RecordLine['source']
  /** The seq of the deletion that is undone, of a restored record. */
  readonly reverts?: number
  readonly recordId: string
  readonly fields: readonly Field[]
  /** Their new values, perhaps among others; null for a deletion. */
  readonly values: JsonObject | null
  /** Their earlier values; null for a new record. */
  readonly previous: ((field: Field) => JsonValue) | null
  /** The proposal that was accepted; null for a change of the actor's own. */
  readonly proposal: AcceptedProposal | null
  /** See {@link RecordLine.run_id}. */
  readonly run?: string | null | undefined
  /** The name of the file that the run imports; absent for none. */
  readonly file?: string | null | undefined
  /** See {@link RecordLine.kept}. */
  readonly kept?: JsonObject | undefined
  /** See {@link RecordLine.lines}. */
  readonly erased?: readonly number[] | undefined
}

/** The members of a proposal that lines have. */
export interface AcceptedProposal {
  readonly id: string
  readonly by: string
}

/** A line's text in two parts: a table that is read with {@link wholeLine} need not store the end. */
export interface LineText {
  readonly start: string
  /** Empty where the start is the whole line. */
  readonly end: string
}

/**
 * Returns the text of a {@link RecordLine}, built without intermediate objects: there is one for every written record, and
 * serializing objects took longer than the rest of the write. The line of a new record has an end, a third of it, with null
 * as the previous value of each field.
 */
export function formatRecordLine({ seq, at }: { seq: number; at: string }, change: RecordChange): LineText {
  const { values, fields, previous, proposal } = change
  const proposed =
    proposal === null ? '' : `"proposal":"${proposal.id}","proposed_by":${JSON.stringify(proposal.by)},`
  const ofRun = typeof change.run === 'string' ? `"run_id":"${change.run}",` : ''
  const undone = change.reverts === undefined ? '' : `"reverts":${change.reverts},`
  const lines = change.erased === undefined ? '' : `"lines":${JSON.stringify(change.erased)},`
  const start =
    `{"seq":${seq},"at":"${at}","actor":${JSON.stringify(change.actor)},"source":"${change.source}",${proposed}${undone}${ofRun}${lines}` +
    `"record_id":${JSON.stringify(change.recordId)},"values":${valuesText(values, fields)},`
  if (previous === null) return { start, end: nothingBefore(fields) }
  const kept = change.kept === undefined ? '' : `,"kept":${JSON.stringify(change.kept)}`
  return { start: `${start}"previous":${membersText(fields, previous)}${kept}}`, end: '' }
}

/** Returns the text of a line of which a table may store only the start, which ends with a comma. */
export function wholeLine(stored: string): string {
  return readWhole(stored).text
}

/** Returns the text of a line as {@link wholeLine} does, and what it says; null when it is not a line of a provenance log. */
export function readWhole(stored: string): { readonly text: string; readonly line: JsonObject | null } {
  const started = parseStart(stored)
  if (started === null) return { text: stored, line: stored.endsWith(',') ? null : parseLine(stored) }
  const { names, end } = endFor(started.values)
  return { text: stored + end, line: { ...started.line, previous: names } }
}

/** Reads the text of a line, or its start, from a table; null when it is not a line of a provenance log. */
export function parseStored(stored: string): JsonObject | null {
  const started = parseStart(stored)
  if (started === null) return parseLine(stored)
  return { ...started.line, previous: nothingIn(Object.keys(started.values)) }
}

/** A line, or its start, from a table: its text, or where it is long, its bytes in UTF-8. */
export type StoredLine = string | Uint8Array

/** Reads a line as {@link parseStored} does; yields to other requests between parts of a long line. */
export async function parseStoredInTurns(stored: StoredLine): Promise<JsonObject | null> {
  const parts = parseStoredInParts(stored)
  for (let part = parts.next(); ; part = parts.next()) {
    if (part.done === true) return part.value
    await nextTurn()
  }
}

/** Reads a line in parts; the caller decides what happens between them. */
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
 * Reads a line, or its start, for serializing its members: long values are a `RawJson`. Yields to other requests between
 * parts of a long line. Null when it is not a line of a provenance log.
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

/** Reads a line in which long values are a `RawJson`. */
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
  // A new record mostly has only changed fields: then its values are used as they are, which takes a third of the time.
  if (values !== null && Object.keys(values).length === fields.length) return JSON.stringify(values)
  return membersText(fields, ({ name }) => values?.[name] ?? null)
}

/** Ends of lines by the names of their fields, cached: most lines of a log have the same. No name has a line break. */
const ENDS = new Map<string, string>()
const MOST_ENDS = 1000

/** Ends of lines, cached: many new records have the same fields. */
const NOTHING_BEFORE = new WeakMap<readonly Field[], string>()

function nothingBefore(fields: readonly Field[]): string {
  let end = NOTHING_BEFORE.get(fields)
  if (end === undefined) {
    end = endOf(fields.map(({ name }) => name))
    NOTHING_BEFORE.set(fields, end)
  }
  return end
}

/** The last names for which {@link endFor} was called, and its result: many lines follow that have the same. */
let lastEnd = { key: '', names: nothingIn([]), end: endOf([]) }

/** Returns null for each field of a new record, and the end of its line. */
function endFor(values: JsonObject): { readonly names: JsonObject; readonly end: string } {
  const names = Object.keys(values)
  const key = names.join('"')
  if (key !== lastEnd.key) lastEnd = { key, names: nothingIn(names), end: endOf(names) }
  return lastEnd
}

function endOf(names: readonly string[]): string {
  const key = names.join('\n')
  let end = ENDS.get(key)
  if (end === undefined) {
    end = JSON.stringify({ previous: nothingIn(names) }).slice(1)
    if (ENDS.size === MOST_ENDS) ENDS.clear()
    ENDS.set(key, end)
  }
  return end
}

/** Returns null for each field, in sorted order, since the start of a line may have the fields in any. */
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

/** Returns `"name":`, cached: contracts have few fields. */
function memberName(field: string): string {
  let text = MEMBER_NAMES.get(field)
  if (text === undefined) {
    text = `${JSON.stringify(field)}:`
    MEMBER_NAMES.set(field, text)
  }
  return text
}

/** Reads a line's text; null when it is not a line of a provenance log. */
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

/** Returns the entry of a line for one field of its record, as in `GET /api/provenance`; null for none. */
export function entryOfField(line: JsonObject, field: string): JsonObject | null {
  if (line['field'] !== undefined) return line['field'] === field ? line : null
  const { values, previous, kept: _kept, lines: _lines, ...common } = line
  if (!isJsonObject(values) || !Object.hasOwn(values, field)) return null
  const before = isJsonObject(previous) && Object.hasOwn(previous, field) ? previous[field] : null
  return { ...common, field, value: values[field] ?? null, previous: before ?? null }
}

/** Returns the previous values of the fields that a line changed; empty for a line that is not about a record. */
export function valuesBefore({ field, previous }: JsonObject): JsonObject {
  if (typeof field === 'string') return { [field]: previous ?? null }
  return isJsonObject(previous) ? previous : {}
}

/** Returns the entry of an import line for one cell. */
export function entryOfImport(
  line: JsonObject,
  cell: { recordId: string; field: string; value: JsonValue; previous: JsonValue },
): JsonObject {
  const { seq, at, actor, source, file, run_id: run, written_at: written } = line
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
    ...(run === undefined ? {} : { run_id: run }),
    ...(written === undefined ? {} : { written_at: written }),
  }
}

/** The durable copy of the log's lines, in order. */
export interface LogSource {
  /** Returns the highest seq, 0 for none. */
  lastSeq(): number
  /** Returns the texts of the lines after a seq, ascending. */
  linesAfter(seq: number): Iterable<{ readonly seq: number; readonly line: string }>
}
