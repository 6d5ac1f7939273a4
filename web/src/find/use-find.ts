import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import type { SheetField } from '../api/contract.ts'
import { countQuery, recordQuery, type RecordSelection } from '../api/queries.ts'
import type { CellRef } from '../state/view-state.ts'
import { showError } from '../ui/toasts.tsx'
import { useSettled } from '../ui/use-settled.ts'
import { fieldsWith } from './find-text.ts'
import { filterOf, matchAt, matchesBefore, matchesQuery, type Matches } from './match-queries.ts'

/** The milliseconds without typing after which the text is searched. */
const TYPING_MS = 250

/** The grid, as finding needs it. */
export interface FindPlace {
  readonly list: RecordSelection
  /** The shown fields in their order. */
  readonly fields: readonly SheetField[]
  /** The selected cell. */
  readonly cell: CellRef | null
  /** Selects a cell and scrolls there. */
  readonly reveal: (cell: CellRef) => void
}

/** A match by its position among the matching records. */
interface Found {
  readonly index: number
  readonly cell: CellRef
}

export interface Find {
  /** The number of matching records; null until counted. */
  readonly count: number | null
  /** The position of the selected match among the matching records, from 0; null if none is selected. */
  readonly index: number | null
  readonly isSearching: boolean
  readonly error: Error | null
  next(back: boolean): void
}

/** Finds a text in the records of a list, and moves from match to match. */
export function useFind(text: string, place: FindPlace): Find {
  const client = useQueryClient()
  const { list, cell } = place
  const settled = useSettled(text, TYPING_MS)
  const fields = place.fields.map(({ name }) => name)
  const matches: Matches = { list, fields, text: settled }
  const isOn = settled !== ''
  const first = useQuery({ ...matchesQuery(matches, 0), enabled: isOn })
  const hasMore = isOn && first.data?.hasMore === true
  const counted = useQuery({ ...countQuery(hasMore ? filterOf(matches) : null), enabled: hasMore })
  const count =
    !isOn || first.data === undefined ? null : hasMore ? (counted.data ?? null) : first.data.ids.length
  const [found, setFound] = useState<Found | null>(null)
  const [isMoving, setIsMoving] = useState(false)
  const isAtMatch = found !== null && found.cell.recordId === cell?.recordId

  /** Selects the match at a position: its first cell with the text, or the last. */
  const select = async (index: number, back: boolean): Promise<void> => {
    const recordId = await matchAt(client, matches, index)
    if (recordId === null) return
    const record = await client.fetchQuery(recordQuery(recordId))
    const cells = fieldsWith(place.fields, record, settled)
    const field = (back ? cells.at(-1) : cells[0]) ?? place.fields[0]
    if (field === undefined) return
    const at = { recordId, field: field.name }
    setFound({ index, cell: at })
    place.reveal(at)
  }
  const move = async (back: boolean): Promise<void> => {
    if (cell !== null && isAtMatch) {
      const record = await client.fetchQuery(recordQuery(cell.recordId))
      const beside = fieldBeside(fieldsWith(place.fields, record, settled), place.fields, cell.field, back)
      if (beside !== null) {
        const at = { recordId: cell.recordId, field: beside.name }
        setFound({ index: found.index, cell: at })
        place.reveal(at)
        return
      }
    }
    const before = isAtMatch ? found.index : cell === null ? 0 : await matchesBefore(matches, cell.recordId)
    const isBefore = isAtMatch && !back
    await select(around(before + (isBefore ? 1 : back ? -1 : 0), await countOf()), back)
  }
  const countOf = async (): Promise<number> => {
    if (count !== null) return count
    return client.fetchQuery(countQuery(filterOf(matches)))
  }
  const start = async (): Promise<void> => {
    setFound(null)
    const before = cell === null ? 0 : await matchesBefore(matches, cell.recordId)
    await select(first.data?.hasMore === true ? before : around(before, first.data?.ids.length ?? 0), false)
  }
  const moving = (work: () => Promise<void>): void => {
    setIsMoving(true)
    work()
      .catch(showError)
      .finally(() => setIsMoving(false))
  }
  const begin = useEffectEvent(() => moving(start))
  const isFound = first.data !== undefined && first.data.ids.length > 0
  useEffect(() => {
    if (isOn && isFound) begin()
  }, [settled, isOn, isFound])
  return {
    count,
    index: isAtMatch ? found.index : null,
    isSearching: isMoving || (isOn && first.data === undefined && first.error === null) || text !== settled,
    error: isOn ? (first.error ?? counted.error) : null,
    next: (back) => {
      if (isFound && !isMoving && text === settled) moving(() => move(back))
    },
  }
}

/** Returns the position within the matches, after the last again from the first. */
function around(index: number, count: number): number {
  return count === 0 ? 0 : ((index % count) + count) % count
}

/** Returns the next of some fields beside the selected one in the order of all; null if there is none. */
function fieldBeside(
  some: readonly SheetField[],
  all: readonly SheetField[],
  selected: string,
  back: boolean,
): SheetField | null {
  const from = all.findIndex(({ name }) => name === selected)
  const beside = some.filter((field) => (back ? all.indexOf(field) < from : all.indexOf(field) > from))
  return (back ? beside.at(-1) : beside[0]) ?? null
}
