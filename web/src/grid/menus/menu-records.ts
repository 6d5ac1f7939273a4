import type { RecordAnswer } from '../../../../src/wire/records/records.ts'
import { readRecordsById } from '../../api/records-by-id.ts'
import { loadedRange, recordsOf, type CellContext } from '../interaction/cell-actions.ts'
import type { CellRange } from '../selection/cell-range.ts'

/** The records that a menu is about. */
export interface MenuRecords {
  readonly count: number
  /** The id if it is one record; null for several. */
  readonly id: string | null
  /** Whether a cell of them may have failed: false only if the states of all are loaded. */
  readonly mayHaveFailed: boolean
  ids(): Promise<readonly string[]>
  /** Reads the records in the order in which they are shown or were selected. Throws ApiError. */
  read(): Promise<readonly RecordAnswer[]>
}

/** Returns the records of a range of rows. */
export function recordsOfRange(context: CellContext, range: CellRange): MenuRecords {
  const count = range.bottom - range.top + 1
  const loaded = loadedRange(context.rows, range)?.map(({ id }) => String(id)) ?? null
  return {
    count,
    id: count === 1 ? (loaded?.[0] ?? null) : null,
    mayHaveFailed: loaded === null || loaded.some((id) => mayHaveFailed(context, id)),
    ids: async () => (await recordsOf(context, range)).map(({ id }) => String(id)),
    read: () => recordsOf(context, range),
  }
}

/** Returns the records with these ids, which may be out of the list. */
export function recordsWithIds(context: CellContext, ids: ReadonlySet<string>): MenuRecords {
  const [first] = ids
  return {
    count: ids.size,
    id: ids.size === 1 ? (first ?? null) : null,
    mayHaveFailed: [...ids].some((id) => mayHaveFailed(context, id)),
    ids: async () => [...ids],
    read: async () => {
      const found = await readRecordsById([...ids], null)
      const byId = new Map(found.map((record) => [String(record['id']), record]))
      return [...ids].map((id) => byId.get(id)).filter((record) => record !== undefined)
    },
  }
}

function mayHaveFailed({ rows }: CellContext, id: string): boolean {
  const states = rows.statesOf(id)
  return states === undefined || Object.values(states).includes('failed')
}
