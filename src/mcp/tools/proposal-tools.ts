import {
  getProposal,
  listProposals,
  propose,
  requireJsonRecords,
  type StoredProposal,
} from '../../sheet/writes/proposals.ts'
import {
  ProposalAnswer,
  ProposalListAnswer,
  toProposalAnswer,
  toProposalListAnswer,
  toProposalSummary,
} from '../../wire/records/proposals.ts'
import { ProposedToolAnswer } from '../../wire/tool-answers.ts'
import {
  ProposalInput,
  ProposalPageInput,
  ProposeDeleteInput,
  ProposeUpsertInput,
  TOOL_LIMIT,
} from '../../wire/tool-inputs.ts'
import { defineTool, READS, type ToolResult } from './tool.ts'
import { countText, moreText } from './count-text.ts'

/** Adds a proposal and changes no record; a repeated call adds another proposal. */
const PROPOSES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }

export const proposeUpsertTool = defineTool({
  name: 'upsert_records',
  title: 'Propose to insert or update records',
  description:
    'Proposes to insert records, or to merge them into those with the same id. Nothing changes until a person accepts the ' +
    'proposal, which is no longer possible if its records change before. get_proposal returns its state.',
  input: ProposeUpsertInput,
  output: ProposedToolAnswer,
  annotations: PROPOSES,
  async run({ records, note = null }, { sheet, actor }) {
    return waiting(await propose(sheet, { change: { records: requireJsonRecords(records) }, actor, note }))
  },
})

export const proposeDeleteTool = defineTool({
  name: 'delete_records',
  title: 'Propose to delete records',
  description: 'Proposes to delete records by id. Nothing changes until a person accepts the proposal.',
  input: ProposeDeleteInput,
  output: ProposedToolAnswer,
  annotations: PROPOSES,
  async run({ ids, note = null }, { sheet, actor }) {
    return waiting(await propose(sheet, { change: { ids }, actor, note }))
  },
})

export const listProposalsTool = defineTool({
  name: 'list_proposals',
  title: 'List proposals',
  description: 'Lists proposed changes, newest first: those that wait for a decision, and decided ones.',
  input: ProposalPageInput,
  output: ProposalListAnswer,
  annotations: READS,
  async run({ state = null, limit = TOOL_LIMIT, cursor = null }, { sheet }) {
    const answer = toProposalListAnswer(await listProposals(sheet, { state, limit, cursor }))
    return {
      structured: answer,
      text: `${countText(answer.proposals.length, 'proposal')}, newest first; waiting in all: ${answer.waiting}.${moreText(answer)}`,
    }
  },
})

export const getProposalTool = defineTool({
  name: 'get_proposal',
  title: 'Get a proposal',
  description: 'Returns one proposal: its changes, its state, and the decision with its reason.',
  input: ProposalInput,
  output: ProposalAnswer,
  annotations: READS,
  async run({ id, limit = TOOL_LIMIT }, { sheet }) {
    const { records, definition, ...proposal } = toProposalAnswer(await getProposal(sheet, id))
    const shown = records.slice(0, limit)
    const more = shown.length < records.length ? ` The first ${shown.length}; a higher limit shows more.` : ''
    const paths = definition?.files.map(({ path }) => path).join(', ')
    const about =
      paths === undefined ? `It is about ${proposal.record_count} records.` : `It changes ${paths}.`
    const reason = proposal.reason === null ? '' : `: ${proposal.reason}`
    return {
      structured: { ...proposal, records: shown, ...(definition !== undefined && { definition }) },
      text: `Proposal ${id} is ${proposal.state}${reason}. ${about}${more}`,
    }
  },
})

function waiting(stored: StoredProposal): ToolResult<ProposedToolAnswer> {
  const proposal = toProposalSummary(stored)
  return {
    structured: { proposal },
    text: `Proposal ${proposal.id} about ${proposal.record_count} records waits for a person. Nothing has changed yet.`,
  }
}
