import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { memberOf } from '../../store/sheet-files/import-lines.ts'

/** A file that cannot be merged record by record; the message says why. */
export class UnmergeableRecords extends Error {}

/** A difference of two files of records that no rule decides. */
export interface RecordConflict {
  readonly id: string
  /** A value that both have changed, and ours stays; or that one has deleted the record, and the one that the other changed stays. */
  readonly kind: 'value' | 'deleted-by-ours' | 'deleted-by-theirs'
  /** Null for a deletion. */
  readonly field: string | null
  readonly ours: JsonValue
  readonly theirs: JsonValue
}

export interface RecordFiles {
  /** The lines of the common ancestor; of each version as JSON. */
  readonly base: Iterable<string>
  readonly ours: Iterable<string>
  readonly theirs: Iterable<string>
}

/**
 * Merges two versions of a file with a record on each line: by the id of the record, and by field. Yields the lines of the
 * result: in the order of ours, and then those that only theirs has. A field that one version has changed has the value of
 * that version; of one that both have changed to different values, ours stays. A record that one version has deleted and the
 * other has changed stays. Fields that a version does not have count as null. Throws {@link UnmergeableRecords}.
 */
export function* mergeRecords(
  files: RecordFiles,
  onConflict: (conflict: RecordConflict) => void,
): Generator<string, void> {
  const base = byId(files.base, 'the common ancestor')
  const theirs = byId(files.theirs, 'the other version')
  const seen = new Set<string>()
  for (const text of files.ours) {
    if (text.trim() === '') continue
    const id = idOf(text, 'this version')
    if (seen.has(id)) throw twice(id, 'this version')
    seen.add(id)
    const before = base.get(id)
    const other = theirs.get(id)
    if (other === undefined) {
      if (before === undefined || !isEqual(before, text)) {
        if (before !== undefined) onConflict({ ...DELETED, id, kind: 'deleted-by-theirs' })
        yield text
      }
    } else if (text === other || before === other) yield text
    else if (before === text) yield other
    else yield mergeRecord(id, { base: before, ours: text, theirs: other }, onConflict)
  }
  for (const [id, text] of theirs) {
    if (seen.has(id)) continue
    const before = base.get(id)
    if (before !== undefined) {
      if (isEqual(before, text)) continue
      onConflict({ ...DELETED, id, kind: 'deleted-by-ours' })
    }
    yield text
  }
}

const DELETED = { field: null, ours: null, theirs: null } as const

function mergeRecord(
  id: string,
  texts: { readonly base: string | undefined; readonly ours: string; readonly theirs: string },
  onConflict: (conflict: RecordConflict) => void,
): string {
  const base = texts.base === undefined ? {} : recordOf(texts.base)
  const ours = recordOf(texts.ours)
  const theirs = recordOf(texts.theirs)
  const merged: Record<string, JsonValue> = {}
  let isOurs = true
  for (const field of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const [before, own, other] = [memberOf(base, field), memberOf(ours, field), memberOf(theirs, field)]
    const isChanged = !jsonEqual(before, other)
    const isConflict = isChanged && !jsonEqual(before, own) && !jsonEqual(own, other)
    if (isConflict) onConflict({ id, kind: 'value', field, ours: own, theirs: other })
    const value = isChanged && jsonEqual(before, own) ? other : own
    // A field that one of the versions has no more, or not yet.
    const isGone = Object.hasOwn(base, field) && !(Object.hasOwn(ours, field) && Object.hasOwn(theirs, field))
    if (value === null && isGone) {
      isOurs &&= !Object.hasOwn(ours, field)
      continue
    }
    isOurs &&= Object.hasOwn(ours, field) && value === own
    Object.defineProperty(merged, field, { value, enumerable: true, configurable: true, writable: true })
  }
  return isOurs ? texts.ours : JSON.stringify(merged)
}

function byId(lines: Iterable<string>, version: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const text of lines) {
    if (text.trim() === '') continue
    const id = idOf(text, version)
    if (found.has(id)) throw twice(id, version)
    found.set(id, text)
  }
  return found
}

/** Matches the start of most lines: parsing all of them would take most of the time. */
const ID_FIRST = /^\{"id":("(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")[,}]/

function idOf(text: string, version: string): string {
  const first = ID_FIRST.exec(text)?.[1]
  const id = first === undefined ? recordOf(text)['id'] : (JSON.parse(first) as JsonValue)
  if (typeof id === 'string') return id
  throw new UnmergeableRecords(`${version} has a line without an id: ${text.slice(0, 80)}`)
}

function recordOf(text: string): JsonObject {
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch {
    record = null
  }
  if (isJsonObject(record)) return record
  throw new UnmergeableRecords(`not a record as JSON: ${text.slice(0, 80)}`)
}

function twice(id: string, version: string): UnmergeableRecords {
  return new UnmergeableRecords(`${version} has the record ${JSON.stringify(id)} twice`)
}

function isEqual(a: string, b: string): boolean {
  return a === b || jsonEqual(recordOf(a), recordOf(b))
}
