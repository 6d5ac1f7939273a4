import type { RecordKey } from '../../cell-work.ts'
import type { RecordChange } from '../../../provenance/log-line.ts'
import { runNumber } from '../../rows/stored-rows.ts'

/** The values of a record that a line of the log has written. */
export interface WrittenValues {
  readonly record: RecordKey
  readonly actor: string
  /** The number of its run; null for none. */
  readonly run: number | null
  /** The fields that have a value since, and those that have none; null for a deleted record. */
  readonly fields: { readonly filled: readonly string[]; readonly emptied: readonly string[] } | null
  /** Whether the record is new, so that its values had no writers. */
  readonly isNew: boolean
}

/** Returns the values that the line of a record's change writes. */
export function writtenByRecord(change: RecordChange, record: RecordKey): WrittenValues {
  const { actor, fields, values } = change
  const run = typeof change.run === 'string' ? runNumber(change.run) : null
  if (values === null) return { record, actor, run, fields: null, isNew: false }
  const [filled, emptied]: [string[], string[]] = [[], []]
  for (const { name } of fields) {
    const isFilled = Object.hasOwn(values, name) && values[name] !== null
    ;(isFilled ? filled : emptied).push(name)
  }
  return { record, actor, run, fields: { filled, emptied }, isNew: change.previous === null }
}

/** Returns the value that the line of a cell writes. */
export function writtenByCell(
  line: {
    readonly actor: string
    readonly run_id?: unknown
    readonly field: string
    readonly value: unknown
  },
  record: RecordKey,
): WrittenValues {
  const { actor, field, value } = line
  const fields = value === null ? { filled: [], emptied: [field] } : { filled: [field], emptied: [] }
  return { record, actor, run: runNumber(line.run_id), fields, isNew: false }
}
