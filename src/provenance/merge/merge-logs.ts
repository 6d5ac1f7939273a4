import { erasedLeaf } from '../../proof/erased.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { isSameLine } from '../erased-line.ts'
import { hasRows, linesOfRecords } from '../imported-records.ts'
import { isImportLine, parseLine } from '../log-line.ts'
import {
  isSame,
  isSameText,
  isUnchanged,
  NetChanges,
  ownMember,
  valuesBefore,
  type NetCell,
  type NetRecord,
} from './net-changes.ts'

/** The outcome of merging two logs. */
export interface MergedLog {
  /** The lines of the first log; those from which the second one has erased values, as they are in that. */
  readonly ours: readonly string[]
  /** The lines that follow those of the first log. */
  readonly added: readonly string[]
  /** The number of lines of the second log that the first one does not have. */
  readonly theirs: number
  /** The number of proposals among {@link added}. */
  readonly proposals: number
  readonly keptRecords: readonly string[]
}

/** The logs cannot be merged line by line; the message says why. */
export class UnmergeableLog extends Error {}

/**
 * Merges two logs that begin with the same lines. The lines of `ours` stay as they are. Those of `theirs` follow with new numbers, as far
 * as they change cells that ours do not. Of a cell that both have changed to different values, ours stays, and a line of a
 * proposal has the other value. A record that one has deleted and the other changed stays, and its deletion is proposed.
 * Throws {@link UnmergeableLog}.
 */
export function mergeLogs(ours: readonly string[], theirs: readonly string[]): MergedLog {
  let common = 0
  while (
    common < ours.length &&
    common < theirs.length &&
    isSameLine(ours[common] ?? '', theirs[common] ?? '')
  )
    common += 1
  const own = ours.map((line, index) => (index < common ? withBothErasures(line, theirs[index] ?? '') : line))
  return { ours: own, ...new LogMerge(own, theirs, common).merge() }
}

/** Returns the one of two lines, which are the same but for erased values, that lacks them. */
function withBothErasures(one: string, other: string): string {
  if (one === other || erasedLeaf(other) === null) return one
  if (erasedLeaf(one) === null) return other
  throw new UnmergeableLog(
    `both logs have erased different values from the line ${Number(parseLine(one)?.['seq'])}`,
  )
}

interface Conflict {
  readonly id: string
  /** The line whose writer proposes it. */
  readonly by: JsonObject
  /** The proposed values; null for a deletion. */
  readonly proposed: Record<string, JsonValue> | null
  /** The values that stay. */
  readonly present: Record<string, JsonValue>
}

class LogMerge {
  readonly #common: readonly string[]
  readonly #ours: readonly JsonObject[]
  readonly #theirs: readonly JsonObject[]
  readonly #ourRecords: ReadonlyMap<string, NetRecord>
  readonly #theirRecords: ReadonlyMap<string, NetRecord>
  readonly #added: string[] = []
  readonly #conflicts: Conflict[] = []
  readonly #kept: string[] = []
  /** The new seqs of lines of theirs, by their seqs and records: a line of several can become one for each. */
  readonly #seqs = new Map<string, number>()
  readonly #commonSeq: number
  /** See {@link LogMerge.#linesOfRestored}; null before the first use. */
  #commonLines: ReadonlyMap<string, ReadonlyMap<string, JsonObject>> | null = null
  readonly #runs: (id: JsonValue) => JsonValue
  readonly #proposals: (id: JsonValue) => JsonValue
  #seq: number
  #at: string

  constructor(ours: readonly string[], theirs: readonly string[], common: number) {
    this.#common = ours.slice(0, common)
    this.#ours = parsed(ours.slice(common), common).flatMap(linesOfRecords)
    const own = parsed(theirs.slice(common), common)
    this.#theirs = own.filter((line) => !isImportLine(line))
    this.#checkImports(own)
    checkFields(this.#ours, this.#theirs.flatMap(linesOfRecords))
    this.#ourRecords = new NetChanges(this.#ours).records
    this.#theirRecords = new NetChanges(this.#theirs).records
    checkErasures(this.#ours, this.#theirRecords)
    checkErasures(this.#theirs, this.#ourRecords)
    const lastCommon = common === 0 ? null : parseLine(this.#common[common - 1] ?? '')
    const last = this.#ours.at(-1) ?? lastCommon
    this.#commonSeq = Number(lastCommon?.['seq'] ?? 0)
    this.#seq = Number(last?.['seq'] ?? 0)
    this.#at = textOf(last?.['at'])
    this.#runs = renumbering('run_id', this.#common, this.#ours)
    this.#proposals = renumbering('proposal', this.#common, this.#ours)
  }

  merge(): Omit<MergedLog, 'ours'> {
    for (const [id, theirs] of this.#theirRecords) {
      const ours = this.#ourRecords.get(id)
      if (ours === undefined || isUnchanged(ours) || isUnchanged(theirs)) continue
      if (ours.exists && theirs.exists && !ours.isReborn && !theirs.isReborn)
        this.#proposeCells(id, ours, theirs)
      else if (ours.exists && theirs.exists) this.#addNet(id, ours, theirs)
      else if (ours.exists) this.#keepOurs(id, ours, theirs)
      else if (theirs.exists) this.#restoreTheirs(id, ours, theirs)
    }
    for (const line of this.#theirs) this.#carry(line)
    for (const conflict of this.#conflicts) this.#propose(conflict)
    return {
      added: this.#added,
      theirs: this.#theirs.length,
      proposals: this.#conflicts.length,
      keptRecords: this.#kept,
    }
  }

  /** Lines of imports are those of the stores of fresh copies: without other values than those of the log. */
  #checkImports(theirs: readonly JsonObject[]): void {
    const known = new Set(
      [...this.#common.map(parseLine), ...this.#ours].flatMap((line) =>
        line !== null && isImportLine(line) ? [line['sha256']] : [],
      ),
    )
    const other = theirs.find((line) => isImportLine(line) && !known.has(line['sha256']))
    if (other === undefined) return
    throw new UnmergeableLog(
      `line ${Number(other['seq'])} of the other log imports a records.jsonl that this log has not imported, and does not say which values that changed`,
    )
  }

  /** Proposes the cells of a record that both have changed to different values. */
  #proposeCells(id: string, ours: NetRecord, theirs: NetRecord): void {
    const conflict = new Conflicts(id)
    for (const [field, cell] of theirs.cells) {
      const own = ours.cells.get(field)
      if (own !== undefined && isConflict(own, cell)) conflict.add(field, cell, own.after)
    }
    this.#conflicts.push(...conflict.all())
  }

  /** Adds the changes of a record that one of the logs has created or deleted meanwhile, as they are in the end. */
  #addNet(id: string, ours: NetRecord, theirs: NetRecord): void {
    const conflict = new Conflicts(id)
    const taken = new Map<JsonObject, [string, JsonValue, JsonValue][]>()
    for (const [field, cell] of theirs.cells) {
      if (isSame(cell)) continue
      const own = ours.cells.get(field)
      if (own !== undefined && isConflict(own, cell)) conflict.add(field, cell, own.after)
      if (own !== undefined && !isSame(own)) continue
      const changes = taken.get(cell.by) ?? []
      changes.push([field, cell.after, cell.before])
      taken.set(cell.by, changes)
    }
    for (const [by, changes] of taken) {
      const [first] = changes
      if (first === undefined) continue
      if (typeof by['field'] === 'string')
        this.#add({ ...this.#renumbered(by), value: first[1], previous: first[2] })
      else
        this.#add({
          ...startOf(by),
          source: 'write',
          record_id: id,
          values: Object.fromEntries(changes.map(([field, value]) => [field, value])),
          previous: Object.fromEntries(changes.map(([field, , before]) => [field, before])),
        })
    }
    this.#conflicts.push(...conflict.all())
  }

  /** Keeps a record that ours has changed and theirs has deleted. */
  #keepOurs(id: string, ours: NetRecord, theirs: NetRecord): void {
    this.#kept.push(id)
    this.#conflicts.push({ id, by: theirs.by, proposed: null, present: afterOf(ours) })
  }

  /** Restores a record that ours has deleted and theirs has changed. */
  #restoreTheirs(id: string, ours: NetRecord, theirs: NetRecord): void {
    const values: Record<string, JsonValue> = { id, ...valuesBefore(ours), ...afterOf(theirs) }
    const reverts = ours.by['seq'] ?? null
    const computed = this.#computations(id, theirs).filter(([field]) => (values[field] ?? null) !== null)
    const names = new Set(computed.map(([field]) => field))
    const written = Object.entries(values).filter(([name, value]) => value !== null && !names.has(name))
    this.#add({
      ...startOf(theirs.by),
      source: 'revert',
      reverts,
      record_id: id,
      values: Object.fromEntries(written),
      previous: Object.fromEntries(written.map(([name]) => [name, null])),
    })
    for (const [field, by] of computed) {
      const { input_hash: hash = null, derivation = null } = by
      const value = values[field] ?? null
      const start = { ...startOf(theirs.by), source: 'revert', record_id: id, field, value, previous: null }
      this.#add({ ...start, reverts, input_hash: hash, derivation })
    }
    this.#kept.push(id)
    this.#conflicts.push({ id, by: ours.by, proposed: null, present: afterOf(theirs) })
  }

  /** Returns the computed cells of a record that theirs has changed, with the lines that computed them. */
  #computations(id: string, { cells }: NetRecord): [string, JsonObject][] {
    this.#commonLines ??= this.#linesOfRestored()
    const latest = new Map(this.#commonLines.get(id))
    for (const [field, { by }] of cells) latest.set(field, by)
    return [...latest].filter(([, line]) => isComputed(line))
  }

  /** Returns the last common line of each cell of the records that are restored, by id and field. */
  #linesOfRestored(): Map<string, Map<string, JsonObject>> {
    const restored = new Map<string, Map<string, JsonObject>>()
    for (const [id, { exists }] of this.#ourRecords) if (!exists) restored.set(id, new Map())
    for (const line of this.#common.values().flatMap((text) => linesOfRecords(parseLine(text) ?? {}))) {
      const { record_id: id, field, values } = line
      const cells = typeof id === 'string' ? restored.get(id) : undefined
      if (typeof field === 'string') cells?.set(field, line)
      else if (isJsonObject(values)) for (const name of Object.keys(values)) cells?.set(name, line)
    }
    return restored
  }

  /** Adds a line of theirs, or what of it is about cells that ours has not changed. */
  #carry(line: JsonObject): void {
    const lines = linesOfRecords(line)
    if (hasRows(line) && lines.every(({ record_id: id }) => this.#isOnlyTheirs(id))) {
      this.#add(this.#renumbered(line))
      for (const { record_id: id } of lines) this.#seqs.set(placeOf(line['seq'], id), this.#seq)
    } else {
      for (const each of lines) this.#carryOne(each)
    }
  }

  #isOnlyTheirs(id: JsonValue | undefined): boolean {
    const ours = typeof id === 'string' ? this.#ourRecords.get(id) : undefined
    return ours === undefined || isUnchanged(ours)
  }

  #carryOne(line: JsonObject): void {
    const id = line['record_id']
    const theirs = typeof id === 'string' ? this.#theirRecords.get(id) : undefined
    const ours = typeof id === 'string' ? this.#ourRecords.get(id) : undefined
    if (ours === undefined || isUnchanged(ours) || 'proposed' in line) this.#add(this.#renumbered(line))
    else if (theirs === undefined || isUnchanged(theirs) || !ours.exists || !theirs.exists) return
    else if (!ours.isReborn && !theirs.isReborn) this.#carryPart(line, ours)
  }

  #carryPart(line: JsonObject, ours: NetRecord): void {
    const { field, reviewed, values, previous } = line
    const isTaken = (name: string): boolean => {
      const own = ours.cells.get(name)
      return own === undefined || isSame(own)
    }
    const cell = field ?? reviewed
    if (typeof cell === 'string') {
      if (isTaken(cell)) this.#add(this.#renumbered(line))
      return
    }
    if (!isJsonObject(values) || !isJsonObject(previous)) return
    const names = Object.keys(values).filter(isTaken)
    if (names.length === 0) return
    const only = (of: JsonObject): JsonObject =>
      Object.fromEntries(names.map((name) => [name, ownMember(of, name)]))
    this.#add({ ...this.#renumbered(line), values: only(values), previous: only(previous) })
  }

  #propose({ id, by, proposed, present }: Conflict): void {
    this.#add({
      seq: by['seq'] ?? null,
      at: by['at'] ?? null,
      actor: by['actor'] ?? null,
      source: 'proposal',
      record_id: id,
      proposed,
      present,
      ...(by['written_at'] === undefined ? {} : { written_at: by['written_at'] }),
    })
  }

  /** Adds a line under the next number: not before the line before it, since entries are in the order of their times. */
  #add(line: JsonObject): void {
    const { seq, at, ...rest } = line
    const written = textOf(at)
    const isLate = written < this.#at
    if (!isLate) this.#at = written
    this.#seq += 1
    this.#seqs.set(placeOf(seq, rest['record_id']), this.#seq)
    const late = isLate && rest['written_at'] === undefined ? { written_at: written } : {}
    this.#added.push(JSON.stringify({ seq: this.#seq, at: this.#at, ...rest, ...late }))
  }

  /** Returns a line of theirs with the new numbers of the runs, proposals and lines that it names. */
  #renumbered(line: JsonObject): JsonObject {
    const { restored, converted, reverts, run_id: run, proposal, lines, ...others } = line
    // The hash of a line under its earlier number is that of no line here.
    const { erased: _hash, erased_fields: _fields, ...rest } = others
    const named = {
      ...rest,
      ...(isErasure(line) ? { lines: this.#linesNow(lines, rest['record_id']) } : {}),
      ...(proposal === undefined ? {} : { proposal: this.#proposals(proposal) }),
      ...(run === undefined ? {} : { run_id: this.#runs(run) }),
      ...this.#reference('reverts', reverts, rest['record_id']),
    }
    if (!isJsonObject(restored) && !isJsonObject(converted)) return named
    const eachOf = (of: JsonValue | undefined, change: (one: JsonValue) => JsonValue): JsonValue =>
      isJsonObject(of)
        ? Object.fromEntries(Object.entries(of).map(([name, one]) => [name, change(one ?? null)]))
        : null
    const ofConversion = (one: JsonValue): JsonValue =>
      isJsonObject(one) ? { ...one, ...this.#reference('reverts', one['reverts']) } : one
    return {
      ...named,
      ...(converted === undefined ? {} : { converted: eachOf(converted, ofConversion) }),
      ...(restored === undefined ? {} : { restored: eachOf(restored, (one) => this.#now(one) ?? one) }),
    }
  }

  #linesNow(lines: JsonValue | undefined, record: JsonValue | undefined): readonly number[] {
    if (!Array.isArray(lines)) return []
    return (lines as readonly JsonValue[]).flatMap((seq) => this.#now(seq, record) ?? [])
  }

  #reference(name: string, seq: JsonValue | undefined, record?: JsonValue): JsonObject {
    if (seq === undefined) return {}
    const now = this.#now(seq, record)
    return now === null ? {} : { [name]: now }
  }

  /** Returns the new seq of a line of theirs about a record, absent for none; null for one that is left out. */
  #now(seq: JsonValue, record?: JsonValue): number | null {
    if (typeof seq !== 'number') return null
    return seq <= this.#commonSeq ? seq : (this.#seqs.get(placeOf(seq, record)) ?? null)
  }
}

/** Whether a line says that values of a record were erased. */
function isErasure({ source, values }: JsonObject): boolean {
  return source === 'erase' && isJsonObject(values)
}

/** Throws {@link UnmergeableLog} where lines erase values of a record that the other log has changed: its lines can have the values. */
function checkErasures(lines: readonly JsonObject[], others: ReadonlyMap<string, NetRecord>): void {
  for (const line of lines) {
    const { record_id: id, seq } = line
    if (!isErasure(line) || typeof id !== 'string' || !others.has(id)) continue
    throw new UnmergeableLog(
      `line ${Number(seq)} erases values of the record ${JSON.stringify(id)}, which the other log has changed meanwhile`,
    )
  }
}

/** The cells of a record that both have changed to different values, by the actors who wrote theirs. */
class Conflicts {
  readonly #id: string
  readonly #byActor = new Map<string, Conflict & { by: JsonObject }>()

  constructor(id: string) {
    this.#id = id
  }

  add(field: string, { by, after }: NetCell, present: JsonValue): void {
    // The value follows from others: the next run computes it again.
    if (isComputed(by)) return
    const actor = textOf(by['actor'])
    const known = this.#byActor.get(actor)
    this.#byActor.set(actor, {
      id: this.#id,
      by: known === undefined || textOf(by['at']) > textOf(known.by['at']) ? by : known.by,
      proposed: { ...known?.proposed, [field]: after },
      present: { ...known?.present, [field]: present },
    })
  }

  all(): readonly Conflict[] {
    return [...this.#byActor.values()]
  }
}

function placeOf(seq: JsonValue | undefined, record: JsonValue | undefined): string {
  return `${Number(seq)} ${typeof record === 'string' ? record : ''}`
}

function isConflict(ours: NetCell, theirs: NetCell): boolean {
  return !isSame(ours) && !isSame(theirs) && !isSameText(ours.after, theirs.after)
}

function isComputed({ field, input_hash: hash }: JsonObject): boolean {
  return typeof field === 'string' && typeof hash === 'string'
}

function afterOf({ cells }: NetRecord): Record<string, JsonValue> {
  return Object.fromEntries([...cells].map(([field, { after }]) => [field, after]))
}

/** Returns who wrote a line, and when. */
function startOf({ seq = null, at = null, actor = null, written_at: written }: JsonObject): JsonObject {
  return { seq, at, actor, ...(written === undefined ? {} : { written_at: written }) }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function parsed(texts: readonly string[], before: number): JsonObject[] {
  return texts.map((text, index) => {
    const line = parseLine(text)
    if (line !== null && typeof line['seq'] === 'number') return line
    throw new UnmergeableLog(`line number ${before + index + 1} is not a line of a log`)
  })
}

/** Returns new ids for those of theirs that ours may have given to something else. */
function renumbering(
  member: string,
  common: readonly string[],
  ours: readonly JsonObject[],
): (id: JsonValue) => JsonValue {
  let [after, last] = [0, 0]
  for (const text of common)
    if (text.includes(`"${member}"`)) after = Math.max(after, idIn(parseLine(text), member))
  for (const line of ours) last = Math.max(last, idIn(line, member))
  const shift = Math.max(0, last - after)
  return (id) => (Number(id) > after ? String(Number(id) + shift) : id)
}

function idIn(line: JsonObject | null, member: string): number {
  const id = line?.[member]
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : 0
}

/** Throws {@link UnmergeableLog} where one of the logs changes fields that the other has written values of. */
function checkFields(ours: readonly JsonObject[], theirs: readonly JsonObject[]): void {
  for (const [changing, other] of [
    [ours, theirs],
    [theirs, ours],
  ] as const) {
    const changed = new Set(changing.flatMap(changedFields))
    if (changed.size === 0) continue
    const line = other.find((one) => namedIn(one).some((name) => changed.has(name)))
    if (line === undefined) continue
    const whose = changing === ours ? 'this branch' : 'the other branch'
    throw new UnmergeableLog(
      `${whose} has renamed, removed or converted fields (${[...changed].join(', ')}), and the other one has values of them (line ${Number(line['seq'])})`,
    )
  }
}

function changedFields({ source, record_id: id, ...line }: JsonObject): string[] {
  if (source !== 'contract' || id !== undefined) return []
  return ['renamed', 'removed', 'converted', 'restored'].flatMap((name) => {
    const of = line[name]
    if (!isJsonObject(of)) return []
    return name === 'renamed' ? [...Object.keys(of), ...Object.values(of).map(String)] : Object.keys(of)
  })
}

function namedIn(line: JsonObject): string[] {
  const { field, reviewed, values, previous } = line
  const of = (one: JsonValue | undefined): string[] => (isJsonObject(one) ? Object.keys(one) : [])
  return [...[field, reviewed].map(textOf), ...of(values), ...of(previous), ...changedFields(line)]
}
