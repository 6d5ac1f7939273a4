import { matchesGlob } from '../../contract/values/glob.ts'
import type { CellWriter } from '../../store/stored-writer.ts'
import type { Sheet } from '../sheet.ts'
import { checkIds } from './check-ids.ts'

export interface WritersQuery {
  readonly ids: readonly string[]
  /** Only values that one of these has written; null for all. */
  readonly by: {
    /** Patterns of actors. */
    readonly actors: readonly string[]
    readonly runs: readonly string[]
  } | null
}

/** Returns the writers of the present values of some records. Throws ValidationError for no ids or too many. */
export async function readWriters(sheet: Sheet, { ids, by }: WritersQuery): Promise<readonly CellWriter[]> {
  checkIds(ids)
  const { store } = await sheet.current()
  const keys = await store.recordKeys(ids)
  const cells = await store.cellWriters(new Map([...keys].map(([id, key]) => [key, id])))
  if (by === null) return cells
  return cells.filter(
    ({ actor, run }) =>
      (run !== null && by.runs.includes(run)) || by.actors.some((pattern) => matchesGlob(pattern, actor)),
  )
}
