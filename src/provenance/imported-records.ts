import type { Field } from '../contract/contract.ts'
import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import type { LineText, RecordChange } from './log-line.ts'

/** The creation of some records of an imported file, whose values are `rows`, each in the order of `fields`; null is no value. */
export interface ImportedRecordsLine {
  readonly seq: number
  readonly at: string
  readonly actor: string
  readonly source: 'import'
  readonly file: string
  readonly run_id: string
  readonly fields: readonly string[]
  /** The number of rows. */
  readonly records: number
  readonly rows: readonly (readonly JsonValue[])[]
}

/** The text of an {@link ImportedRecordsLine} in two parts: a line without the rows, and the rows. */
export interface ImportedRecordsText {
  readonly start: string
  /** Null where the start is the whole line. */
  readonly rows: string | null
}

/** The change of a record that an import creates. */
export type ImportedRecord = RecordChange & { readonly run: string; readonly file: string }

/** Whether a change creates a record of an imported file, so that one line can have it with others. */
export function isImportedRecord(change: RecordChange): change is ImportedRecord {
  const { file, run, previous, proposal, source } = change
  return (
    typeof file === 'string' &&
    typeof run === 'string' &&
    previous === null &&
    proposal === null &&
    source === 'write'
  )
}

/** Records and characters of a line beyond which no record is added: a proof of a cell has the whole line. */
const MOST_RECORDS = 128
const MOST_CHARACTERS = 24 << 10

/** Collects records that an import creates, one after the other, into one line. */
export class ImportedRecords {
  readonly #place: { readonly seq: number; readonly at: string }
  readonly #first: ImportedRecord
  #last: readonly Field[]
  #rows = ''
  #count = 0

  /** Begins a line with the fields of a record, which is added then. */
  constructor(place: { readonly seq: number; readonly at: string }, first: ImportedRecord) {
    this.#place = place
    this.#first = first
    this.#last = first.fields
  }

  get run(): string {
    return this.#first.run
  }

  /** Adds a record; returns false, and adds nothing, where it needs another line. */
  add(change: ImportedRecord): boolean {
    const { actor, run, file, fields, values } = change
    const first = this.#first
    if (this.#count >= MOST_RECORDS || this.#rows.length >= MOST_CHARACTERS) return false
    if (actor !== first.actor || run !== first.run || file !== first.file) return false
    if (fields !== this.#last) {
      const known = new Set(first.fields)
      if (!fields.every((field) => known.has(field))) return false
      this.#last = fields
    }
    const row = first.fields.map(({ name }) =>
      values !== null && Object.hasOwn(values, name) ? values[name] : null,
    )
    this.#rows += `${this.#count === 0 ? '[' : ','}${JSON.stringify(row)}`
    this.#count += 1
    return true
  }

  text(): ImportedRecordsText {
    const { actor, file, run, fields } = this.#first
    const start: Omit<ImportedRecordsLine, 'rows'> = {
      ...this.#place,
      actor,
      source: 'import',
      file,
      run_id: run,
      fields: fields.map(({ name }) => name),
      records: this.#count,
    }
    return { start: JSON.stringify(start), rows: `${this.#rows}]` }
  }
}

/** Returns the text of a line in the two parts in which it is appended to the log. */
export function linePartsOf({ start, rows }: ImportedRecordsText): LineText {
  return rows === null ? { start, end: '' } : { start: start.slice(0, -1) + ROWS, end: `${rows}}` }
}

/** Returns the parts of which {@link linePartsOf} makes a line. */
export function partsOf(text: string): ImportedRecordsText {
  // Within a string, quotes are escaped.
  const at = text.indexOf(`${ROWS}[`)
  if (at === -1 || !text.endsWith(']}')) return { start: text, rows: null }
  return { start: `${text.slice(0, at)}}`, rows: text.slice(at + ROWS.length, -1) }
}

const ROWS = ',"rows":'

/**
 * Returns a line of its own, as of a written record, for each record of an {@link ImportedRecordsLine}: all with the same seq. Any
 * other line is returned as it is.
 */
export function linesOfRecords(line: JsonObject): readonly JsonObject[] {
  const { fields, rows, records: _count, ...common } = line
  if (line['source'] !== 'import' || !isNames(fields) || !Array.isArray(rows)) return [line]
  return (rows as readonly JsonValue[]).flatMap((row) => {
    if (!Array.isArray(row)) return []
    const cells = fields.flatMap((name, index): [string, JsonValue][] => {
      const value = (row as readonly JsonValue[])[index] ?? null
      return value === null ? [] : [[name, value]]
    })
    const values = Object.fromEntries(cells)
    const previous = Object.fromEntries(cells.map(([name]) => [name, null]))
    return [{ ...common, record_id: values['id'] ?? null, values, previous }]
  })
}

/** Whether a line is an {@link ImportedRecordsLine}, by its members. */
export function hasRows(line: JsonObject): boolean {
  return line['source'] === 'import' && Array.isArray(line['rows'])
}

function isNames(value: JsonValue | undefined): value is readonly string[] & JsonValue {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}
