import { showValue } from '../../../contract/json/show-value.ts'
import { isJsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { checkMayDelete } from '../../../contract/rules/permissions.ts'
import type { Field } from '../../../contract/contract.ts'
import type { ErrorType } from '../../../errors/codes.ts'
import { failureGroup } from '../../../errors/failure-group.ts'
import { ConflictError, SheetError, ValidationError } from '../../../errors/service-error.ts'
import { withoutValues, type ErasedValues } from '../../../provenance/erased-line.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { ErasedCalls, Erasure, ErasureEntry, EraseRequest } from '../../erasure.ts'
import { FieldLineages } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import type { QueryParam, Statement } from '../../rows/query.ts'
import { hashBytes } from '../../rows/stored-rows.ts'
import { deleteRecord } from '../delete-records.ts'
import { LAST_PLACE } from '../recording/recording.ts'
import { load, type Loaded, type Steps } from '../steps.ts'
import type { StoreChange, StoredRecord } from '../store-change.ts'

/** A change that can replace lines of the log. */
export interface ErasingChange extends StoreChange {
  /** Returns the lines about a record in all its lives, those with other records and those of an imported log too. */
  linesOf(recordId: string, lives: readonly RecordKey[]): Loaded<readonly StoredText[]>
  /** Replaces the text of a line, whose leaf hash must stay the same ({@link withoutValues}). */
  replaceLine(line: StoredText): Loaded<void>
  /** Removes the values that a record keeps in columns of fields with an earlier type or name; returns whether it had any. */
  emptyKept(record: RecordKey, columns: ReadonlySet<string>): Loaded<boolean>
}

/** A line of the log. */
export interface StoredText {
  readonly seq: number
  readonly text: string
}

/** The text of a failure in place of one that can repeat erased values. */
const ERASED = 'the reason was erased with values of the record'

/** Hashes in a line by which the store finds results. */
const HASHES = /sha256:[0-9a-f]{64}/g

/**
 * Erases values of records, of all or none: present and earlier ones, from the log too, and all that was kept of the calls that they were
 * computed by. The line of an erasure names the lines from which values are gone. Throws PermissionDeniedError for an actor that may not
 * delete (D7), SheetError for a record or field that never existed, ValidationError for a field that must have a value, and ConflictError
 * during runs and for records with a waiting proposal.
 */
export function* erase(change: ErasingChange, request: EraseRequest): Steps<Omit<Erasure, 'isCompacted'>> {
  const { recordIds, actor, calls } = request
  checkMayDelete(change.contract, actor, 'erase values')
  yield* load(change.flush())
  yield* checkNoRun(change)
  const lineages = new FieldLineages(yield* load(change.db.query(FIELD_CHANGES)))
  const selection = { fields: fieldsOf(change, request), isWhole: request.fields === null, actor, lineages }
  const entries: ErasureEntry[] = []
  let lines = 0
  const lives: RecordKey[] = []
  for (const recordId of recordIds) {
    const own = yield* livesOf(change, recordId)
    lives.push(...own)
    const { seq, erased } = yield* eraseRecord(change, { recordId, lives: own }, selection)
    lines += erased
    if (seq !== null) entries.push({ recordId, seq })
  }
  // Once for all records: these go through whole tables.
  yield* forgetFailures(change, recordIds, lives)
  yield* forgetCalls(change, calls)
  return { entries, lines }
}

/** The values to erase of each record. */
interface Selection {
  readonly fields: readonly Field[]
  /** Whether the record is deleted too, with the values of fields that it has no more. */
  readonly isWhole: boolean
  readonly actor: string
  readonly lineages: FieldLineages
}

/** Erases values of a record; returns the seq of the line that says so, null where there was nothing, and the number of lines that had them. */
function* eraseRecord(
  change: ErasingChange,
  { recordId, lives }: { readonly recordId: string; readonly lives: readonly RecordKey[] },
  { fields, isWhole, actor, lineages }: Selection,
): Steps<{ readonly seq: number | null; readonly erased: number }> {
  yield* checkNoProposal(change, recordId)
  const record = change.records.get(recordId)
  if (record !== undefined && !isWhole) checkMayBeEmpty(change, fields)
  const names = new Set(fields.map(({ name }) => name))
  const erased: ErasedValues = {
    recordId,
    isErased: (name, seq) => isWhole || names.has(lineages.presentOf(name, seq) ?? ''),
  }
  const lines = yield* eraseLines(change, erased, lives)
  yield* forgetProposals(change, erased)
  yield* forgetNotes(change, lives, isWhole ? null : names)
  const filled = record === undefined ? [] : fields.filter((field) => record.value(field) !== null)
  const hadKept =
    record !== undefined && (yield* load(change.emptyKept(record.key, columnsOf(lineages, fields))))
  const isDeleted = record !== undefined && isWhole
  if (lines.length === 0 && filled.length === 0 && !hadKept && !isDeleted) return { seq: null, erased: 0 }
  const seq = change.logRecord(
    {
      actor,
      proposal: null,
      source: 'erase',
      recordId,
      fields,
      values: Object.fromEntries(fields.map(({ name }) => [name, null])),
      previous: () => null,
      erased: lines,
    },
    lives.at(-1) as RecordKey,
  )
  if (record !== undefined) {
    empty(change, { record, filled, seq })
    if (isWhole) yield* remove(change, recordId, actor)
  }
  return { seq, erased: lines.length }
}

/** Returns the columns that have had values of fields. */
function columnsOf(lineages: FieldLineages, fields: readonly Field[]): ReadonlySet<string> {
  const spans = fields.flatMap(({ name }) => lineages.of(name))
  return new Set(
    spans.flatMap(({ column, removedAs }) => [column, removedAs]).filter((name) => name !== null),
  )
}

/** Deletes a record that has no values any more. */
function* remove(change: StoreChange, recordId: string, actor: string): Steps<void> {
  yield* load(change.flush())
  yield* load(change.load([recordId]))
  const record = change.records.get(recordId)
  if (record !== undefined)
    deleteRecord(change, record, { actor, proposal: null, run: null, kept: undefined })
}

/** Returns the fields that a request names. */
function fieldsOf({ contract }: StoreChange, { fields }: EraseRequest): readonly Field[] {
  if (fields === null) return contract.fields.filter(({ primaryKey }) => !primaryKey)
  return fields.map((name) => {
    const field = contract.fieldByName.get(name)
    if (field === undefined) throw new SheetError(`no field ${showValue(name)}`, 'unknown_property')
    return field
  })
}

/** Throws ConflictError during a run. */
function* checkNoRun({ db }: StoreChange): Steps<void> {
  const run = yield* load(
    db.query({
      sql: `SELECT id FROM "$run" WHERE state = 'running' LIMIT 1`,
      params: [],
      result: ([row]) => row?.['id'],
    }),
  )
  if (run === undefined) return
  throw new ConflictError(
    `run ${Number(run)} has not ended, and could store results of calls with these values; wait for it, or cancel it`,
    'values_in_use',
  )
}

/** Throws ConflictError for a record with a waiting proposal. */
function* checkNoProposal({ db }: StoreChange, recordId: string): Steps<void> {
  const proposal = yield* load(
    db.query({
      sql: `SELECT id FROM "$proposal" JOIN "$proposal_record" ON id = proposal
        WHERE state = 'waiting' AND record_id = ?1 LIMIT 1`,
      params: [recordId],
      result: ([row]) => row?.['id'],
    }),
  )
  if (proposal === undefined) return
  throw new ConflictError(
    `proposal ${Number(proposal)} would change the record ${showValue(recordId)}; accept or reject it first`,
    'values_in_use',
  )
}

/** Loads a record, and returns the keys of its lives, oldest first. Throws SheetError for one that never existed. */
function* livesOf(change: StoreChange, recordId: string): Steps<readonly RecordKey[]> {
  yield* load(change.load([recordId]))
  const deleted = yield* load(
    change.db.query({
      sql: 'SELECT record FROM "$deleted" WHERE record_id = ?1 ORDER BY record',
      params: [recordId],
      result: (rows) => rows.map((row) => Number(row['record'])),
    }),
  )
  const record = change.records.get(recordId)
  const lives = record === undefined ? deleted : [...deleted, record.key]
  if (lives.length === 0) throw new SheetError(`no record ${showValue(recordId)}`, 'unknown_record')
  return lives
}

/** Throws ValidationError where a record would lack a value that it must have. */
function checkMayBeEmpty({ cells }: StoreChange, fields: readonly Field[]): void {
  // A derived field may stay empty until it is computed.
  const field = fields.find(({ name, required }) => required && !cells.isDerived(name))
  if (field === undefined) return
  throw new ValidationError(
    `field "${field.name}" must have a value; make it optional in the contract first, or erase whole records, without naming fields`,
  )
}

/** Erases values from lines of the log, and results of the calls in these lines from the cache; returns the seqs of the lines. */
function* eraseLines(
  change: ErasingChange,
  erased: ErasedValues,
  lives: readonly RecordKey[],
): Steps<readonly number[]> {
  const seqs: number[] = []
  for (const { seq, text } of yield* load(change.linesOf(erased.recordId, lives))) {
    const left = withoutValues(text, erased)
    if (left === null) continue
    yield* load(change.replaceLine({ seq, text: left }))
    for (const hash of new Set(text.match(HASHES)))
      yield* load(
        change.db.change({ sql: 'DELETE FROM "$cache" WHERE hash = ?1', params: [hashBytes(hash)] }),
      )
    seqs.push(seq)
  }
  return seqs
}

/** Removes what failures of records say. */
function* forgetFailures(
  { db }: StoreChange,
  recordIds: readonly string[],
  lives: readonly RecordKey[],
): Steps<void> {
  const runs = yield* load(
    db.query({
      sql: `SELECT DISTINCT run FROM "$run_failure" WHERE record_id IN (${places(recordIds, 0)})`,
      params: recordIds,
      result: (rows) => rows.map((row) => Number(row['run'])),
    }),
  )
  const types = yield* load(
    db.query({
      sql: `SELECT error_type FROM "$failure" WHERE record IN (${places(lives, 0)})
        UNION SELECT error_type FROM "$run_failure" WHERE record_id IN (${places(recordIds, lives.length)})`,
      params: [...lives, ...recordIds],
      result: (rows) => rows.map((row) => String(row['error_type']) as ErrorType),
    }),
  )
  if (types.length === 0) return
  // The last error of a field can be that of one of the records.
  yield* load(
    db.change({ sql: 'UPDATE "$target" SET last_error = ?1 WHERE last_error IS NOT NULL', params: [ERASED] }),
  )
  const set = 'error = ?1, detail = NULL, response_body = NULL, alike = ?2'
  for (const errorType of types) {
    const params = [ERASED, failureGroup({ error: ERASED, errorType }), errorType]
    yield* load(
      db.change({
        sql: `UPDATE "$failure" SET ${set} WHERE error_type = ?3 AND record IN (${places(lives, 3)})`,
        params: [...params, ...lives],
      }),
    )
    yield* load(
      db.change({
        sql: `UPDATE "$run_failure" SET ${set}, body = NULL
          WHERE error_type = ?3 AND record_id IN (${places(recordIds, 3)})`,
        params: [...params, ...recordIds],
      }),
    )
  }
  if (runs.length === 0) return
  const ofRuns = `run IN (${places(runs, 0)})`
  yield* load(
    db.change({
      sql: `DELETE FROM "$run_body" WHERE ${ofRuns}
        AND (run, hash) NOT IN (SELECT run, body FROM "$run_failure" WHERE ${ofRuns} AND body IS NOT NULL)`,
      params: runs,
    }),
  )
}

/** Erases values from proposals that are decided. */
function* forgetProposals({ db }: StoreChange, erased: ErasedValues): Steps<void> {
  const rows = yield* load(
    db.query({
      sql: `SELECT proposal, number, was, change, fields_seq FROM "$proposal_record" JOIN "$proposal" ON id = proposal WHERE record_id = ?1`,
      params: [erased.recordId],
      result: (found) => found,
    }),
  )
  for (const { proposal, number, was, change, fields_seq: seq } of rows) {
    const without = (text: unknown): string | null =>
      typeof text === 'string' ? withoutErased(text, erased, Number(seq)) : null
    yield* load(
      db.change({
        sql: 'UPDATE "$proposal_record" SET was = ?1, change = ?2 WHERE proposal = ?3 AND number = ?4',
        params: [without(was), without(change), Number(proposal), Number(number)],
      }),
    )
  }
}

function withoutErased(text: string, { isErased }: ErasedValues, seq: number): string {
  const values: unknown = JSON.parse(text)
  if (!isJsonObject(values)) return text
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(values).map(([name, value]): [string, JsonValue] => [
        name,
        name !== 'id' && isErased(name, seq) ? null : (value ?? null),
      ]),
    ),
  )
}

/** Removes recorded calls and the kept responses to them. Throws ConflictError where others were recorded meanwhile. */
function* forgetCalls({ db }: StoreChange, { requests, places: recorded, upTo }: ErasedCalls): Steps<void> {
  if ((yield* load(db.query(LAST_PLACE))) > upTo)
    throw new ConflictError(
      'calls were recorded meanwhile, perhaps with these values; try again',
      'values_in_use',
    )
  for (const key of requests)
    yield* load(db.change({ sql: 'DELETE FROM "$response" WHERE hash = ?1', params: [hashBytes(key)] }))
  for (const place of recorded)
    yield* load(db.change({ sql: 'DELETE FROM "$recorded" WHERE place = ?1', params: [place] }))
}

/** Removes the notes of reviews. */
function* forgetNotes(
  { db }: StoreChange,
  lives: readonly RecordKey[],
  fields: ReadonlySet<string> | null,
): Steps<void> {
  const ofFields = fields === null ? '' : `AND field IN (${places([...fields], lives.length)})`
  const forget: Statement = {
    sql: `UPDATE "$review" SET note = NULL WHERE record IN (${places(lives, 0)}) ${ofFields}`,
    params: [...lives, ...(fields ?? [])],
  }
  yield* load(db.change(forget))
}

/** Empties fields of a record. */
function empty(
  { records, cells }: StoreChange,
  {
    record,
    filled,
    seq,
  }: { readonly record: StoredRecord; readonly filled: readonly Field[]; readonly seq: number },
): void {
  const { key } = record
  const values = Object.fromEntries(filled.map(({ name }) => [name, null]))
  if (filled.length > 0) records.update(record, { fields: filled, values, seq })
  for (const { name } of filled) {
    const target = cells.target(name)
    if (target !== undefined) cells.writtenByHand(target, key, { hasValue: false, seq })
    cells.inputWritten(name, key, seq)
  }
}

/** Returns the places of parameters after the first ones. */
function places(params: readonly QueryParam[], before: number): string {
  return params.map((_, index) => `?${before + index + 1}`).join(', ')
}
