import type { RecordKey } from '../../cell-work.ts'
import type { Query } from '../../rows/query.ts'
import {
  FIELDS_OF_PART,
  GIVEN_AT_ONCE,
  hasField,
  LATEST_RUN,
  NUMBERED_FIELDS,
  WRITING_ACTORS,
  writtenRows,
  type GivenRows,
  type WrittenRow,
} from '../../rows/written-values.ts'
import type { CellWriter, WriterCounts } from '../../stored-writer.ts'
import { load, type Loaded, type Steps } from '../steps.ts'

type Read = <T>(query: Query<T>) => Loaded<T>

/** Counts the cells by the writers of their present values. */
export function* readWriterCounts(read: Read): Steps<WriterCounts> {
  return { actors: yield* load(read(WRITING_ACTORS)), latestRun: yield* load(read(LATEST_RUN)) }
}

/** Returns the writers of the present values of records, whose ids are given by their keys. */
export function* readCellWriters(
  read: Read,
  ids: ReadonlyMap<RecordKey, string>,
  given: GivenRows,
): Steps<readonly CellWriter[]> {
  const fields = yield* load(read(NUMBERED_FIELDS))
  const rows: WrittenRow[] = []
  for (let keys = [...ids.keys()]; keys.length > 0; keys = keys.slice(GIVEN_AT_ONCE))
    rows.push(...(yield* load(read(writtenRows(keys.slice(0, GIVEN_AT_ONCE), given)))))
  return rows.flatMap(({ record, part, fields: bits, actor, run }) =>
    fields.flatMap(({ number, field }) => {
      const isInPart = Math.floor(number / FIELDS_OF_PART) === part
      if (field === null || !isInPart || !hasField(bits, number % FIELDS_OF_PART)) return []
      const recordId = ids.get(record) ?? ''
      return [{ recordId, field, actor, run: run === null ? null : String(run) }]
    }),
  )
}
