import type { Field } from '../../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { valueError } from '../../../contract/values/validate-value.ts'
import { ServiceError } from '../../../errors/service-error.ts'
import { hasRows, linesOfRecords } from '../../../provenance/imported-records.ts'
import { isImportLine, parseLine } from '../../../provenance/log-line.ts'
import { createsRecord } from '../../../provenance/merge/net-changes.ts'
import type { RecordKey } from '../../cell-work.ts'
import { deletionsUndone } from '../../rows/deleted-records.ts'
import { endReviews, insertReview } from '../../rows/reviews.ts'
import { hashBytes, runNumber } from '../../rows/stored-rows.ts'
import { sameValue } from '../../same-value.ts'
import { memberOf } from '../../sheet-files/import-lines.ts'
import { VERDICTS } from '../../stored-review.ts'
import { propose } from '../propose.ts'
import { load, type Steps } from '../steps.ts'
import type { StoreChange, StoredRecord } from '../store-change.ts'
import { UniqueClaims } from '../unique-claims.ts'
import type { WrittenValues } from '../written/written-by.ts'

/** A change that can add lines to the log which another copy of the sheet has written. */
export interface TakeOverChange extends StoreChange {
  /** Adds a line as it is, and returns its seq. */
  logTaken(text: string, record: RecordKey | null, written: WrittenValues | null): number
  /** Adds a line with imported records as it is, and returns its seq; the keys of the records are those from the next new one on. */
  logTakenRecords(text: string, written: readonly WrittenValues[]): number
}

/** The result of taking lines over. */
export interface TakenOver {
  readonly lines: number
  /** The ids of the proposals that they have made. */
  readonly proposals: readonly string[]
  /** Values that the lines propose, and that could not be proposed here. */
  readonly unproposed: number
}

/** A line cannot be taken over, so that none is; the message says why. */
export class NotTakenOver extends Error {}

const INPUT_HASH = /^sha256:[0-9a-f]{64}$/

/**
 * Takes over lines of the log that another copy of the sheet has written: makes the changes that they say, without the
 * permissions of their actors, which the other copy has checked. Computed cells become stale: the next run finds by their input
 * hashes which of them are current, without calls. Throws {@link NotTakenOver}; the caller rolls the changes back.
 */
export function* takeOver(change: TakeOverChange, texts: Iterable<string>): Steps<TakenOver> {
  const taking = new TakingOver(change)
  let lines = 0
  for (const text of texts) {
    yield* taking.add(text)
    lines += 1
  }
  return { lines, ...(yield* taking.finish()) }
}

interface ProposedLine {
  readonly id: string
  readonly actor: string
  readonly at: string
  /** Null for a deletion. */
  readonly proposed: JsonObject | null
  readonly present: JsonObject
}

/** A cell that a line writes. */
interface Written {
  readonly field: Field
  readonly value: JsonValue
  readonly previous: JsonValue
}

class TakingOver {
  readonly #change: TakeOverChange
  readonly #claims = new UniqueClaims()
  readonly #proposed: ProposedLine[] = []
  #line = 0
  #lastRun = 0
  #lastProposal = 0

  constructor(change: TakeOverChange) {
    this.#change = change
  }

  *add(text: string): Steps<void> {
    const line = parseLine(text) ?? {}
    this.#line = Number(line['seq'])
    this.#lastRun = Math.max(this.#lastRun, runNumber(line['run_id']) ?? 0)
    this.#lastProposal = Math.max(this.#lastProposal, runNumber(line['proposal']) ?? 0)
    const { record_id: id, source, field, values, reviewed } = line
    if (isImportLine(line)) throw this.#refused('imports another records.jsonl')
    if (hasRows(line)) {
      yield* this.#createAll(text, line)
      return
    }
    if (typeof id !== 'string')
      throw this.#refused(
        source === 'contract'
          ? 'renames, removes, converts or restores fields'
          : 'is of no kind that this version knows',
      )
    yield* load(this.#change.load([id]))
    const record = this.#change.records.get(id)
    if (createsRecord(line) && isJsonObject(values)) yield* this.#create(text, { line, id, values, record })
    else if (record === undefined)
      throw this.#refused(`changes the record ${showValue(id)}, which does not exist`)
    else if (source === 'delete') this.#delete(text, { line, record })
    else if (source === 'proposal') this.#addProposal(text, { line, record })
    else if (typeof reviewed === 'string') yield* this.#review(text, { line, record, reviewed })
    else if (typeof field === 'string')
      this.#write(text, {
        line,
        record,
        values: { [field]: line['value'] ?? null },
        previous: { [field]: line['previous'] ?? null },
      })
    else if (isJsonObject(values))
      this.#write(text, { line, record, values, previous: objectOf(line['previous']) })
    else throw this.#refused('is of no kind that this version knows')
  }

  *finish(): Steps<Omit<TakenOver, 'lines'>> {
    const change = this.#change
    if (!this.#claims.isEmpty) {
      const [conflict] = this.#claims.conflicts(yield* load(change.holders(this.#claims)))
      if (conflict !== undefined) {
        const { claim, holder } = conflict
        throw new NotTakenOver(
          `field "${claim.field.name}" must be unique, and the records ${showValue(claim.id)} and ${showValue(holder)} both have ${showValue(claim.value)}`,
        )
      }
    }
    yield* load(
      change.db.change({
        sql: `UPDATE "$sheet" SET last_run = CASE WHEN last_run < ?1 THEN ?1 ELSE last_run END,
          last_proposal = CASE WHEN last_proposal < ?2 THEN ?2 ELSE last_proposal END`,
        params: [this.#lastRun, this.#lastProposal],
      }),
    )
    return yield* this.#makeProposals()
  }

  /** Creates the records of a line with several. */
  *#createAll(text: string, line: JsonObject): Steps<void> {
    const first = this.#change.newKey()
    const records = linesOfRecords(line).map(({ record_id: id, values }, index) => {
      if (typeof id !== 'string' || !isJsonObject(values))
        throw this.#refused('is of no kind that this version knows')
      return { id, values, key: first + index }
    })
    if (records.length === 0) throw this.#refused('is of no kind that this version knows')
    yield* load(this.#change.load(records.map(({ id }) => id)))
    const ids = new Set<string>()
    for (const { id, values } of records) {
      if (ids.has(id) || this.#change.records.get(id) !== undefined)
        throw this.#refused(`creates the record ${showValue(id)}, which exists`)
      ids.add(id)
      this.#checkValues(id, values)
    }
    const written = records.map(({ key, values }) => this.#writtenBy(line, key, values))
    const seq = this.#change.logTakenRecords(text, written)
    for (const { id, key, values } of records) this.#insert({ id, key, seq, values })
  }

  /** Checks the values of a new record. */
  #checkValues(id: string, values: JsonObject): void {
    for (const name of Object.keys(values)) this.#fieldOf(name)
    for (const field of this.#change.contract.fields) this.#check(id, field, memberOf(values, field.name))
  }

  #writtenBy(line: JsonObject, key: RecordKey, values: JsonObject): WrittenValues {
    const fields = filledAndEmptied(Object.keys(values), values)
    return { ...this.#writerOf(line, key), fields, isNew: true }
  }

  #insert({
    values,
    ...record
  }: {
    readonly id: string
    readonly key: RecordKey
    readonly seq: number
    readonly values: JsonObject
  }): void {
    this.#change.insert({
      ...record,
      record: values,
      values: this.#change.contract.fields.map(({ name }) => memberOf(values, name)),
      written: (name) => memberOf(values, name),
    })
  }

  *#create(
    text: string,
    {
      line,
      id,
      values,
      record,
    }: {
      readonly line: JsonObject
      readonly id: string
      readonly values: JsonObject
      readonly record: StoredRecord | undefined
    },
  ): Steps<void> {
    const { log, db } = this.#change
    if (record !== undefined) throw this.#refused(`creates the record ${showValue(id)}, which exists`)
    this.#checkValues(id, values)
    const { reverts } = line
    if (line['source'] === 'revert' && typeof reverts === 'number') {
      const [deletion] = yield* load(log.deletions([{ recordId: id, seq: reverts }]))
      const life = deletion?.life ?? null
      if (life !== null) yield* load(db.change(deletionsUndone([life])))
    }
    const key = this.#change.newKey()
    const seq = this.#change.logTaken(text, key, this.#writtenBy(line, key, values))
    this.#insert({ id, key, seq, values })
  }

  #write(
    text: string,
    {
      line,
      record,
      values,
      previous,
    }: {
      readonly line: JsonObject
      readonly record: StoredRecord
      readonly values: JsonObject
      readonly previous: JsonObject
    },
  ): void {
    const { key, id } = record
    const written = Object.keys(values).map((name): Written => {
      const field = this.#fieldOf(name)
      if (field.primaryKey) throw this.#refused(`changes the id of the record ${showValue(id)}`)
      const value = memberOf(values, name)
      this.#expect(record, field, memberOf(previous, name))
      this.#check(id, field, value)
      return { field, value, previous: memberOf(previous, name) }
    })
    const fields = filledAndEmptied(Object.keys(values), values)
    const seq = this.#change.logTaken(text, key, { ...this.#writerOf(line, key), fields, isNew: false })
    const changed = written.filter(({ value, previous: before }) => !sameValue(value, before))
    if (changed.length > 0)
      this.#change.records.update(record, { fields: changed.map(({ field }) => field), values, seq })
    for (const cell of written) this.#setState(line, { record, seq, cell })
    for (const { field } of changed) this.#change.cells.inputWritten(field.name, key, seq)
  }

  /** Sets the state of a derived cell that was written. */
  #setState(
    line: JsonObject,
    {
      record: { key },
      seq,
      cell,
    }: { readonly record: StoredRecord; readonly seq: number; readonly cell: Written },
  ): void {
    const { cells } = this.#change
    const target = cells.target(cell.field.name)
    if (target === undefined) return
    const { input_hash: hash, field } = line
    if (typeof field === 'string' && typeof hash === 'string' && INPUT_HASH.test(hash))
      cells.restored(target, key, { hash: hashBytes(hash), seq })
    else cells.writtenByHand(target, key, { hasValue: cell.value !== null, seq })
  }

  #delete(
    text: string,
    { line, record }: { readonly line: JsonObject; readonly record: StoredRecord },
  ): void {
    const previous = objectOf(line['previous'])
    for (const field of this.#change.contract.fields) {
      if (!field.primaryKey) this.#expect(record, field, memberOf(previous, field.name))
    }
    const { key } = record
    const seq = this.#change.logTaken(text, key, { ...this.#writerOf(line, key), fields: null, isNew: false })
    this.#change.cells.deleted(key)
    this.#change.delete(record, seq)
  }

  *#review(
    text: string,
    {
      line,
      record,
      reviewed,
    }: { readonly line: JsonObject; readonly record: StoredRecord; readonly reviewed: string },
  ): Steps<void> {
    const field = this.#fieldOf(reviewed)
    this.#expect(record, field, line['value'] ?? null)
    const { key } = record
    const seq = this.#change.logTaken(text, key, null)
    yield* load(this.#change.db.change(endReviews(key, field.name)))
    const verdict = VERDICTS.find((one) => one === line['verdict'])
    if (verdict !== undefined) {
      const { note, actor, at } = line
      const row = { seq, key, field: field.name, verdict, note: textOf(note) || null }
      yield* load(this.#change.db.change(insertReview({ ...row, actor: textOf(actor), at: textOf(at) })))
    }
    this.#change.cells.reviewed()
  }

  #addProposal(
    text: string,
    { line, record }: { readonly line: JsonObject; readonly record: StoredRecord },
  ): void {
    this.#change.logTaken(text, record.key, null)
    const { actor, at, written_at: written, proposed, present } = line
    this.#proposed.push({
      id: record.id,
      actor: textOf(actor),
      at: textOf(written) || textOf(at),
      proposed: isJsonObject(proposed) ? proposed : null,
      present: objectOf(present),
    })
  }

  /** Makes proposals of those that no later line has decided: one for each actor and kind, as far as a proposal may have. */
  *#makeProposals(): Steps<Omit<TakenOver, 'lines'>> {
    const made: string[] = []
    let unproposed = 0
    const groups = Map.groupBy(yield* this.#undecided(), ({ actor, proposed }) =>
      JSON.stringify([actor, proposed === null]),
    )
    for (const group of groups.values()) {
      for (let start = 0; start < group.length; start += AT_ONCE) {
        const some = group.slice(start, start + AT_ONCE)
        const [first] = some
        if (first === undefined) continue
        const proposed =
          first.proposed === null
            ? { ids: some.map(({ id }) => id) }
            : { records: some.map(({ id, proposed: values }) => ({ ...values, id })) }
        const at = some.map((one) => one.at).toSorted()[some.length - 1]
        try {
          const order = { change: proposed, actor: first.actor, note: NOTE, at }
          made.push(yield* propose(this.#change, order))
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error
          unproposed += some.length
        }
      }
    }
    return { proposals: made, unproposed }
  }

  *#undecided(): Steps<ProposedLine[]> {
    yield* load(this.#change.load([...new Set(this.#proposed.map(({ id }) => id))]))
    return this.#proposed.flatMap((one) => {
      const record = this.#change.records.get(one.id)
      if (record === undefined) return []
      const isPresent = (name: string): boolean => {
        const field = this.#change.contract.fieldByName.get(name)
        return field !== undefined && sameValue(record.value(field), memberOf(one.present, name))
      }
      if (one.proposed === null) return Object.keys(one.present).every(isPresent) ? [one] : []
      const waiting = Object.entries(one.proposed).filter(([name]) => isPresent(name))
      return waiting.length === 0 ? [] : [{ ...one, proposed: Object.fromEntries(waiting) }]
    })
  }

  #fieldOf(name: string): Field {
    const field = this.#change.contract.fieldByName.get(name)
    if (field === undefined)
      throw this.#refused(`has a field ${showValue(name)}, which the contract does not have`)
    return field
  }

  #check(id: string, field: Field, value: JsonValue): void {
    const isEmpty = value === null && this.#change.cells.isDerived(field.name)
    const fault = isEmpty ? null : valueError(field, value)
    if (fault !== null) throw this.#refused(`record ${showValue(id)}, field "${field.name}": ${fault}`)
    if (field.unique && !field.primaryKey && value !== null)
      this.#claims.add({ field, id, index: this.#line, value })
  }

  #expect(record: StoredRecord, field: Field, previous: JsonValue): void {
    const value = record.value(field)
    if (sameValue(value, previous)) return
    throw this.#refused(
      `record ${showValue(record.id)}, field "${field.name}": the value before is ${showValue(previous)} in the line, and ${showValue(value)} here`,
    )
  }

  #writerOf(line: JsonObject, record: RecordKey): Pick<WrittenValues, 'record' | 'actor' | 'run'> {
    // The run is one of the other copy, and its number may be that of another run here.
    return { record, actor: textOf(line['actor']), run: null }
  }

  #refused(fault: string): NotTakenOver {
    return new NotTakenOver(`line ${this.#line} ${fault}`)
  }
}

/** Records of a proposal. */
const AT_ONCE = 1000

const NOTE = 'Written on another branch, while the record was changed here.'

function filledAndEmptied(names: readonly string[], values: JsonObject): WrittenValues['fields'] {
  const isFilled = (name: string): boolean => memberOf(values, name) !== null
  return { filled: names.filter(isFilled), emptied: names.filter((name) => !isFilled(name)) }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
