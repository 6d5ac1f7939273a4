import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { literal, named, type ProvWriter, sheetName } from './prov-document.ts'

/** The context in which the lines of records are read. */
export interface ProvContext {
  /** Identifies the field that had a name at a line, under all names that it has had. */
  fieldAt(name: string, seq: number): string
  /** Returns the inputs of a derivation file in a run; empty if they are not known. */
  inputsOf(run: string, file: string): readonly string[]
  /** Returns the seq of the last import of `records.jsonl` before a line; null for none. */
  importBefore(seq: number): number | null
}

/** A value that a cell has or had. */
interface Version {
  readonly seq: number
  readonly id: string
  /** The name of the field then. */
  readonly name: string
  /** Whether it is in the document. That of `records.jsonl` gets there when it is used or replaced. */
  isDescribed: boolean
  isUsed: boolean
}

interface Cell {
  /** The values so far, in their order. */
  versions: Version[]
  /** The present value; null for none. */
  live: Version | null
}

/** A record, as its lines so far have left it. */
interface LoggedRecord {
  readonly id: string
  readonly cells: Map<string, Cell>
  /** The seq of the import that it came with; null if a line created it. */
  imported: number | null
  /** The seq of the last import before its lines; null for none. */
  readonly since: number | null
}

/**
 * Describes the values of records in PROV, from their lines of the log. The lines of a record are added in their order, all of them before
 * {@link end}.
 */
export class ProvRecords {
  readonly #writer: ProvWriter
  readonly #context: ProvContext
  readonly #records = new Map<string, LoggedRecord>()

  constructor(writer: ProvWriter, context: ProvContext) {
    this.#writer = writer
    this.#context = context
  }

  /** Adds a line of a record. */
  add(line: JsonObject): void {
    const { record_id: id, field, values, reviewed } = line
    if (typeof id !== 'string') return
    const record = this.#recordOf(id, line)
    if (typeof reviewed === 'string') this.#addReview(record, reviewed, line)
    else if (isJsonObject(values)) this.#addRecord(record, values, line)
    else if (typeof field === 'string' && !isUnknown(line)) this.#addCell(record, field, line)
  }

  /** Describes the values of `records.jsonl` that were used and never replaced. The log does not have what they are. */
  end(): void {
    for (const record of this.#records.values()) this.#endRecord(record)
    this.#records.clear()
  }

  #endRecord({ id, cells }: LoggedRecord): void {
    for (const { versions } of cells.values())
      for (const version of versions) if (version.isUsed) this.#describe(id, version, null)
  }

  #recordOf(id: string, { seq, values, previous }: JsonObject): LoggedRecord {
    const isCreated =
      isJsonObject(values) && isJsonObject(previous) && Boolean(values['id']) && previous['id'] === null
    const since = this.#context.importBefore(Number(seq))
    const known = this.#records.get(id)
    // A store that takes over a log imports all records anew, perhaps with other values.
    const isImportedAnew = known !== undefined && known.since !== since
    if (isImportedAnew) this.#endRecord(known)
    const record =
      known === undefined || isImportedAnew ? { id, cells: new Map(), imported: since, since } : known
    if (isCreated) record.imported = null
    this.#records.set(id, record)
    return record
  }

  #cellOf({ id, cells, imported }: LoggedRecord, name: string, { seq }: JsonObject): Cell {
    const key = this.#context.fieldAt(name, Number(seq))
    let cell = cells.get(key)
    if (cell === undefined) {
      const live = imported === null ? null : versionOf(id, name, imported)
      cell = { versions: live === null ? [] : [live], live }
      cells.set(key, cell)
    }
    return cell
  }

  #addReview(record: LoggedRecord, field: string, line: JsonObject): void {
    const activity = this.#single(line)
    const { live } = this.#cellOf(record, field, line)
    if (live === null) return
    this.#writer.relate('used', { 'prov:activity': activity, 'prov:entity': use(live) })
  }

  #addRecord(record: LoggedRecord, values: JsonObject, line: JsonObject): void {
    const activity = this.#activityOf(line)
    const before = isJsonObject(line['previous']) ? line['previous'] : {}
    for (const [name, value] of Object.entries(values)) {
      if (name === 'id') continue
      this.#replace(record, name, { value, previous: before[name] ?? null, activity, line, inputs: [] })
    }
  }

  #addCell(record: LoggedRecord, name: string, line: JsonObject): void {
    const { value = null, previous = null, run_id: run, derivation: file, source } = line
    if (source === 'revert' || typeof run !== 'string' || typeof file !== 'string') {
      const activity = this.#activityOf(line)
      this.#replace(record, name, { value, previous, activity, line, inputs: [] })
      return
    }
    const inputs = this.#context.inputsOf(run, file).flatMap((input) => {
      const { live } = this.#cellOf(record, input, line)
      return live === null ? [] : [use(live)]
    })
    this.#replace(record, name, { value, previous, activity: this.#part(run, file, line), line, inputs })
  }

  /** Describes that a cell has another value, or none. */
  #replace(record: LoggedRecord, name: string, change: ValueChange): void {
    const { value, previous, activity, line, inputs } = change
    const time = { 'prov:time': textOf(line['at']) }
    const cell = this.#cellOf(record, name, line)
    const restored = restoredBy(cell, line)
    const { live } = cell
    if (live !== null && !live.isDescribed && !live.isUsed && previous === null) {
      // It came without a value.
      cell.versions = []
    } else if (live !== null) {
      this.#describe(record.id, live, previous)
      this.#writer.relate('wasInvalidatedBy', { 'prov:entity': live.id, 'prov:activity': activity, ...time })
    }
    cell.live = null
    if (value === null) return
    const version = versionOf(record.id, name, Number(line['seq']))
    this.#describe(record.id, version, value)
    cell.live = version
    cell.versions.push(version)
    const { id } = version
    this.#writer.relate('wasGeneratedBy', { 'prov:entity': id, 'prov:activity': activity, ...time })
    const agent = this.#writer.agent(textOf(line['proposed_by'] ?? line['actor']))
    this.#writer.relate('wasAttributedTo', { 'prov:entity': id, 'prov:agent': agent })
    for (const used of restored === null ? inputs : [restored]) {
      this.#writer.relate('wasDerivedFrom', {
        'prov:generatedEntity': id,
        'prov:usedEntity': used,
        'prov:activity': activity,
      })
    }
  }

  /** Describes a value, once; one of `records.jsonl` was generated by the import. */
  #describe(record: string, version: Version, value: JsonValue): void {
    if (version.isDescribed) return
    version.isDescribed = true
    const { id, name, seq } = version
    this.#writer.describe('entity', id, {
      'colophon:record': record,
      'colophon:field': name,
      ...(value !== null && { 'prov:value': literal(value) }),
    })
    if (this.#context.importBefore(seq + 1) !== seq) return
    this.#writer.relate('wasGeneratedBy', { 'prov:entity': id, 'prov:activity': sheetName('import', seq) })
  }

  /** Returns the id of the activity of a line: its run, or one of its own. */
  #activityOf(line: JsonObject): string {
    const { run_id: run } = line
    return typeof run === 'string' ? this.#run(run, line) : this.#single(line)
  }

  #single(line: JsonObject): string {
    const { seq, at, source, verdict, note, proposed_by: proposer } = line
    const id = sheetName(textOf(source), Number(seq))
    this.#writer.describe('activity', id, {
      'prov:startTime': textOf(at),
      'prov:endTime': textOf(at),
      'colophon:kind': textOf(source),
      ...(typeof verdict === 'string' && { 'colophon:verdict': verdict }),
      ...(typeof note === 'string' && { 'colophon:note': note }),
    })
    const actor = textOf(line['actor'])
    this.#writer.associate(id, { actor, ...(typeof proposer === 'string' && { proposer }) })
    return id
  }

  /** Returns the id of a run. One that the sheet keeps was described before. */
  #run(run: string, { actor }: JsonObject): string {
    const id = sheetName('run', run)
    if (this.#writer.describeOnce('activity', id, {})) this.#writer.associate(id, { actor: textOf(actor) })
    return id
  }

  /** Returns the id of what a derivation did in a run. */
  #part(run: string, file: string, line: JsonObject): string {
    const { source, actor, table, sheet } = line
    const id = sheetName('run', run, file)
    if (this.#writer.describeOnce('activity', id, { 'colophon:kind': textOf(source) })) {
      const plan = sheetName('derivation', file)
      this.#writer.describeOnce('entity', plan, { 'prov:type': named('prov:Plan'), 'prov:label': file })
      this.#writer.relate('wasAssociatedWith', {
        'prov:activity': id,
        'prov:agent': this.#writer.agent(textOf(actor)),
        'prov:plan': plan,
      })
      this.#writer.relate('wasStartedBy', { 'prov:activity': id, 'prov:starter': this.#run(run, line) })
    }
    // Look-ups name their table.
    for (const path of [table, sheet])
      if (typeof path === 'string') this.#writer.useOnce(id, sheetName('file', path), { 'prov:label': path })
    return id
  }
}

interface ValueChange {
  readonly value: JsonValue
  readonly previous: JsonValue
  readonly activity: string
  readonly line: JsonObject
  /** The ids of the values that it was computed from. */
  readonly inputs: readonly string[]
}

function versionOf(record: string, name: string, seq: number): Version {
  return { seq, id: sheetName('value', record, name, seq), name, isDescribed: false, isUsed: false }
}

/** Returns the id of a value that is referred to. */
function use(version: Version): string {
  version.isUsed = true
  return version.id
}

/** Returns the value that a revert wrote again: the one before the entry that it undid; null for none. */
function restoredBy({ versions }: Cell, { reverts }: JsonObject): string | null {
  if (typeof reverts !== 'number') return null
  const version = versions.findLast(({ seq }) => seq < reverts)
  return version === undefined ? null : use(version)
}

/** Whether nobody knows the value that a line is about: that of a log of folio. */
function isUnknown({ unknown }: JsonObject): boolean {
  return Array.isArray(unknown) && unknown.includes('value')
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
