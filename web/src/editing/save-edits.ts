import { ApiError, isUnreachable, messageOf } from '../api/api-error.ts'
import type { RecordPatch } from '../../../src/client/client.ts'
import type { Edit } from './edit.ts'
import { sameValue } from '../values/same-value.ts'
import type { DoneChange } from './undo-stack.ts'
import { unparsedError, shownValue } from '../values/value-text.ts'

export type StoredRecord = Readonly<Record<string, unknown>>

/** The stored state of records. */
export interface Reading {
  /** By id; deleted records are absent. */
  readonly records: ReadonlyMap<string, StoredRecord>
  /** The version, if one record was read. */
  readonly tag: string | null
}

/** The requests that saving needs. All throw ApiError. */
export interface EditServer {
  read(ids: readonly string[], fields: readonly string[]): Promise<Reading>
  /** Writes all records or none; `tag` is the version that a single record must still have. */
  write(records: readonly RecordPatch[], tag: string | null): Promise<void>
}

export type SaveResult =
  | {
      /** The previous and the present value of each cell, also if they are equal. */
      readonly saved: readonly DoneChange[]
    }
  | {
      /** A complete message. */
      readonly refused: string
      /** The violations of single edits. */
      readonly errors: ReadonlyMap<Edit, string>
      /** Whether the same write could succeed later. */
      readonly mayRetry: boolean
      /** Whether the server could not be reached, so that the edits wait until it can. */
      readonly waits: boolean
      /** The values that others have written. */
      readonly found: readonly DoneChange[]
    }

/** The maximum number of retries of a save while other fields of the record change. */
const TRIES = 5

/**
 * Writes edits, unless a cell has changed since its editor opened. A single record is written with If-Match, so
 * nothing can change in between. Several records have no common version: a change between comparing and writing is
 * overwritten, and remains in the history.
 */
export async function saveEdits(edits: readonly Edit[], server: EditServer): Promise<SaveResult> {
  const unparsed = errorsOf(edits, (edit) => unparsedError(edit.field, edit.value))
  if (unparsed.size > 0) return refusal(unparsed, false)
  const patches = patchesOf(edits)
  for (let left = TRIES; ; left -= 1) {
    let isWriting = false
    try {
      const reading = await readFor(edits, patches, server)
      const found: DoneChange[] = []
      const conflicts = errorsOf(edits, (edit) => conflictOf(edit, reading, found))
      if (conflicts.size > 0) return refusal(conflicts, false, found)
      isWriting = true
      await server.write(patches, reading.tag)
      return { saved: edits.map((edit) => changeOf(edit, reading)) }
    } catch (error) {
      const isOutdated = error instanceof ApiError && error.status === 412
      if (!isOutdated || left === 0) return refusalOf(error, { edits, patches, isWriting })
    }
  }
}

function readFor(
  edits: readonly Edit[],
  patches: readonly RecordPatch[],
  server: EditServer,
): Promise<Reading> {
  const ids = patches.map(({ id }) => id)
  return server.read(ids, [...new Set(edits.map(({ field }) => field.name))])
}

function patchesOf(edits: readonly Edit[]): readonly RecordPatch[] {
  const byRecord = Map.groupBy(edits, ({ recordId }) => recordId)
  return [...byRecord].map(([id, ofRecord]) => ({
    ...Object.fromEntries(ofRecord.map(({ field, value }) => [field.name, value])),
    id,
  }))
}

/** Returns the conflict of an edit and adopts the stored value, so that saving again overwrites it. */
function conflictOf(edit: Edit, { records }: Reading, found: DoneChange[]): string | null {
  const record = records.get(edit.recordId)
  if (record === undefined) return 'the record was deleted by someone else'
  const current = record[edit.field.name] ?? null
  if (sameValue(current, edit.stored) || sameValue(current, edit.value)) return null
  found.push({ recordId: edit.recordId, field: edit.field, before: edit.stored, after: current })
  edit.stored = current
  return `changed by someone else to ${shownValue(current)}; not set to ${shownValue(edit.value)}`
}

function changeOf({ recordId, field, value }: Edit, { records }: Reading): DoneChange {
  return { recordId, field, before: records.get(recordId)?.[field.name] ?? null, after: value }
}

function errorsOf(edits: readonly Edit[], errorOf: (edit: Edit) => string | null): ReadonlyMap<Edit, string> {
  const errors = new Map<Edit, string>()
  for (const edit of edits) {
    const error = errorOf(edit)
    if (error !== null) errors.set(edit, error)
  }
  return errors
}

function refusal(
  errors: ReadonlyMap<Edit, string>,
  mayRetry: boolean,
  found: readonly DoneChange[] = [],
): SaveResult {
  const [first] = errors
  const refused = first === undefined ? '' : `${nameOf(first[0])}: ${first[1]}`
  const more = errors.size - 1
  return {
    refused: more > 0 ? `${refused}; and ${more} more` : refused,
    errors,
    mayRetry,
    waits: false,
    found,
  }
}

interface Attempt {
  readonly edits: readonly Edit[]
  readonly patches: readonly RecordPatch[]
  readonly isWriting: boolean
}

function refusalOf(error: unknown, { edits, patches, isWriting }: Attempt): SaveResult {
  const violations = error instanceof ApiError ? error.violations : []
  const errors = batchErrors(violations, edits, patches)
  if (errors.size > 0) return refusal(errors, mayRetryAfter(error))
  const waits = isUnreachable(error)
  const doubt = waits && isWriting ? '. The change may or may not have been saved' : ''
  return { refused: messageOf(error) + doubt, errors, mayRetry: mayRetryAfter(error), waits, found: [] }
}

/** Whether the same write could succeed later: another actor may be allowed to, and a server error may be temporary. */
export function mayRetryAfter(error: unknown): boolean {
  const status = error instanceof ApiError ? error.status : 0
  return status === 0 || status === 403 || status >= 500
}

function batchErrors(
  violations: ApiError['violations'],
  edits: readonly Edit[],
  patches: readonly RecordPatch[],
): ReadonlyMap<Edit, string> {
  const errors = new Map<Edit, string>()
  for (const { index, field, message } of violations) {
    const ofRecord = edits.filter(({ recordId }) => recordId === patches[index]?.id)
    const edit = ofRecord.find((each) => each.field.name === field)
    // A violation of another field of the record applies to all its edits.
    if (edit !== undefined) errors.set(edit, message)
    else for (const each of ofRecord) errors.set(each, `${field}: ${message}`)
  }
  return errors
}

/** Names the cell of an edit in messages. */
export function nameOf({ field, recordId }: Pick<Edit, 'field' | 'recordId'>): string {
  return `${field.title} of ${recordId}`
}
