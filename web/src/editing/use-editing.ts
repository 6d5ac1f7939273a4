import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useSyncExternalStore } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { permissionsQuery } from '../api/queries.ts'
import { useActor } from '../state/actor.ts'
import type { CellRef } from '../state/view-state.ts'
import { cellKey, type CellEdit, type PendingEdit } from './edit.ts'
import { editPort } from './edit-port.ts'
import { EditStore } from './edit-store.ts'
import { parsePaste, planPaste, type PastePlace, type PastePlan } from './paste.ts'
import { writeTsv } from '../values/tsv.ts'
import { copyText } from '../values/value-text.ts'

export type { CellEdit, PendingEdit } from './edit.ts'

export interface CellValue {
  readonly field: SheetField
  readonly value: unknown
}

export interface Editing {
  /** Whether the actor may write the field by hand (GET /api/permissions). */
  mayWrite(field: SheetField): boolean
  readonly mayDelete: boolean
  /** What a cell shows instead of what was read: an edit on its way, or one that was refused. Undefined for most. */
  pending(cell: CellRef): PendingEdit | undefined
  /** Writes cells, all or nothing for each call; the values are optimistic until the server has answered. */
  commit(changes: readonly CellEdit[]): Promise<void>
  /** Takes back a refused edit, and what was refused together with it. */
  discard(cell: CellRef): void
  /** Tries a refused edit again; what somebody else has written meanwhile is then overwritten. */
  saveAgain(cell: CellRef): void
  readonly canUndo: boolean
  readonly canRedo: boolean
  undo(): void
  redo(): void
  /** The selected cells as tab-separated text (as spreadsheets have it). */
  copy(cells: readonly (readonly CellValue[])[]): string
  /** The rectangle of values that a pasted text means for these fields. Throws PasteError: why it cannot be pasted. */
  parsePaste(text: string, fields: readonly SheetField[]): readonly (readonly unknown[])[]
  /** What pasting a text at a selection writes, and how many lines have no place. Throws PasteError. */
  planPaste(text: string, place: PastePlace): PastePlan
}

/** Of this tab, whatever of it is shown: leaving the grid loses nothing. */
const store = new EditStore()

/** Forgets the edits of records that were deleted. */
export function forgetRecords(ids: readonly string[]): void {
  store.forgetRecords(ids)
}

/** The edits of the grid: what is being saved, what was refused, and what can be undone. One for the page. */
export function useEditing(_contract: SheetContract): Editing {
  const client = useQueryClient()
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const { pending, canUndo, canRedo } = useSyncExternalStore(store.subscribe, () => store.snapshot)
  return useMemo(() => {
    const port = editPort(client, actor)
    const writable = new Set(permissions?.write)
    return {
      // An id never changes: writing another would create another record.
      mayWrite: ({ name, primaryKey }) => !primaryKey && writable.has(name),
      mayDelete: permissions?.delete === true,
      pending: (cell) => (pending.size === 0 ? undefined : pending.get(cellKey(cell))),
      commit: (changes) =>
        store.commit(
          changes.filter(({ field }) => !field.primaryKey),
          port,
        ),
      discard: (cell) => store.discard(cell),
      saveAgain: (cell) => void store.saveAgain(cell, port),
      canUndo,
      canRedo,
      undo: () => void store.move('undo', port),
      redo: () => void store.move('redo', port),
      copy: (cells) => writeTsv(cells.map((row) => row.map(({ value }) => copyText(value)))),
      parsePaste,
      planPaste,
    }
  }, [client, actor, permissions, pending, canUndo, canRedo])
}
