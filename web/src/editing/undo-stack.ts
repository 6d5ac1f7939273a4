import type { SheetField } from '../api/contract.ts'

/** A cell that was written, with what it had before and has since. */
export interface DoneChange {
  readonly recordId: string
  readonly field: SheetField
  readonly before: unknown
  readonly after: unknown
}

/** What was written at once, and is undone at once. */
export interface DoneEdit {
  /** Counts up with every edit of the page. */
  readonly order: number
  readonly changes: readonly DoneChange[]
}

/** The edits that can be undone and redone, the latest last. */
export interface UndoStack {
  readonly done: readonly DoneEdit[]
  readonly undone: readonly DoneEdit[]
}

export const EMPTY_STACK: UndoStack = { done: [], undone: [] }

/** How far back can be gone. */
const DEPTH = 200

/** A new edit: what was undone before can no longer be redone. */
export function withEdit({ done }: UndoStack, edit: DoneEdit): UndoStack {
  return edit.changes.length === 0
    ? { done, undone: [] }
    : { done: [...done, edit].slice(-DEPTH), undone: [] }
}

export type Direction = 'undo' | 'redo'

/** What comes next in a direction. */
export function nextOf(stack: UndoStack, direction: Direction): DoneEdit | undefined {
  return (direction === 'undo' ? stack.done : stack.undone).at(-1)
}

/** After the next edit has been undone or redone. */
export function afterMove({ done, undone }: UndoStack, direction: Direction): UndoStack {
  const [from, to] = direction === 'undo' ? [done, undone] : [undone, done]
  const moved = from.at(-1)
  if (moved === undefined) return { done, undone }
  const [rest, grown] = [from.slice(0, -1), [...to, moved]]
  return direction === 'undo' ? { done: rest, undone: grown } : { done: grown, undone: rest }
}

/** Without the next edit, which can never be undone or redone any more. */
export function withoutNext({ done, undone }: UndoStack, direction: Direction): UndoStack {
  return direction === 'undo' ? { done: done.slice(0, -1), undone } : { done, undone: undone.slice(0, -1) }
}

/** Without the changes of records that are gone. */
export function withoutRecords({ done, undone }: UndoStack, ids: ReadonlySet<string>): UndoStack {
  const kept = (edits: readonly DoneEdit[]): readonly DoneEdit[] =>
    edits
      .map(({ order, changes }) => ({ order, changes: changes.filter(({ recordId }) => !ids.has(recordId)) }))
      .filter(({ changes }) => changes.length > 0)
  return { done: kept(done), undone: kept(undone) }
}
