import { readRecordsById } from '../../api/records-by-id.ts'
import { splitIds } from '../../api/split-ids.ts'
import { server } from '../../api/server.ts'
import type { Present } from './preview-text.ts'

/** The ways to choose the records of a preview. */
export type RowChoice = 'random' | 'first' | 'ticked' | 'states'

/** Records in a preview of the first or of random ones. */
export const ROWS = 5

/** Records whose cell states are read to find failed and overridden ones. */
const SEARCHED = 500
const MOST_FAILED = 3
const MOST_OVERRIDDEN = 2
const MOST_FRESH = 3

/** The most records that are ticked in the grid and computed. */
const MOST_TICKED = 50

/** Returns the ids of the records of a preview; null leaves the choice to the server. */
export async function rowsFor(
  choice: RowChoice,
  { targets, ticked }: { readonly targets: readonly string[]; readonly ticked: readonly string[] },
): Promise<readonly string[] | null> {
  if (choice === 'random') return null
  if (choice === 'ticked') return ticked.slice(0, MOST_TICKED)
  if (choice === 'first') return firstIds(ROWS)
  const ids = await firstIds(SEARCHED)
  const states: [id: string, states: ReadonlySet<string>][] = []
  for (const part of splitIds(ids)) {
    const found = await server.cells.states(part, targets)
    for (const id of part) {
      const cells: Readonly<Record<string, string>> = found[id] ?? {}
      states.push([id, new Set(Object.values(cells))])
    }
  }
  return chooseRows(states)
}

/** Returns failed records, overridden ones and fresh ones, in their order; others where there are too few. */
export function chooseRows(
  states: readonly (readonly [id: string, states: ReadonlySet<string>])[],
): readonly string[] {
  const having = (state: string, most: number): string[] =>
    states.flatMap(([id, own]) => (own.has(state) ? [id] : [])).slice(0, most)
  const chosen = new Set([
    ...having('failed', MOST_FAILED),
    ...having('overridden', MOST_OVERRIDDEN),
    ...having('fresh', MOST_FRESH),
  ])
  for (const [id] of states) if (chosen.size < ROWS) chosen.add(id)
  return [...chosen]
}

/** Returns the present values of records. */
export async function presentOf(
  ids: readonly string[],
  fields: readonly string[],
): Promise<ReadonlyMap<string, Present>> {
  const records = await readRecordsById(ids, fields)
  return new Map(records.map((record) => [String(record['id']), record]))
}

async function firstIds(limit: number): Promise<readonly string[]> {
  const { records } = await server.records.list({ fields: ['id'], limit })
  return records.map((record) => String(record['id']))
}
