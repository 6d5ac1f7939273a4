import type { SheetContract } from '../../api/contract.ts'
import { readRecordsById } from '../../api/records-by-id.ts'
import { splitIds } from '../../api/split-ids.ts'
import { server } from '../../api/server.ts'
import { memberOf, readForm } from '../forms/form-text.ts'
import { namesOf } from '../forms/member-forms.ts'
import type { Present } from './preview-text.ts'
import { variedRows } from './vary-rows.ts'

/** The ways to choose the records of a preview. */
export type RowChoice = 'random' | 'first' | 'varied' | 'ticked' | 'sight' | 'states'

/** The rows of the grid that a preview can compute. */
export interface GridRows {
  /** The ids of the records that are ticked. */
  readonly ticked: readonly string[]
  /** The ids of those that one sees. */
  readonly inSight: readonly string[]
}

/** No grid beside the preview. */
export const NO_GRID: GridRows = { ticked: [], inSight: [] }

/** Records in a preview of the first or of random ones. */
export const ROWS = 5

/** Records in a preview of the first ones by a formula. */
const QUICK_ROWS = 25

/** Records whose cell states are read to find failed and overridden ones. */
const SEARCHED = 500
const MOST_FAILED = 3
const MOST_OVERRIDDEN = 2
const MOST_FRESH = 3

/** The most records that are ticked in the grid and computed. */
const MOST_TICKED = 50

interface RowOptions {
  readonly contract: SheetContract
  /** The text of the derivation. */
  readonly text: string
  /** The fields that it fills on the server. */
  readonly targets: readonly string[]
  readonly gridRows: GridRows
  /** Whether no record takes long, so that as many are computed as a screen shows. */
  readonly isQuick: boolean
  readonly signal: AbortSignal
}

/** Returns the ids of the records of a preview. */
export async function rowsFor(choice: RowChoice, options: RowOptions): Promise<readonly string[]> {
  const { contract, text, targets, gridRows, isQuick, signal } = options
  switch (choice) {
    case 'random':
      return randomIds(signal)
    case 'ticked':
      return gridRows.ticked.slice(0, MOST_TICKED)
    case 'sight':
      return gridRows.inSight
    case 'first':
      return firstIds(isQuick ? QUICK_ROWS : ROWS, signal)
    case 'varied': {
      const inputs = fieldsIn(text, contract)
      const { records } = await server.records.list(
        { fields: ['id', ...inputs], limit: SEARCHED },
        { signal },
      )
      return variedRows(records, inputs, ROWS)
    }
    case 'states':
      return chooseRows(await statesOf(await firstIds(SEARCHED, signal), targets, signal))
  }
}

/** Returns the stored fields that a text names, without those that it fills. */
export function fieldsIn(text: string, { fields }: Pick<SheetContract, 'fields'>): readonly string[] {
  const words = new Set(text.match(/\w+/g))
  const reading = readForm(text)
  const targets = 'members' in reading ? namesOf(memberOf(reading.members, 'targets')) : []
  return fields.flatMap(({ name }) =>
    name !== 'id' && words.has(name) && !targets.includes(name) ? [name] : [],
  )
}

type RecordStates = readonly [id: string, states: ReadonlySet<string>]

async function statesOf(
  ids: readonly string[],
  targets: readonly string[],
  signal: AbortSignal,
): Promise<readonly RecordStates[]> {
  const states: RecordStates[] = []
  for (const part of splitIds(ids)) {
    const found = await server.cells.states(part, targets, { signal })
    for (const id of part) {
      const cells: Readonly<Record<string, string>> = found[id] ?? {}
      states.push([id, new Set(Object.values(cells))])
    }
  }
  return states
}

/** Returns failed records, overridden ones and fresh ones, in their order; others where there are too few. */
export function chooseRows(states: readonly RecordStates[]): readonly string[] {
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
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Present>> {
  const records = await readRecordsById(ids, fields, signal)
  return new Map(records.map((record) => [String(record['id']), record]))
}

async function firstIds(limit: number, signal: AbortSignal): Promise<readonly string[]> {
  const { records } = await server.records.list({ fields: ['id'], limit }, { signal })
  return records.map((record) => String(record['id']))
}

async function randomIds(signal: AbortSignal): Promise<readonly string[]> {
  const { count } = await server.records.summary({}, { signal })
  const found = await Promise.all(
    randomPlaces(count, ROWS, Math.random).map((position) =>
      server.records.list({ fields: ['id'], limit: 1, position }, { signal }),
    ),
  )
  return found.flatMap(({ records }) => records.map((record) => String(record['id'])))
}

/** Returns different places below `count`, as many as `wanted` or all; `random` returns numbers from 0 to 1, exclusive. */
export function randomPlaces(count: number, wanted: number, random: () => number): readonly number[] {
  const places: number[] = []
  // Each of the remaining places is as likely as the others (Floyd's algorithm for samples).
  for (let last = Math.max(0, count - wanted); last < count; last += 1) {
    const place = Math.floor(random() * (last + 1))
    places.push(places.includes(place) ? last : place)
  }
  return places
}
