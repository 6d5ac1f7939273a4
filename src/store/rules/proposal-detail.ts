import type { Contract, Field } from '../../contract/contract.ts'
import { DERIVED_FIELDS, proposalById, proposedRecords } from '../rows/proposal-queries.ts'
import type { Query } from '../rows/query.ts'
import type {
  ProposalDetail,
  ProposalId,
  RecordDifference,
  StoredProposal,
  ProposedRecord,
} from '../stored-proposal.ts'
import { differenceOf, type PresentRecord } from './proposal-difference.ts'
import { load, type Loaded, type Steps } from './steps.ts'

/** The source of records with which a proposal is compared. */
export interface ProposalSource {
  readonly contract: Contract
  /** Records that are read and compared between two pauses. */
  readonly recordsAtOnce: number
  ask<T>(query: Query<T>): Loaded<T>
  /** Reads the existing ones of the records, by id, with the fields of {@link comparedFields} at least. */
  present(proposed: readonly ProposedRecord[]): Loaded<ReadonlyMap<string, PresentRecord>>
  pause(): Loaded<void>
}

/** Reads a proposal with its differences to the present records; null for an unknown id. */
export function* proposalDetail(source: ProposalSource, id: ProposalId): Steps<ProposalDetail | null> {
  for (;;) {
    const proposal = yield* load(source.ask(proposalById(id)))
    if (proposal === null) return null
    const records = yield* differencesOf(source, proposal)
    // Were it decided meanwhile, its own values would look like changes by others.
    if ((yield* load(source.ask(proposalById(id))))?.state === proposal.state) return { ...proposal, records }
  }
}

function* differencesOf(
  source: ProposalSource,
  { id, state, recordCount }: StoredProposal,
): Steps<RecordDifference[]> {
  const derived = yield* load(source.ask(DERIVED_FIELDS))
  const present = { contract: source.contract, isDerived: (field: string) => derived.has(field) }
  const records: RecordDifference[] = []
  while (records.length < recordCount) {
    if (records.length > 0) yield* load(source.pause())
    const page = { after: records.length - 1, limit: source.recordsAtOnce }
    const proposed = yield* load(source.ask(proposedRecords(id, page)))
    const now = yield* load(source.present(proposed))
    for (const record of proposed) {
      const difference = differenceOf(present, record, now.get(record.recordId) ?? null)
      records.push(state === 'waiting' ? difference : settled(difference))
    }
  }
  return records
}

/** Returns the fields that a difference compares; other present values, which may be long, are not needed. */
export function comparedFields({ fields }: Contract, { was, change }: ProposedRecord): readonly Field[] {
  if (change === null) return fields
  return fields.filter(({ name }) => Object.hasOwn(was, name) || Object.hasOwn(change, name))
}

/** Returns the difference without conflicts, which a decided proposal does not have. */
function settled(record: RecordDifference): RecordDifference {
  return { ...record, moved: null, fields: record.fields.map((field) => ({ ...field, moved: false })) }
}
