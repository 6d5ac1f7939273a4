import { isJsonObject, type JsonObject } from '../../contract/json/json.ts'
import { linesOfRecords } from '../../provenance/imported-records.ts'
import { presentLine, presentRef, type FieldLineages } from './field-lineage.ts'
import type { RunEntry } from '../sheet-store.ts'

/**
 * Returns the entries of a line that a run wrote, under the present names of fields: those of its cells, or those of its records, of which
 * `record` is the key of the first.
 */
export function entriesOfLine(
  lineages: FieldLineages,
  line: JsonObject,
  record: number,
): readonly RunEntry[] {
  return linesOfRecords(line).flatMap((each, index) => entriesOfRecord(lineages, each, record + index))
}

function entriesOfRecord(lineages: FieldLineages, line: JsonObject, record: number): readonly RunEntry[] {
  const seq = Number(line['seq'])
  const recordId = line['record_id'] as string
  const { field, source } = line
  if (typeof field === 'string') return [presentRef(lineages, { seq, recordId, field })]
  if (source === 'delete') return [{ seq, recordId, field: null, values: null }]
  const { values } = presentLine(lineages, line)
  if (!isJsonObject(values)) return []
  // Only the line of a new record has its id.
  if (typeof values['id'] === 'string') return [{ seq, recordId, field: null, key: record, values }]
  return Object.keys(values).map((name) => ({ seq, recordId, field: name }))
}

/** Returns the entries of lines, the last first: all of a line, and no further line once there are enough. */
export function enoughEntries(lines: Iterable<readonly RunEntry[]>, enough: number): RunEntry[] {
  const entries: RunEntry[] = []
  for (const some of lines) {
    entries.push(...some)
    if (entries.length >= enough) break
  }
  return entries
}
