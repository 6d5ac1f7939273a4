import { messageOf } from '../api/api-error.ts'
import type { CellRef } from '../state/view-state.ts'
import { cellKey, type Batch, type CellEdit, type Edit, type PendingEdit } from './edit.ts'
import { sameValue } from '../values/same-value.ts'
import { mayRetryAfter, nameOf, saveEdits, type EditServer, type SaveResult } from './save-edits.ts'
import * as stacks from './undo-stack.ts'
import type { Direction, DoneChange, DoneEdit, DoneRecords, UndoStack } from './undo-stack.ts'

/** The server connection and the callbacks for results. */
export interface EditPort extends EditServer {
  /** Deletes records, as far as they exist. Throws ApiError. */
  remove(ids: readonly string[]): Promise<void>
  /** Restores deleted records, all or none. Throws ApiError. */
  restore(ids: readonly string[]): Promise<void>

  /** Called with values that are known to be stored, so that the page can show them. */
  known(changes: readonly DoneChange[]): void
  /** Shows a message that belongs to no single cell. */
  showMessage(message: string): void
}

export interface EditSnapshot {
  readonly pending: ReadonlyMap<string, PendingEdit>
  readonly canUndo: boolean
  readonly canRedo: boolean
}

type Refusal = Extract<SaveResult, { readonly refused: string }>

/**
 * The edits of the page: in flight, refused, and undoable. Edits are written one after the other, in the order in
 * which they were made.
 */
export class EditStore {
  readonly #pending = new Map<string, Edit>()
  readonly #listeners = new Set<() => void>()
  #stack: UndoStack = stacks.EMPTY_STACK
  #lastOrder = 0
  #queue: Promise<void> = Promise.resolve()
  #snapshot: EditSnapshot = { pending: new Map(), canUndo: false, canRedo: false }

  get snapshot(): EditSnapshot {
    return this.#snapshot
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Writes cells. If one of them was refused before, the cells that were refused with it are written again too. */
  commit(changes: readonly CellEdit[], port: EditPort): Promise<void> {
    const batch = this.#newBatch()
    const wanted = new Map(changes.map((change) => [keyOf(change), change]))
    for (const key of this.#refusedWith(wanted.keys())) {
      const edit = this.#pending.get(key)
      this.#pending.delete(key)
      if (edit === undefined) continue
      const change = wanted.get(key)
      wanted.delete(key)
      this.#add(batch, { ...edit, value: change === undefined ? edit.value : change.value, after: null })
    }
    for (const [key, change] of wanted) {
      const before = this.#pending.get(key) ?? null
      if (sameValue(before === null ? change.previous : before.value, change.value)) continue
      this.#add(batch, { ...change, key, stored: change.previous, after: before })
    }
    return this.#save(batch, port)
  }

  /** Retries the edits that were refused together with a cell. */
  saveAgain(cell: CellRef, port: EditPort): Promise<void> {
    const edit = this.#pending.get(cellKey(cell))
    if (edit?.state !== 'refused') return Promise.resolve()
    return this.commit([{ ...edit, previous: edit.stored }], port)
  }

  /** Saves the edits again that were made while the server could not be reached, in their order. */
  async saveWaiting(port: EditPort): Promise<void> {
    const waiting = [...this.#pending.values()].filter(({ state, waits }) => state === 'refused' && waits)
    const batches = [...new Set(waiting.map(({ batch }) => batch))].toSorted((a, b) => a.order - b.order)
    for (const { edits } of batches) {
      const [first] = edits.filter((edit) => this.#pending.get(edit.key) === edit)
      if (first !== undefined) await this.commit([{ ...first, previous: first.stored }], port)
    }
  }

  /** Discards a refused edit and the edits refused together with it. */
  discard(cell: CellRef): void {
    for (const key of this.#refusedWith([cellKey(cell)])) this.#pending.delete(key)
    this.#changed()
  }

  /** Adds the creation or deletion of records, so that it can be undone. The edits of deleted records are discarded. */
  addRecords(records: DoneRecords): void {
    this.addStored({ changes: [], records })
  }

  /** Adds changes that are stored already, so that they can be undone. Returns the order of the edit. */
  addStored({ changes, records }: Omit<DoneEdit, 'order'>): number {
    if (records?.kind === 'deleted') this.#forget(records.ids)
    const { order } = this.#newBatch()
    this.#stack = stacks.withEdit(this.#stack, { order, changes, ...(records !== undefined && { records }) })
    this.#changed()
    return order
  }

  /** Undoes an edit, unless that has happened, whatever was edited later. */
  undoEdit(order: number, port: EditPort): Promise<void> {
    return this.#enqueue(async () => {
      const stack = stacks.withNext(this.#stack, order)
      const next = stack === null ? undefined : stacks.nextOf(stack, 'undo')
      if (stack === null || next === undefined) return
      this.#stack = stack
      await this.#perform('undo', next, port)
    })
  }

  /** Removes the deletion of these records, which was undone in another way. */
  removeDeletion(ids: readonly string[]): void {
    this.#stack = stacks.withoutDeletion(this.#stack, ids)
    this.#changed()
  }

  #forget(ids: readonly string[]): void {
    const gone = new Set(ids)
    for (const [key, edit] of this.#pending) {
      if (edit.state === 'refused' && gone.has(edit.recordId)) this.#pending.delete(key)
    }
    this.#stack = stacks.withoutRecords(this.#stack, gone)
  }

  /**
   * Undoes or redoes an edit by a normal write under the present actor, so it has its own provenance entries. Cells
   * that someone else has changed since are not overwritten. If the latest edit was refused, undo discards it.
   */
  move(direction: Direction, port: EditPort): Promise<void> {
    // Queued, because the last edit may still be in flight.
    return this.#enqueue(async () => {
      const next = stacks.nextOf(this.#stack, direction)
      const refused = direction === 'undo' ? this.#lastRefused() : null
      if (refused !== null && refused.batch.order > (next?.order ?? 0)) {
        this.discard({ recordId: refused.recordId, field: refused.field.name })
      } else if (next !== undefined) {
        await this.#perform(direction, next, port)
      }
    })
  }

  async #perform(direction: Direction, { changes, records }: DoneEdit, port: EditPort): Promise<void> {
    if (records !== undefined) return this.#performRecords(direction, records, port)
    const batch = this.#newBatch()
    for (const { recordId, field, before, after } of changes) {
      const [stored, value] = direction === 'undo' ? [after, before] : [before, after]
      this.#add(batch, { key: keyOf({ recordId, field }), recordId, field, value, stored, after: null })
    }
    this.#changed()
    const result = await saveEdits(batch.edits, port)
    this.#remove(batch)
    if ('saved' in result) {
      this.#stack = stacks.afterMove(this.#stack, direction)
      port.known(result.saved)
    } else {
      if (result.found.length > 0) port.known(result.found)
      if (!result.mayRetry) this.#stack = stacks.withoutNext(this.#stack, direction)
      port.showMessage(`Not ${direction === 'undo' ? 'undone' : 'redone'}: ${result.refused}`)
    }
    this.#changed()
  }

  async #performRecords(direction: Direction, { kind, ids }: DoneRecords, port: EditPort): Promise<void> {
    const isRemoval = (kind === 'created') === (direction === 'undo')
    try {
      await (isRemoval ? port.remove(ids) : port.restore(ids))
      this.#stack = stacks.afterMove(this.#stack, direction)
    } catch (error) {
      if (!mayRetryAfter(error)) this.#stack = stacks.withoutNext(this.#stack, direction)
      port.showMessage(`Not ${direction === 'undo' ? 'undone' : 'redone'}: ${messageOf(error)}`)
    }
    this.#changed()
  }

  #newBatch(): Batch {
    this.#lastOrder += 1
    return { order: this.#lastOrder, edits: [] }
  }

  #add(batch: Batch, edit: Omit<Edit, 'batch' | 'state' | 'message' | 'waits'>): void {
    const { key, recordId, field, value, stored, after } = edit
    const added: Edit = {
      key,
      recordId,
      field,
      value,
      stored,
      after,
      batch,
      state: 'saving',
      message: null,
      waits: false,
    }
    batch.edits.push(added)
    this.#pending.set(key, added)
  }

  #save(batch: Batch, port: EditPort): Promise<void> {
    this.#changed()
    if (batch.edits.length === 0) return Promise.resolve()
    return this.#enqueue(async () => {
      for (const edit of batch.edits) {
        if (edit.after !== null) edit.stored = edit.after.stored
      }
      const result = await saveEdits(batch.edits, port)
      if ('saved' in result) this.#accept(batch, result.saved, port)
      else this.#refuse(batch, result, port)
      this.#changed()
    })
  }

  #accept(batch: Batch, changes: readonly DoneChange[], port: EditPort): void {
    for (const edit of batch.edits) edit.stored = edit.value
    this.#remove(batch)
    const undoable = changes.filter(({ before, after: now }) => !sameValue(before, now))
    this.#stack = stacks.withEdit(this.#stack, { order: batch.order, changes: undoable })
    port.known(changes)
  }

  #refuse(batch: Batch, { refused, errors, waits, found }: Refusal, port: EditPort): void {
    if (found.length > 0) port.known(found)
    const because =
      errors.size === 0
        ? waits
          ? `${refused}. It is saved again when the server can be reached`
          : refused
        : `not saved, because another cell of the same change was refused: ${refused}`
    for (const edit of batch.edits) {
      edit.state = 'refused'
      edit.waits = waits
      edit.message = errors.get(edit) ?? because
    }
    const [only, ...others] = batch.edits
    if (others.length > 0) port.showMessage(`None of the ${batch.edits.length} cells were saved. ${refused}`)
    else if (only !== undefined && this.#pending.get(only.key) !== only) {
      // The cell already shows a later edit.
      port.showMessage(`${nameOf(only)} was not saved as ${String(only.value)}: ${only.message ?? ''}`)
    }
  }

  #remove({ edits }: Batch): void {
    for (const edit of edits) {
      if (this.#pending.get(edit.key) === edit) this.#pending.delete(edit.key)
    }
  }

  /** The keys of refused cells among these, and of the cells refused together with them. */
  #refusedWith(keys: Iterable<string>): ReadonlySet<string> {
    const found = new Set<string>()
    for (const key of keys) {
      const edit = this.#pending.get(key)
      if (edit?.state !== 'refused' || found.has(key)) continue
      for (const other of edit.batch.edits) {
        if (this.#pending.get(other.key) === other) found.add(other.key)
      }
    }
    return found
  }

  #lastRefused(): Edit | null {
    let last: Edit | null = null
    for (const edit of this.#pending.values()) {
      if (edit.state === 'refused' && (last === null || edit.batch.order > last.batch.order)) last = edit
    }
    return last
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(task)
    // An unexpected error in one edit must not block those that follow.
    this.#queue = done.catch(() => undefined)
    return done
  }

  #changed(): void {
    const pending = new Map<string, PendingEdit>()
    for (const [key, { value, state, message, batch }] of this.#pending) {
      pending.set(key, { value, state, message, together: batch.edits.length })
    }
    this.#snapshot = {
      pending,
      canUndo: this.#pending.size > 0 || this.#stack.done.length > 0,
      canRedo: this.#stack.undone.length > 0,
    }
    for (const listener of this.#listeners) listener()
  }
}

function keyOf({ recordId, field }: Pick<CellEdit, 'recordId' | 'field'>): string {
  return cellKey({ recordId, field: field.name })
}
