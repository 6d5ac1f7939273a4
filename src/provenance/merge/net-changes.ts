import { linesOfRecords } from '../imported-records.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'

/** A cell that lines of a log have written. */
export interface NetCell {
  /** The value before the first of them. */
  readonly before: JsonValue
  after: JsonValue
  /** The last line that wrote it. */
  by: JsonObject
}

/** The effect of some lines of a log on one record. */
export interface NetRecord {
  /** Whether it existed before the first of them. */
  readonly existed: boolean
  exists: boolean
  /** Whether any of the lines has created or deleted it. */
  isReborn: boolean
  /** The fields that were written, but `id`. Of a record that was deleted, all that had a value. */
  readonly cells: Map<string, NetCell>
  /** The last line that changed it. */
  by: JsonObject
}

/** Adds up the changes of records that lines of a log make, one after the other. */
export class NetChanges {
  readonly records = new Map<string, NetRecord>()

  constructor(lines: Iterable<JsonObject> = []) {
    for (const line of lines) this.add(line)
  }

  /** Adds the changes of the next line. `by` is what {@link NetCell.by} is: another object keeps a long log out of memory. */
  add(line: JsonObject, by: JsonObject | null = null): void {
    for (const each of linesOfRecords(line)) this.#add(each, by ?? each)
  }

  #add(line: JsonObject, by: JsonObject): void {
    const { record_id: id, field, values, source } = line
    if (typeof id !== 'string') return
    if (typeof field === 'string') {
      this.#write(this.#recordOf(id, by, true), field, {
        value: line['value'] ?? null,
        previous: line['previous'] ?? null,
        by,
      })
    } else if (isJsonObject(values)) {
      const previous = isJsonObject(line['previous']) ? line['previous'] : {}
      const isNew = createsRecord(line)
      const record = this.#recordOf(id, by, !isNew)
      if (source === 'delete') {
        for (const name of new Set([...Object.keys(previous), ...record.cells.keys()]))
          this.#write(record, name, { value: null, previous: ownMember(previous, name), by })
      } else {
        for (const [name, value] of Object.entries(values))
          this.#write(record, name, { value: value ?? null, previous: ownMember(previous, name), by })
      }
      if (isNew || source === 'delete') record.isReborn = true
      record.exists = source !== 'delete'
    }
  }

  #recordOf(id: string, by: JsonObject, existed: boolean): NetRecord {
    const known = this.records.get(id)
    if (known !== undefined) {
      known.by = by
      return known
    }
    const record = { existed, exists: existed, isReborn: false, cells: new Map<string, NetCell>(), by }
    this.records.set(id, record)
    return record
  }

  #write(
    { cells }: NetRecord,
    field: string,
    { value, previous, by }: { value: JsonValue; previous: JsonValue; by: JsonObject },
  ): void {
    if (field === 'id') return
    const cell = cells.get(field)
    if (cell === undefined) cells.set(field, { before: previous, after: value, by })
    else {
      cell.after = value
      cell.by = by
    }
  }
}

/** Whether a line creates its record: a new one, or one that was deleted. */
export function createsRecord({ values, record_id: id, source }: JsonObject): boolean {
  return isJsonObject(values) && source !== 'delete' && values['id'] === id
}

/** Whether lines have left a record as it was. */
export function isUnchanged({ existed, exists, cells }: NetRecord): boolean {
  return existed === exists && [...cells.values()].every((cell) => isSame(cell))
}

/** Whether lines have left a cell as it was. */
export function isSame({ before, after }: Pick<NetCell, 'before' | 'after'>): boolean {
  return isSameText(before, after)
}

/** Whether two values have the same JSON text, including the order of keys. */
export function isSameText(a: JsonValue, b: JsonValue): boolean {
  return a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))
}

/** Returns a member of an untrusted object, where `constructor` and the like are names as any; null when it has none. */
export function ownMember(object: JsonObject, name: string): JsonValue {
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null
}

/** Returns the values that a record had before lines that have deleted it, without those that are null. */
export function valuesBefore({ cells }: NetRecord): JsonObject {
  return Object.fromEntries(
    [...cells].flatMap(([field, { before }]) => (before === null ? [] : [[field, before] as const])),
  )
}
