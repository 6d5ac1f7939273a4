import { own } from '../../contract/odcs/document-shape.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { DifferenceReport } from './difference-report.ts'
import type { AdoptedRecord, FolioRecord } from './adopt-folio-records.ts'
import type { FolioField } from './folio-field.ts'

const FILE = 'provenance.jsonl'

/** The source of the entries that folio wrote. */
export const FOLIO_SOURCE = 'folio'

/** The last line of a cell in the log of folio. */
export interface LastEntry {
  readonly line: number
  readonly entry: JsonObject
}

/** The log of folio. */
export interface FolioLog {
  /** The last line of each cell, by {@link cellKey}. */
  readonly last: ReadonlyMap<string, LastEntry>
  /** The lines of the new log, numbered from 1. */
  readonly lines: readonly JsonObject[]
}

/** Returns the key of a cell: the id of its record in the new sheet, and its field in the new sheet. */
export function cellKey(id: string, field: string): string {
  return JSON.stringify([id, field])
}

export interface LogRules {
  readonly records: readonly AdoptedRecord[]
  readonly fields: readonly FolioField[]
  /** The name of the primary key in folio. */
  readonly key: string
  /** The time of the adoption: later times are not taken, since new entries follow them. */
  readonly now: Date
  readonly report: DifferenceReport
}

/** The members that keep their names; others get the prefix `folio_`, so that they cannot be mistaken for those of the new log. */
const SAME: ReadonlySet<string> = new Set(['input_hash', 'model', 'cost_usd'])

function isSame(member: string, value: JsonValue): boolean {
  return SAME.has(member) && (member !== 'input_hash' || typeof value === 'string')
}

/** The members that are in others of the new line. */
const WRITTEN: ReadonlySet<string> = new Set(['record_id', 'field', 'actor', 'at'])

/**
 * Converts the log of folio. Its lines have no numbers and no values: the last line of a cell gets the value that the record has; `unknown` lists the members that are null because nobody knows them. What
 * folio calls the source is `folio_source`; all other members are kept.
 */
export function adoptFolioLog(entries: readonly FolioRecord[], rules: LogRules): FolioLog {
  const ids = new Map(rules.records.map(({ raw, id }) => [JSON.stringify(own(raw, rules.key)), id]))
  const values = new Map(rules.records.map(({ id, values: each }) => [id, each]))
  const names = new Map(rules.fields.map(({ folio, name }) => [folio, name]))
  const cells = entries.map(({ line, raw }) => {
    const id = ids.get(JSON.stringify(raw['record_id'] ?? null)) ?? null
    const name = names.get(textOf(raw['field'])) ?? null
    return { line, entry: raw, id, name, cell: id === null || name === null ? null : cellKey(id, name) }
  })
  const last = new Map<string, LastEntry>()
  for (const { line, entry, cell } of cells) if (cell !== null) last.set(cell, { line, entry })
  if (cells.length > 0) {
    const what =
      'lines are numbered, with the source folio; the last line of a cell has the value of its record, earlier ones none'
    rules.report.add('adapted', { file: FILE }, `${cells.length} ${what}`)
  }
  const lines = cells.map(({ line, entry, id, name, cell }, index) => {
    if (cell === null) {
      const what = 'an entry is of a record or field that the sheet does not have; it is in the log'
      rules.report.count(
        { action: 'kept', file: FILE, what },
        line,
        id === null ? entry['record_id'] : entry['field'],
      )
    }
    const isLast = cell !== null && last.get(cell)?.line === line
    const field = name ?? textOf(entry['field'])
    const at = timeOf(entry['at'] ?? null, line, rules)
    return {
      seq: index + 1,
      at,
      actor: textOf(entry['actor']),
      source: FOLIO_SOURCE,
      record_id: id ?? textOf(entry['record_id']),
      field,
      value: isLast && id !== null ? own(values.get(id) ?? {}, field) : null,
      previous: null,
      unknown: isLast ? ['previous'] : ['value', 'previous'],
      ...timeText(entry['at'] ?? null, at),
      ...Object.fromEntries(
        Object.entries(entry).flatMap(([member, value]) =>
          WRITTEN.has(member) ? [] : [[isSame(member, value) ? member : `folio_${member}`, value] as const],
        ),
      ),
    }
  })
  return { last, lines }
}

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/i

function timeOf(value: JsonValue, line: number, { now, report }: LogRules): string {
  const match = typeof value === 'string' ? TIME.exec(value) : null
  const given = match === null ? NaN : Date.parse(match[1] === undefined ? `${match[0]}Z` : match[0])
  const count = (what: string): void =>
    report.count({ action: 'adapted', file: FILE, what: `${what}; the text is in folio_at` }, line, value)
  if (Number.isNaN(given)) {
    count('a time is not one: that of the adoption is used')
    return now.toISOString()
  }
  if (given > now.getTime()) {
    count('a time is in the future: that of the adoption is used')
    return now.toISOString()
  }
  if (match?.[1] === undefined) count('a time without an offset is UTC')
  return new Date(given).toISOString()
}

/** Returns the member with the time as folio has it, if the time is another text; milliseconds are no difference. */
function timeText(value: JsonValue, at: string): JsonObject {
  const same = typeof value === 'string' && (value === at || value === at.replace('.000Z', 'Z'))
  return same ? {} : { folio_at: value }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

/** Whether the last entry of a cell says that a person wrote its value. */
export function isHumanOverride({ entry }: LastEntry): boolean {
  return entry['source'] === 'human_override'
}
