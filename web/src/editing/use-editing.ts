import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { permissionsQuery } from '../api/queries.ts'
import { useIsLost } from '../live/connection.ts'
import { useActor } from '../state/actor.ts'
import { PAST_REASON, useAsOf } from '../state/as-of.ts'
import { showError } from '../ui/toasts.tsx'
import type { CellRef } from '../state/view-state.ts'
import { cellKey, type CellEdit, type PendingEdit } from './edit.ts'
import { editPort } from './edit-port.ts'
import { EditStore } from './edit-store.ts'
import { createRecords, type NewRecord } from './create-records.ts'
import { planPaste, type PastePlace, type PastePlan } from './paste.ts'
import { keepPage } from '../ui/unsaved.tsx'
import type { DoneEdit, DoneRecords } from './undo-stack.ts'
import { writeTsv } from '../values/tsv.ts'
import { copyText } from '../values/value-text.ts'

export type { CellEdit, PendingEdit } from './edit.ts'

export interface CellValue {
  readonly field: SheetField
  readonly value: unknown
}

export interface Editing {
  /** Whether the actor may write the field (GET /api/permissions). */
  mayWrite(field: SheetField): boolean
  readonly mayDelete: boolean
  /** The reason why nothing may be edited; null where the contract decides. */
  readonly refusal: string | null
  /** Returns the edit of a cell that is in flight or refused. */
  pending(cell: CellRef): PendingEdit | undefined
  /** Writes cells atomically; their new values are shown before the server responds. */
  commit(changes: readonly CellEdit[]): Promise<void>
  /** Discards a refused edit and the edits refused together with it. */
  discard(cell: CellRef): void
  /** Retries a refused edit, overwriting a value that someone else wrote in the meantime. */
  saveAgain(cell: CellRef): void
  readonly canUndo: boolean
  readonly canRedo: boolean
  undo(): void
  redo(): void
  /** Formats the selected cells as tab-separated text. */
  copy(cells: readonly (readonly CellValue[])[]): string
  /** Plans a paste at a selection. Throws PasteError. */
  planPaste(text: string, place: Omit<PastePlace, 'mayWrite'>): PastePlan
  /** Creates records; those without an id get one. Returns the ids. Throws an error if one of them exists. */
  create(records: readonly NewRecord[]): Promise<readonly string[]>
}

/** One per tab, so that leaving the grid loses no edits. */
const store = new EditStore()

// The browser asks before it leaves the page while edits are not saved.
store.subscribe(() => {
  if (store.snapshot.pending.size > 0) addEventListener('beforeunload', keepPage)
  else removeEventListener('beforeunload', keepPage)
})

/** Adds the creation or deletion of records, so that Ctrl+Z undoes it. The edits of deleted records are discarded. */
export function addToUndo(records: DoneRecords): void {
  store.addRecords(records)
}

/** Changes of cells or records that are stored. */
export type StoredEdit = Omit<DoneEdit, 'order'>

/** Adds changes that were stored in another way than by an editor, so that Ctrl+Z undoes them; returns their places in {@link undoStored}. */
export function addStored(edits: readonly StoredEdit[]): readonly number[] {
  return edits.map((edit) => store.addStored(edit))
}

/** Undoes changes that {@link addStored} has added, and nothing else. Shows what cannot be undone. */
export function undoStored(client: QueryClient, orders: readonly number[], actor: string): void {
  const port = editPort(client, actor)
  for (const order of orders) void store.undoEdit(order, port)
}

/** Removes the deletion of these records from what Ctrl+Z undoes, after it was undone in another way. */
export function removeFromUndo(ids: readonly string[]): void {
  store.removeDeletion(ids)
}

/** Returns the editing operations of the grid under the present actor. */
export function useEditing({ fault }: SheetContract): Editing {
  const client = useQueryClient()
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const { pending, canUndo, canRedo } = useSyncExternalStore(store.subscribe, () => store.snapshot)
  const port = useMemo(() => editPort(client, actor), [client, actor])
  const isPast = useAsOf() !== null
  const isLost = useIsLost()
  useEffect(() => {
    if (!isLost) void store.saveWaiting(port)
  }, [isLost, port])
  return useMemo(() => {
    if (isPast) return readOnly(PAST_REASON)
    // The service refuses writes until the file is valid.
    if (fault !== null) return readOnly(fault.message)
    const writable = new Set(permissions?.write)
    // An id cannot change: writing another would create another record.
    const mayWrite = ({ name, primaryKey }: SheetField): boolean => !primaryKey && writable.has(name)
    return {
      mayWrite,
      mayDelete: permissions?.delete === true,
      refusal: null,
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
      copy: copyCells,
      planPaste: (text, place) => planPaste(text, { ...place, mayWrite }),
      create: async (records) => {
        const ids = await createRecords(client, records, actor)
        store.addRecords({ kind: 'created', ids })
        return ids
      },
    }
  }, [client, actor, port, permissions, pending, canUndo, canRedo, fault, isPast])
}

function copyCells(cells: readonly (readonly CellValue[])[]): string {
  return writeTsv(cells.map((row) => row.map(({ value }) => copyText(value))))
}

/** Returns editing operations that refuse every change with a reason. */
function readOnly(reason: string): Editing {
  const refuse = async (): Promise<never> => {
    throw new Error(reason)
  }
  const showReason = (): void => showError(new Error(reason))
  return {
    mayWrite: () => false,
    mayDelete: false,
    refusal: reason,
    pending: () => undefined,
    commit: refuse,
    discard: () => undefined,
    saveAgain: showReason,
    canUndo: false,
    canRedo: false,
    undo: showReason,
    redo: showReason,
    copy: copyCells,
    planPaste: () => {
      throw new Error(reason)
    },
    create: refuse,
  }
}
