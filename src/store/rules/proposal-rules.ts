import { showValue } from '../../contract/json/show-value.ts'
import { ConflictError, OperationError, SheetError, ValidationError } from '../../errors/service-error.ts'
import {
  PROPOSAL_LIMITS,
  type Decision,
  type PartDecisions,
  type ProposalPart,
  type ProposedChange,
  type ProposedRecord,
  type RecordDifference,
  type RecordMove,
  type StoredProposal,
  type WaitingProposals,
} from '../stored-proposal.ts'
import { Violations } from './upsert-body.ts'

/** Throws ValidationError for more records than a proposal may have. */
export function checkProposedCount(change: ProposedChange): void {
  const count = 'records' in change ? change.records.length : 'ids' in change ? change.ids.length : 0
  if (count <= PROPOSAL_LIMITS.records) return
  throw new ValidationError(
    `a proposal has at most ${PROPOSAL_LIMITS.records} records, got ${count}; propose them in parts`,
    'proposal_too_large',
  )
}

const NOTHING_TO_DO = {
  upsert: 'there is nothing to propose: every record has these values already',
  delete: 'there is nothing to propose: none of these records exists',
  definition: 'there is nothing to propose: the files have these texts already',
} as const

/** Returns the error for a proposal that would change nothing. */
export function nothingToPropose(kind: StoredProposal['kind']): OperationError {
  return new OperationError(NOTHING_TO_DO[kind], 'nothing_to_do')
}

/** Throws ValidationError for a proposal that is too large, ConflictError where too many wait. */
export function checkRoom(bytes: number, { waiting, bytes: taken }: WaitingProposals): void {
  const { bytes: most, waiting: mostWaiting, waitingBytes } = PROPOSAL_LIMITS
  if (bytes > most) {
    throw new ValidationError(
      `a proposal takes at most ${most} bytes with the values that it replaces, and this one takes ${bytes}; propose it in parts`,
      'proposal_too_large',
    )
  }
  if (waiting < mostWaiting && taken + bytes <= waitingBytes) return
  throw new ConflictError(
    `${waiting} proposals of ${taken} bytes wait already, and there is room for ${mostWaiting} of ${waitingBytes}; ` +
      'have some of them accepted or rejected first',
    'too_many_proposals',
  )
}

/** Throws ConflictError for a proposal that is decided. */
export function checkWaiting({ id, state, decidedBy, decidedAt }: StoredProposal): void {
  if (state === 'waiting') return
  throw new ConflictError(
    `proposal ${id} does not wait any more: ${JSON.stringify(decidedBy)} ${state} it at ${decidedAt}; nothing was changed`,
    'proposal_decided',
  )
}

const MOVES: Readonly<Record<Exclude<RecordMove, 'changed'>, string>> = {
  created: 'exists by now',
  deleted: 'has been deleted',
  recreated: 'has been deleted and created again',
}

/** Throws ConflictError, naming them, where records have changed since the proposal `id` was made. */
export function refuseMoved(id: string, records: readonly RecordDifference[]): void {
  const conflicts = new Violations()
  for (const { recordId, moved, fields } of records) {
    const record = `record ${showValue(recordId)}`
    if (moved === null) continue
    if (moved !== 'changed') {
      conflicts.add(() => `${record} ${MOVES[moved]}`)
      continue
    }
    for (const { field, was, now } of fields.filter((difference) => difference.moved)) {
      conflicts.add(
        () => `${record}, field "${field}": was ${showValue(was)} then and is ${showValue(now)} now`,
      )
    }
  }
  if (conflicts.count === 0) return
  throw new ConflictError(
    `the records have moved since proposal ${id} was made, and nothing was changed: ${conflicts.message()}; ` +
      'reject it, and have it proposed again for what they are now',
    'proposal_outdated',
  )
}

/** Stands for the whole record, where it is to be deleted, or created without values. */
const WHOLE = 'id'

/** Returns the parts of a proposed record that are decided: the fields of its change, or `id` for the whole record. */
function partsOf({ change }: ProposedRecord): readonly string[] {
  const fields = Object.keys(change ?? {})
  return fields.length === 0 ? [WHOLE] : fields
}

/** Returns the parts of a proposed record that wait. */
export function waitingParts(record: ProposedRecord): readonly string[] {
  return partsOf(record).filter((part) => decisionIn(record, part) === null)
}

/** Returns the decision on a field of a proposed record; null while it waits. */
export function decisionOnPart(record: ProposedRecord, field: string): Decision | null {
  return decisionIn(record, record.change === null ? WHOLE : field)
}

/** Returns the decision on a record of which no part waits. */
export function decisionOn({ decided }: Pick<ProposedRecord, 'decided'>): Decision {
  return Object.values(decided).includes('accepted') ? 'accepted' : 'rejected'
}

function decisionIn({ decided }: ProposedRecord, part: string): Decision | null {
  return Object.hasOwn(decided, part) ? (decided[part] ?? null) : null
}

/** A proposed record and the parts of it that are decided now. */
export interface ChosenRecord<R> {
  readonly proposed: R
  readonly parts: readonly string[]
}

/**
 * Returns the parts of a proposal that a decision is on; null for all that waits. Throws SheetError for a record and ValidationError for
 * a field that it does not have, ConflictError for a part that is decided.
 */
export function chooseParts<R extends { readonly record: ProposedRecord }>(
  id: string,
  proposed: readonly R[],
  chosen: readonly ProposalPart[] | null,
): readonly ChosenRecord<R>[] {
  if (chosen === null) {
    return proposed
      .map((one) => ({ proposed: one, parts: waitingParts(one.record) }))
      .filter(({ parts }) => parts.length > 0)
  }
  const byId = new Map(proposed.map((one) => [one.record.recordId, one]))
  const found = new Map<R, Set<string>>()
  for (const { recordId, fields } of chosen) {
    const one = byId.get(recordId)
    if (one === undefined) {
      throw new SheetError(`proposal ${id} has no record ${showValue(recordId)}`, 'unknown_record')
    }
    const parts = fields === null ? waitingParts(one.record) : chosenFields(id, one.record, fields)
    if (parts.length === 0) throw partDecided(id, recordId, null)
    const all = found.get(one) ?? new Set()
    for (const part of parts) all.add(part)
    found.set(one, all)
  }
  return [...found].map(([one, parts]) => ({ proposed: one, parts: [...parts] }))
}

function chosenFields(id: string, record: ProposedRecord, fields: readonly string[]): readonly string[] {
  const known = new Set(partsOf(record))
  for (const field of fields) {
    if (known.has(field)) {
      if (decisionIn(record, field) !== null) throw partDecided(id, record.recordId, field)
      continue
    }
    const why =
      record.change === null
        ? `proposal ${id} deletes record ${showValue(record.recordId)}, which is decided as a whole; leave its fields out`
        : `proposal ${id} does not change field ${showValue(field)} of record ${showValue(record.recordId)}`
    throw new ValidationError(why, 'unknown_field')
  }
  return fields
}

function partDecided(id: string, recordId: string, field: string | null): ConflictError {
  const what = field === null ? '' : `, field ${showValue(field)}`
  return new ConflictError(
    `record ${showValue(recordId)}${what} of proposal ${id} does not wait any more; nothing was changed`,
    'proposal_decided',
  )
}

/** Returns a proposed record with these of its parts alone. */
export function onlyParts(record: ProposedRecord, parts: readonly string[]): ProposedRecord {
  const { was, change } = record
  if (change === null) return record
  const chosen = new Set(parts)
  const only = <T>(values: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(values).filter(([name]) => chosen.has(name)))
  return { ...record, was: only(was), change: only(change) }
}

/** Returns the decisions on a record with one on these parts. */
export function withDecision(
  decided: PartDecisions,
  parts: readonly string[],
  decision: Decision,
): PartDecisions {
  return { ...decided, ...Object.fromEntries(parts.map((part) => [part, decision])) }
}
