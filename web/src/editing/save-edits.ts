import { ApiError, messageOf } from '../api/api-error.ts'
import type { RecordPatch } from '../../../src/client/client.ts'
import type { Edit } from './edit.ts'
import { sameValue } from '../values/same-value.ts'
import { parseFaults } from './server-faults.ts'
import type { DoneChange } from './undo-stack.ts'
import { senseFault, shownValue } from '../values/value-text.ts'

export type StoredRecord = Readonly<Record<string, unknown>>

/** What there is of some records. */
export interface Reading {
  /** By id; those that do not exist are missing. */
  readonly records: ReadonlyMap<string, StoredRecord>
  /** The version, of a single record. */
  readonly tag: string | null
}

/** The way to the server. All of it throws ApiError. */
export interface EditServer {
  read(ids: readonly string[], fields: readonly string[]): Promise<Reading>
  /** Writes all or nothing; a tag is the version that the one record must still have. */
  write(records: readonly RecordPatch[], tag: string | null): Promise<void>
}

export type SaveResult =
  | {
      /** What each cell had and has, also where that is the same. */
      readonly saved: readonly DoneChange[]
    }
  | {
      /** What is wrong, as a text that can stand alone. */
      readonly refused: string
      /** By edit, where something is wrong with it in particular. */
      readonly faults: ReadonlyMap<Edit, string>
      /** Whether the same could succeed another time. */
      readonly mayPass: boolean
      /** What somebody else was found to have written. */
      readonly found: readonly DoneChange[]
    }

/** How often a record is read again because something else in it changes all the time. */
const TRIES = 5

/**
 * Writes edits, unless a cell has another value by now than its editor saw: nobody overwrites what they have not seen.
 * A single record is written for the version that was compared, so that nothing can come in between; of several, the
 * server knows no versions, and what is written in the instant between comparing and writing is overwritten (and in
 * the cells' histories).
 */
export async function saveEdits(edits: readonly Edit[], server: EditServer): Promise<SaveResult> {
  const senseless = faultsOf(edits, (edit) => senseFault(edit.field, edit.value))
  if (senseless.size > 0) return refusal(senseless, false)
  const patches = patchesOf(edits)
  for (let left = TRIES; ; left -= 1) {
    let isWriting = false
    try {
      const reading = await readFor(edits, patches, server)
      const found: DoneChange[] = []
      const conflicts = faultsOf(edits, (edit) => conflictOf(edit, reading, found))
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

/** What stands against writing the cell, and remembers what it has now: whoever tries again has been told. */
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

function faultsOf(edits: readonly Edit[], faultOf: (edit: Edit) => string | null): ReadonlyMap<Edit, string> {
  const faults = new Map<Edit, string>()
  for (const edit of edits) {
    const fault = faultOf(edit)
    if (fault !== null) faults.set(edit, fault)
  }
  return faults
}

function refusal(
  faults: ReadonlyMap<Edit, string>,
  mayPass: boolean,
  found: readonly DoneChange[] = [],
): SaveResult {
  const [first] = faults
  const refused = first === undefined ? '' : `${nameOf(first[0])}: ${first[1]}`
  const more = faults.size - 1
  return { refused: more > 0 ? `${refused}; and ${more} more` : refused, faults, mayPass, found }
}

interface Attempt {
  readonly edits: readonly Edit[]
  readonly patches: readonly RecordPatch[]
  readonly isWriting: boolean
}

function refusalOf(error: unknown, { edits, patches, isWriting }: Attempt): SaveResult {
  const status = error instanceof ApiError ? error.status : 0
  // The name of another actor may do it, and a server that has trouble now may not have it later.
  const mayPass = status === 0 || status === 403 || status >= 500
  const faults = serverFaults(messageOf(error), edits, patches)
  if (faults.size > 0) return refusal(faults, mayPass)
  const doubt =
    status === 0 && isWriting ? '. The change may or may not have been saved: save it again to be sure' : ''
  return { refused: messageOf(error) + doubt, faults, mayPass, found: [] }
}

function serverFaults(
  message: string,
  edits: readonly Edit[],
  patches: readonly RecordPatch[],
): ReadonlyMap<Edit, string> {
  const faults = new Map<Edit, string>()
  for (const { position, field, text } of parseFaults(message, patches)) {
    const ofRecord = edits.filter(({ recordId }) => recordId === patches[position]?.id)
    const edit = ofRecord.find((each) => each.field.name === field)
    // A fault of a field that was not written belongs to what was written of the record.
    if (edit !== undefined) faults.set(edit, text)
    else for (const each of ofRecord) faults.set(each, `${field}: ${text}`)
  }
  return faults
}

/** How messages name the cell of an edit. */
export function nameOf({ field, recordId }: Pick<Edit, 'field' | 'recordId'>): string {
  return `${field.title} of ${recordId}`
}
