import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isSearched } from '../../api/queries.ts'
import type { CellEdit, Editing } from '../../editing/use-editing.ts'
import { holdList, releaseList } from '../../live/held-list.ts'
import type { ViewState } from '../../state/view-state.ts'
import { parseSort } from '../../state/sort-order.ts'
import type { Rows } from './use-rows.ts'

/**
 * Returns the editing operations, which keep the records in their places while values are edited that decide on their
 * places. Another filter or sort order, and leaving the grid, show the records where they belong.
 */
export function useHeldEdits(editing: Editing, view: ViewState, { selection }: Rows): Editing {
  const client = useQueryClient()
  useEffect(() => () => releaseList(client), [client, selection])
  if (!isSearched(selection)) return editing
  const hold = (): void => holdList(selection)
  return {
    ...editing,
    commit: (changes) => {
      if (decidesOnPlaces(view, changes)) hold()
      return editing.commit(changes)
    },
    saveAgain: (cell) => {
      hold()
      editing.saveAgain(cell)
    },
    undo: () => {
      hold()
      editing.undo()
    },
    redo: () => {
      hold()
      editing.redo()
    },
  }
}

/** Whether changes may move records in the list, or out of it. An SQL filter may use any field. */
export function decidesOnPlaces(
  { conditions, sort, sql }: Pick<ViewState, 'conditions' | 'sort' | 'sql'>,
  changes: readonly Pick<CellEdit, 'field'>[],
): boolean {
  if (sql !== null) return true
  const used = new Set([
    ...conditions.map(({ field }) => field),
    ...parseSort(sort).map(({ field }) => field),
  ])
  return changes.some(({ field }) => used.has(field.name))
}
