import { Type, type Static } from 'typebox'
import { ContractAnswer } from './definition/contract.ts'
import { RunPlanAnswer } from './runs/materialize.ts'
import { PermissionsAnswer } from './records/permissions.ts'
import { ProposalSummary } from './records/proposals.ts'
import { ProvenanceEntryAnswer } from './records/provenance.ts'
import { QueryAnswer } from './records/query.ts'
import { RecordAnswer, RecordListAnswer, UpsertRecordsAnswer } from './records/records.ts'
import { RevertAnswer } from './runs/revert.ts'
import { RunFailuresAnswer, RunSummary } from './runs/runs.ts'
import { CellStatesAnswer, StatusAnswer } from './runs/status.ts'

const numberOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })

/** The budget of an agent; present when the person who started the server set one. */
export const BudgetAnswer = Type.Object(
  {
    calls: Type.Integer({ description: 'Calls that runs of this server have started.' }),
    max_calls: numberOrNull('Maximum number of calls in all; null for no bound.'),
    calls_left: numberOrNull('Null for no bound.'),
    cost: Type.Number({ description: 'Dollars spent.' }),
    max_cost: numberOrNull('Maximum cost in all; null for no bound.'),
    cost_left: numberOrNull('Null for no bound.'),
  },
  {
    description:
      'Calls and cost of runs since the server started, and what is left; present when there is a bound.',
  },
)
export type BudgetAnswer = Static<typeof BudgetAnswer>

const budget = Type.Optional(BudgetAnswer)
const nextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'The cursor of the next page; null on the last.',
})

export const ContractToolAnswer = Type.Object({ contract: ContractAnswer })

const { format: _format, ...page } = RecordListAnswer.properties
export const RecordsToolAnswer = Type.Object(page)

export const RecordToolAnswer = Type.Object({
  record: RecordAnswer,
  version: Type.Union([Type.String(), Type.Null()], {
    description: 'For if_version of a write; null for an earlier state.',
  }),
})

const { truncated: _truncated, ...result } = QueryAnswer.properties
export const QueryToolAnswer = Type.Object({
  ...result,
  truncated: Type.Optional(
    Type.Literal(true, {
      description: 'Present when the result has more rows than limit, or than the server returns.',
    }),
  ),
})

const { read_only_definition: _readOnlyDefinition, ...permissions } = PermissionsAnswer.properties

/** The permissions of an agent. */
export const PermissionsToolAnswer = Type.Object({
  ...permissions,
  mode: Type.Union([Type.Literal('write'), Type.Literal('read-only'), Type.Literal('propose')], {
    description: 'The effect of writes: made at once, refused, or proposals that a person decides on.',
  }),
  definition: Type.Optional(
    Type.Literal(true, {
      description: 'Present when the agent may change the contract and the derivations.',
    }),
  ),
  budget,
})

export const StatusToolAnswer = Type.Object({ targets: StatusAnswer, budget })

export const CellStatesToolAnswer = Type.Object({ cells: CellStatesAnswer })

export const ProvenanceToolAnswer = Type.Object({
  entries: Type.Array(ProvenanceEntryAnswer, { description: 'Newest first.' }),
  has_more: Type.Boolean({
    description: 'Whether there are earlier entries; false without history.',
  }),
})

/** Agents read all schemas: this one has the members that they need to choose a group. */
export const FailureGroupsToolAnswer = Type.Object({
  cells: Type.Integer(),
  groups: Type.Array(
    Type.Object({ id: Type.String(), text: Type.String(), cells: Type.Integer(), record_id: Type.String() }),
  ),
})

export const PlanToolAnswer = Type.Object({ ...RunPlanAnswer.properties, budget })

export const MaterializeToolAnswer = Type.Object({
  run: RunSummary,
  failures: RunFailuresAnswer.properties.failures,
  failures_cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'For list_run_failures, which returns the rest; null when these are all.',
  }),
  budget,
})
export type MaterializeToolAnswer = Static<typeof MaterializeToolAnswer>

export const UpsertToolAnswer = Type.Object({
  ...UpsertRecordsAnswer.properties,
  version: Type.Union([Type.String(), Type.Null()], {
    description: 'The new version of the record, for a write of one record.',
  }),
})

export const ProposedToolAnswer = Type.Object({ proposal: ProposalSummary })
export type ProposedToolAnswer = Static<typeof ProposedToolAnswer>

export const RunsToolAnswer = Type.Object({ runs: Type.Array(RunSummary), next_cursor: nextCursor })

export const RestoreToolAnswer = Type.Object({
  restored: Type.Integer({ description: 'Number of restored records.' }),
})

export const RevertToolAnswer = Type.Object({
  ...RevertAnswer.properties,
  conflict_count: Type.Integer({ description: 'Number of conflicts; conflicts lists the first.' }),
})
export type RevertToolAnswer = Static<typeof RevertToolAnswer>
