import { Type, type Static } from 'typebox'
import { closedObject } from './schema/closed-object.ts'
import { DIALECT } from './schema/dialect.ts'
import { MaterializeBody } from './runs/materialize.ts'
import { QueryBody } from './records/query.ts'
import { RevertBody } from './runs/revert.ts'

/** Default and maximum number of items in a tool result: an agent reads every one of them. */
export const TOOL_LIMIT = 20
export const TOOL_LIMIT_MAX = 1000

const limit = Type.Integer({
  minimum: 1,
  maximum: TOOL_LIMIT_MAX,
  default: TOOL_LIMIT,
  title: `a whole number from 1 to ${TOOL_LIMIT_MAX}`,
  description: `Maximum number of items (default: ${TOOL_LIMIT}).`,
})
const cursor = Type.String({
  description: 'The next_cursor of the previous result; the other arguments as in that call.',
})
const fields = Type.Array(Type.String(), {
  title: 'an array of field names',
  description: 'Only these fields, in this order, to keep results small.',
})
const filter = Type.String({
  description: `A boolean SQL expression over the fields (${DIALECT}), such as continent = 'Europe' AND rate IS NULL.`,
})
const where = Type.Object(
  {},
  {
    title: 'a condition, an object',
    description: '{"state": ["failed"], "fields": […]}, {"review": ["flagged"]}, or as in GET /api/records.',
  },
)
const asOf = Type.String({
  description:
    'A seq of the provenance log, or a time in ISO 8601 with offset: returns the sheet as it was then.',
})
const recordId = Type.String({
  minLength: 1,
  title: 'a record id, a string',
  description: 'The id of the record, a string.',
})
const target = Type.String({ minLength: 1, title: 'a field name', description: 'A derived field.' })
const targets = Type.Array(Type.String(), {
  title: 'an array of field names',
  description: 'Only these derived fields; all when absent.',
})
const runId = Type.String({
  minLength: 1,
  title: 'a run id, a string',
  description: 'The id of a run, a string; list_runs returns them.',
})
const ids = (description: string) =>
  Type.Array(Type.String(), {
    minItems: 1,
    maxItems: TOOL_LIMIT_MAX,
    title: 'an array of record ids, which are strings',
    description,
  })

/** Input of tools without arguments. */
export const NoInput = closedObject({})

export const ContractInput = closedObject({ fields: Type.Optional(fields) })

export const ListRecordsInput = closedObject({
  fields: Type.Optional(fields),
  filter: Type.Optional(filter),
  where: Type.Optional(where),
  sort: Type.Optional(
    Type.Array(Type.String(), {
      title: 'an array of field names',
      description:
        'Fields to sort by, with a leading minus for descending order. Creation order when absent.',
    }),
  ),
  limit: Type.Optional(limit),
  cursor: Type.Optional(cursor),
  as_of: Type.Optional(asOf),
})

export const GetRecordInput = closedObject({
  id: recordId,
  fields: Type.Optional(fields),
  as_of: Type.Optional(asOf),
})

const { sql, params } = QueryBody.properties

export const QueryInput = closedObject({ sql, params, limit: Type.Optional(limit) })

export const SummaryInput = closedObject({
  fields: Type.Optional(
    Type.Array(Type.String(), {
      title: 'an array of field names',
      description: 'The fields to summarize; only the count when absent.',
    }),
  ),
  filter: Type.Optional(filter),
})

export const StatusInput = closedObject({ targets: Type.Optional(targets) })

export const CellStatesInput = closedObject({ ids: ids('The records.'), targets: Type.Optional(targets) })

export const ExplainCellInput = closedObject({ record_id: recordId, target })

export const ProvenanceInput = closedObject({
  record_id: recordId,
  field: Type.String({ minLength: 1, title: 'a field name', description: 'Any field of the contract.' }),
  history: Type.Optional(Type.Boolean({ description: 'True for all entries; otherwise only the latest.' })),
  limit: Type.Optional(limit),
})

/** Input of tools that return a page of a list. */
export const PageInput = closedObject({ limit: Type.Optional(limit), cursor: Type.Optional(cursor) })

export const RunInput = closedObject({ id: runId })

export const RunPageInput = closedObject({ id: runId, ...PageInput.properties })

export const RunFailuresInput = closedObject({
  ...RunPageInput.properties,
  group: Type.Optional(
    Type.String({
      title: 'the id of a group',
      description: 'Of group_failures.',
    }),
  ),
})

export const GroupFailuresInput = closedObject({
  where: Type.Optional(where),
  run_id: Type.Optional(
    Type.String({
      title: 'the id of a run',
      description: 'Those that failed in this run; not with where.',
    }),
  ),
})

const {
  actor: _actor,
  dry_run: _dryRun,
  keep_fresh: _keepFresh,
  force,
  overwrite_manual: _overwriteManual,
  ...bounds
} = MaterializeBody.properties

const selection = {
  ...bounds,
  stop_after_failures: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 20,
      title: 'a whole number, at least 0',
      description:
        'Consecutive failures at one host that end the run; a 401, 402 or 403 ends it at once (default: 20; 0: never).',
    }),
  ),
}

const anew = {
  force,
  overwrite_manual: Type.Optional(Type.Boolean({ description: 'With force: overwrite manual values too.' })),
}

export const PlanInput = closedObject({ ...selection, ...anew })

const background = Type.Optional(
  Type.Boolean({
    description:
      'Return as soon as the run has started; follow it with get_run. For runs that outlast a tool call.',
  }),
)

export const MaterializeInput = closedObject({ ...selection, ...anew, background })

/** The same without `force`: computes pending cells only and overwrites no manual values. */
export const ProposedMaterializeInput = closedObject({ ...selection, background })

const version = Type.String({
  description:
    'The version from get_record, for a write of one record: refused if the record has changed since.',
})
const note = Type.String({
  maxLength: 2000,
  title: 'a text of up to 2000 characters',
  description: 'A note for the person who decides.',
})
const records = Type.Array(Type.Record(Type.String(), Type.Unknown()), {
  minItems: 1,
  maxItems: TOOL_LIMIT_MAX,
  title: 'an array of records',
  description:
    'Records, each with its id, a string. An id that exists is merged: absent fields keep their value, null clears a field. All or nothing.',
})

export const UpsertInput = closedObject({ records, if_version: Type.Optional(version) })
export const ProposeUpsertInput = closedObject({ records, note: Type.Optional(note) })

const toDelete = ids('The records to delete; ids that do not exist are no error.')

export const DeleteInput = closedObject({ ids: toDelete, if_version: Type.Optional(version) })
export const ProposeDeleteInput = closedObject({ ids: toDelete, note: Type.Optional(note) })

export const ProposalPageInput = closedObject({
  state: Type.Optional(
    Type.Union([Type.Literal('waiting'), Type.Literal('accepted'), Type.Literal('rejected')], {
      title: 'waiting, accepted or rejected',
      description: 'Only proposals in this state.',
    }),
  ),
  ...PageInput.properties,
})

export const ProposalInput = closedObject({
  id: Type.String({
    minLength: 1,
    title: 'a proposal id, a string',
    description: 'A string; list_proposals returns them.',
  }),
  limit: Type.Optional(limit),
})

export const RevertRunInput = closedObject({ run_id: runId })

const { seq } = RevertBody.anyOf[1].properties

export const RevertCellInput = closedObject({
  record_id: recordId,
  field: Type.String({ minLength: 1, title: 'a field name', description: 'The field of the cell.' }),
  seq: Type.Integer({
    ...seq,
    description: 'The seq of the entry to undo, from get_provenance.',
  }),
})

export const RestoreInput = closedObject({
  ids: ids('The deleted records.'),
  seq: Type.Optional(
    Type.Integer({
      ...seq,
      description: 'For one record: the entry that deleted it; the latest when absent.',
    }),
  ),
})

export type PlanInput = Static<typeof PlanInput>
export type MaterializeInput = Static<typeof MaterializeInput>
