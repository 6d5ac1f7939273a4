import { showValue } from '../../contract/json/show-value.ts'
import { ConflictError, OperationError, ValidationError } from '../../errors/service-error.ts'
import {
  PROPOSAL_LIMITS,
  type ProposedChange,
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
