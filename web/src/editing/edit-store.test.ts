import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { ApiError } from '../api/api-error.ts'
import type { RecordPatch } from '../../../src/client/client.ts'
import { cellKey, type CellEdit, type PendingEdit } from './edit.ts'
import { EditStore, type EditPort } from './edit-store.ts'
import type { Reading } from './save-edits.ts'
import { testField } from '../api/test-field.ts'
import type { DoneChange } from './undo-stack.ts'

const AREA = testField({ name: 'area', type: 'number' })
const NAME = testField({ name: 'name' })

/** A server of two records, which refuses negative areas. */
function refusal(violations: ApiError['violations']): ApiError {
  return new ApiError(400, 'ValidationError', 'refused', { violations })
}

class FakeServer implements EditPort {
  records = new Map<string, Record<string, unknown>>()
  deleted = new Map<string, Record<string, unknown>>()
  version = 1
  writes: { readonly records: readonly RecordPatch[]; readonly tag: string | null }[] = []
  messages: string[] = []
  stored: DoneChange[] = []
  /** Runs before a write, once. */
  meanwhile: (() => void) | null = null

  read(ids: readonly string[]): Promise<Reading> {
    const found = ids.flatMap((id) => {
      const record = this.records.get(id)
      return record === undefined ? [] : [[id, { ...record }] as const]
    })
    return Promise.resolve({ records: new Map(found), tag: ids.length === 1 ? `"${this.version}"` : null })
  }

  write(records: readonly RecordPatch[], tag: string | null): Promise<void> {
    this.meanwhile?.()
    this.meanwhile = null
    if (tag !== null && tag !== `"${this.version}"`) {
      return Promise.reject(new ApiError(412, 'OperationError', 'another version'))
    }
    const violations = records.flatMap(({ area }, index) =>
      typeof area === 'number' && area < 0 ? [{ index, field: 'area', message: `${area} is too low` }] : [],
    )
    if (violations.length > 0) return Promise.reject(refusal(violations))
    this.writes.push({ records, tag })
    for (const record of records) this.set(record.id, record)
    return Promise.resolve()
  }

  set(id: string, values: Readonly<Record<string, unknown>>): void {
    this.version += 1
    this.records.set(id, { ...this.records.get(id), ...values })
  }

  remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const record = this.records.get(id)
      if (record !== undefined) this.deleted.set(id, record)
      this.records.delete(id)
    }
    return Promise.resolve()
  }

  restore(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (this.records.has(id)) {
        return Promise.reject(new ApiError(409, 'ConflictError', `record "${id}" exists`))
      }
      this.set(id, this.deleted.get(id) ?? {})
    }
    return Promise.resolve()
  }

  known(changes: readonly DoneChange[]): void {
    this.stored.push(...changes)
  }

  showMessage(message: string): void {
    this.messages.push(message)
  }
}

let server: FakeServer
let store: EditStore

beforeEach(() => {
  server = new FakeServer()
  server.set('DE', { id: 'DE', area: 1, name: 'Germany' })
  server.set('FR', { id: 'FR', area: 2, name: null })
  store = new EditStore()
})

function change(recordId: string, value: unknown, previous: unknown, field = AREA): CellEdit {
  return { recordId, field, value, previous }
}

function pending(recordId: string, field = 'area'): PendingEdit | undefined {
  return store.snapshot.pending.get(cellKey({ recordId, field }))
}

function areas(): unknown[] {
  return [...server.records.values()].map(({ area }) => area)
}

test('an edit is shown at once, written for the version that was read, and then read again', async () => {
  const done = store.commit([change('DE', 5, 1)], server)
  assert.deepEqual(pending('DE'), { value: 5, state: 'saving', message: null, together: 1 })
  await done
  assert.equal(pending('DE'), undefined)
  assert.deepEqual(areas(), [5, 2])
  assert.equal(server.writes[0]?.tag, '"3"')
  assert.deepEqual(server.stored, [{ recordId: 'DE', field: AREA, before: 1, after: 5 }])
})

test('an unchanged value is not sent', async () => {
  await store.commit([change('DE', 1, 1), change('FR', null, undefined, NAME)], server)
  assert.equal(server.writes.length, 0)
  assert.equal(store.snapshot.canUndo, false)
})

test("a refused edit keeps the server's message, and disappears when it is discarded", async () => {
  await store.commit([change('DE', -5, 1)], server)
  assert.deepEqual(pending('DE'), { value: -5, state: 'refused', message: '-5 is too low', together: 1 })
  assert.deepEqual(server.stored, [])
  assert.deepEqual(server.messages, [], 'the cell says it')
  store.discard({ recordId: 'DE', field: 'area' })
  assert.equal(pending('DE'), undefined)
  assert.equal(store.snapshot.canUndo, false)
})

test('an invalid text is refused without being sent', async () => {
  await store.commit([change('DE', 'abc', 1)], server)
  assert.match(pending('DE')?.message ?? '', /"abc" is not a number/)
  await store.commit([change('DE', 7, 1)], server)
  assert.deepEqual(areas(), [7, 2])
})

test('a batch is refused as a whole; once the error is fixed, all of it is written and undone as one', async () => {
  await store.commit([change('DE', -5, 1), change('FR', 9, 2)], server)
  assert.equal(pending('DE')?.message, '-5 is too low')
  assert.match(
    pending('FR')?.message ?? '',
    /because another cell of the same change was refused: area of DE: -5 is too low/,
  )
  assert.match(server.messages[0] ?? '', /^None of the 2 cells were saved/)
  assert.deepEqual(areas(), [1, 2])
  await store.commit([change('DE', 5, 1)], server)
  assert.deepEqual(areas(), [5, 9])
  assert.equal(store.snapshot.pending.size, 0)
  await store.move('undo', server)
  assert.deepEqual(areas(), [1, 2])
})

test('discarding one cell of a refused batch discards the batch', async () => {
  await store.commit([change('DE', -5, 1), change('FR', 9, 2)], server)
  store.discard({ recordId: 'FR', field: 'area' })
  assert.equal(store.snapshot.pending.size, 0)
})

test('a change by another person is not overwritten; saving again overwrites it', async () => {
  server.set('DE', { area: 100 })
  await store.commit([change('DE', 5, 1)], server)
  assert.equal(pending('DE')?.message, 'changed by someone else to 100; not set to 5')
  assert.equal(server.stored[0]?.after, 100, 'the page shows it when the edit is discarded')
  assert.deepEqual(areas(), [100, 2])
  await store.saveAgain({ recordId: 'DE', field: 'area' }, server)
  assert.deepEqual(areas(), [5, 2])
  await store.move('undo', server)
  assert.deepEqual(areas(), [100, 2], 'what was overwritten comes back')
})

test('a change of the cell between reading and writing is detected by the version', async () => {
  server.meanwhile = () => server.set('DE', { area: 100 })
  await store.commit([change('DE', 5, 1)], server)
  assert.equal(pending('DE')?.state, 'refused')
  assert.deepEqual(areas(), [100, 2])
})

test('a change of another cell of the record is no conflict', async () => {
  server.meanwhile = () => server.set('DE', { name: 'Deutschland' })
  await store.commit([change('DE', 5, 1)], server)
  assert.deepEqual(areas(), [5, 2])
})

test('an edit of a deleted record does not recreate it', async () => {
  server.records.delete('DE')
  await store.commit([change('DE', 5, 1)], server)
  assert.match(pending('DE')?.message ?? '', /deleted by someone else/)
  assert.equal(server.records.has('DE'), false)
})

test('edits of one cell in quick succession are sent in order', async () => {
  const [first, second] = [
    store.commit([change('DE', 5, 1)], server),
    store.commit([change('DE', 6, 5)], server),
  ]
  assert.equal(pending('DE')?.value, 6)
  await Promise.all([first, second])
  assert.deepEqual(areas(), [6, 2])
  await store.move('undo', server)
  assert.deepEqual(areas(), [5, 2])
})

test('an edit after a refused one is independent, and the refusal is shown', async () => {
  await Promise.all([
    store.commit([change('DE', -5, 1)], server),
    store.commit([change('DE', 6, -5)], server),
  ])
  assert.deepEqual(areas(), [6, 2])
  assert.match(server.messages[0] ?? '', /area of DE was not saved as -5/)
})

test('undo and redo write through the same path', async () => {
  await store.commit([change('DE', 5, 1)], server)
  await store.move('undo', server)
  assert.deepEqual([areas(), store.snapshot.canUndo, store.snapshot.canRedo], [[1, 2], false, true])
  await store.move('redo', server)
  assert.deepEqual([areas(), store.snapshot.canUndo, store.snapshot.canRedo], [[5, 2], true, false])
})

test('undo right after an edit reverts that edit, also when it is refused', async () => {
  await store.commit([change('FR', 9, 2)], server)
  const edited = store.commit([change('DE', -5, 1)], server)
  await Promise.all([edited, store.move('undo', server)])
  assert.equal(store.snapshot.pending.size, 0)
  assert.deepEqual(areas(), [1, 9], 'the edit before is untouched')
})

test('undo does not overwrite a later change by another person, and reports it', async () => {
  await store.commit([change('DE', 5, 1)], server)
  server.set('DE', { area: 100 })
  await store.move('undo', server)
  assert.deepEqual(areas(), [100, 2])
  assert.match(server.messages[0] ?? '', /^Not undone: area of DE: changed by someone else to 100/)
  assert.equal(store.snapshot.pending.size, 0)
  assert.equal(store.snapshot.canUndo, false, 'it can never be undone')
})

test('a change by another person is shown, and cannot be undone on this page', async () => {
  server.set('DE', { area: 5 })
  await store.commit([change('DE', 5, 1)], server)
  assert.deepEqual(server.stored, [{ recordId: 'DE', field: AREA, before: 5, after: 5 }])
  assert.equal(store.snapshot.canUndo, false)
})

test('undoing without a server can be tried again', async () => {
  await store.commit([change('DE', 5, 1)], server)
  const offline = Object.assign(Object.create(server) as FakeServer, {
    write: () => Promise.reject(new ApiError(0, 'Unreachable', 'the server does not answer')),
  })
  await store.move('undo', offline)
  assert.match(server.messages[0] ?? '', /Not undone: the server does not answer/)
  assert.equal(store.snapshot.canUndo, true)
  await store.move('undo', server)
  assert.deepEqual(areas(), [1, 2])
})

test('after a lost response the result is uncertain, and saving again is safe', async () => {
  const lossy = Object.assign(Object.create(server) as FakeServer, {
    write: (records: readonly RecordPatch[]) => {
      for (const record of records) server.set(record.id, record)
      return Promise.reject(new ApiError(0, 'Unreachable', 'the server does not answer'))
    },
  })
  await store.commit([change('DE', 5, 1)], lossy)
  assert.match(pending('DE')?.message ?? '', /may or may not have been saved/)
  await store.saveAgain({ recordId: 'DE', field: 'area' }, server)
  assert.deepEqual(areas(), [5, 2])
  assert.equal(store.snapshot.pending.size, 0)
})

test('edits made while the server is away are saved in their order when it is back', async () => {
  const offline = Object.assign(Object.create(server) as FakeServer, {
    read: () => Promise.reject(new ApiError(0, 'Unreachable', 'the server does not answer')),
  })
  await store.commit([change('DE', 5, 1), change('FR', 9, 2)], offline)
  await store.commit([change('DE', -1, 1, NAME)], offline)
  assert.match(pending('DE')?.message ?? '', /saved again when the server can be reached/)
  await store.saveWaiting(server)
  assert.deepEqual(areas(), [5, 9])
  assert.equal(store.snapshot.pending.size, 1, 'a value that is refused stays refused')
  await store.saveWaiting(server)
  assert.equal(server.writes.length, 1)
})

test('deleted records take their edits with them, and come back with undo', async () => {
  await store.commit([change('FR', 9, 2)], server)
  await store.commit([change('DE', -5, 1)], server)
  await server.remove(['DE', 'FR'])
  store.addRecords({ kind: 'deleted', ids: ['DE', 'FR'] })
  assert.equal(store.snapshot.pending.size, 0)
  await store.move('undo', server)
  assert.deepEqual(areas(), [1, 9])
  assert.equal(store.snapshot.canUndo, false, 'their edits are gone')
  await store.move('redo', server)
  assert.deepEqual(areas(), [])
})

test('created records are deleted by undo, and restored by redo', async () => {
  server.set('IT', { id: 'IT', area: 3 })
  store.addRecords({ kind: 'created', ids: ['IT'] })
  await store.move('undo', server)
  assert.deepEqual(areas(), [1, 2])
  await store.move('redo', server)
  assert.deepEqual(areas(), [1, 2, 3])
})

test('records that cannot come back are reported, and not tried again', async () => {
  store.addRecords({ kind: 'deleted', ids: ['DE'] })
  await store.move('undo', server)
  assert.match(server.messages[0] ?? '', /^Not undone: record "DE" exists/)
  assert.equal(store.snapshot.canUndo, false)
  const ids = ['FR']
  store.addRecords({ kind: 'deleted', ids })
  store.removeDeletion(ids)
  assert.equal(store.snapshot.canUndo, false)
})

test('an error of another field is shown at the written one', async () => {
  const picky = Object.assign(Object.create(server) as FakeServer, {
    write: () => Promise.reject(refusal([{ index: 0, field: 'name', message: 'is required' }])),
  })
  await store.commit([change('DE', 5, 1)], picky)
  assert.equal(pending('DE')?.message, 'name: is required')
})

test('an internal error in one edit does not stop the next', async () => {
  const broken = Object.assign(Object.create(server) as FakeServer, {
    known: () => {
      throw new Error('a bug')
    },
  })
  await assert.rejects(store.commit([change('DE', 5, 1)], broken))
  await store.commit([change('FR', 9, 2)], server)
  assert.deepEqual(areas(), [5, 9])
})
