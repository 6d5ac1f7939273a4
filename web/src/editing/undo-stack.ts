import type { SheetField } from '../api/contract.ts'

/** A written cell with its previous and its new value. */
export interface DoneChange {
  readonly recordId: string
  readonly field: SheetField
  readonly before: unknown
  readonly after: unknown
}

/** Records that were created or deleted. */
export interface DoneRecords {
  readonly kind: 'created' | 'deleted'
  readonly ids: readonly string[]
}

/** Changes that are undone together: of cells, or of records. */
export interface DoneEdit {
  /** Increases with every edit of the page. */
  readonly order: number
  readonly changes: readonly DoneChange[]
  readonly records?: DoneRecords
}

/** The edits that can be undone and redone, the latest last. */
export interface UndoStack {
  readonly done: readonly DoneEdit[]
  readonly undone: readonly DoneEdit[]
}

export const EMPTY_STACK: UndoStack = { done: [], undone: [] }

/** The maximum number of edits to undo. */
const DEPTH = 200

/** Adds an edit and clears the redo list. */
export function withEdit({ done }: UndoStack, edit: DoneEdit): UndoStack {
  return isEmpty(edit) ? { done, undone: [] } : { done: [...done, edit].slice(-DEPTH), undone: [] }
}

function isEmpty({ changes, records }: DoneEdit): boolean {
  return changes.length === 0 && records === undefined
}

export type Direction = 'undo' | 'redo'

/** Returns the next edit to undo or redo. */
export function nextOf(stack: UndoStack, direction: Direction): DoneEdit | undefined {
  return (direction === 'undo' ? stack.done : stack.undone).at(-1)
}

/** Makes an edit the next to undo; null where it cannot be undone any more. */
export function withNext({ done, undone }: UndoStack, order: number): UndoStack | null {
  const next = done.find((edit) => edit.order === order)
  return next === undefined ? null : { done: [...done.filter((edit) => edit !== next), next], undone }
}

/** Moves the next edit to the other list. */
export function afterMove({ done, undone }: UndoStack, direction: Direction): UndoStack {
  const [from, to] = direction === 'undo' ? [done, undone] : [undone, done]
  const moved = from.at(-1)
  if (moved === undefined) return { done, undone }
  const [rest, grown] = [from.slice(0, -1), [...to, moved]]
  return direction === 'undo' ? { done: rest, undone: grown } : { done: grown, undone: rest }
}

/** Removes the next edit, which can no longer be undone or redone. */
export function withoutNext({ done, undone }: UndoStack, direction: Direction): UndoStack {
  return direction === 'undo' ? { done: done.slice(0, -1), undone } : { done, undone: undone.slice(0, -1) }
}

/** Removes the deletion of these records, which was undone in another way. */
export function withoutDeletion({ done, undone }: UndoStack, ids: readonly string[]): UndoStack {
  const isOther = ({ records }: DoneEdit): boolean => records?.ids !== ids
  return { done: done.filter(isOther), undone: undone.filter(isOther) }
}

/** Removes the changes of deleted records. */
export function withoutRecords({ done, undone }: UndoStack, ids: ReadonlySet<string>): UndoStack {
  const kept = (edits: readonly DoneEdit[]): readonly DoneEdit[] =>
    edits
      .map((edit) => ({ ...edit, changes: edit.changes.filter(({ recordId }) => !ids.has(recordId)) }))
      .filter((edit) => !isEmpty(edit))
  return { done: kept(done), undone: kept(undone) }
}
