import {
  acceptProposal,
  getProposal,
  listProposals,
  rejectProposal,
} from '../../../sheet/writes/proposals.ts'
import {
  toProposalAnswer,
  toProposalListAnswer,
  toProposalSummary,
  type FieldDifferenceAnswer,
  type ProposalAnswer,
  type ProposalSummary,
  type RecordDifferenceAnswer,
} from '../../../wire/records/proposals.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { membersOf } from '../../terminal/object-lines.ts'
import { Pages } from '../../terminal/pages.ts'
import { printPages } from '../../terminal/print-pages.ts'
import { recordsText } from '../../terminal/progress-line.ts'
import { tableOf, toSeconds, type Column } from '../../terminal/table.ts'
import type { Screen, Style } from '../../terminal/terminal.ts'
import { UsageError } from '../../options/usage-error.ts'
import { writerOf } from '../../options/required-actor.ts'

export interface WhichProposals {
  /** The proposal; null lists them. */
  readonly id: string | null
  /** The decision on the proposal; null shows it. */
  readonly decision: 'accept' | 'reject' | null
  readonly reason: string | null
  /** Whether to ask for confirmation at a terminal. */
  readonly ask: boolean
  readonly state: string | null
  /** The number of proposals; infinite for all. */
  readonly limit: number
  readonly cursor: string | null
}

/** Lists proposals, shows one, or decides it. Throws as reading and deciding proposals do, and UsageError. */
export async function runProposals(context: CommandContext, which: WhichProposals): Promise<ExitCode | void> {
  const { id, decision, reason } = which
  if (reason !== null && decision !== 'reject') throw new UsageError('--reason requires --reject')
  if (id === null) {
    if (decision === null) return printList(context, which)
    throw new UsageError('no proposal is given; `colophon proposals <sheet>` lists their numbers')
  }
  if (decision !== null) return decide(context, { ...which, id, decision })
  const answer = toProposalAnswer(await getProposal(context.sheet, id))
  await context.out.print(answer, (screen) => proposalText(answer, screen))
}

async function decide(
  { sheet, out }: CommandContext,
  {
    id,
    decision,
    reason,
    ask,
  }: WhichProposals & { readonly id: string; readonly decision: 'accept' | 'reject' },
): Promise<ExitCode> {
  const actor = writerOf(sheet)
  if (ask && canAsk()) {
    const found = toProposalAnswer(await getProposal(sheet, id))
    out.note(proposalText(found, out.screen))
    const answer = await confirm(`${decision === 'accept' ? 'Accept' : 'Reject'} proposal ${id}?`)
    if (answer !== 'yes') {
      out.note('Nothing was decided.')
      return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
    }
  }
  const decided = toProposalSummary(
    decision === 'accept'
      ? await acceptProposal(sheet, { id, actor })
      : await rejectProposal(sheet, { id, actor, reason }),
  )
  await out.print(
    decided,
    () => `Proposal ${decided.id} ${decided.state}: ${decided.kind} of ${recordsText(decided.record_count)}`,
  )
  return EXIT.done
}

async function printList(
  { sheet, out }: CommandContext,
  { state, limit, cursor }: WhichProposals,
): Promise<void> {
  let waiting = 0
  const pages = new Pages<ProposalSummary>(async (page) => {
    const answer = toProposalListAnswer(await listProposals(sheet, { ...page, state }))
    waiting = answer.waiting
    return { items: answer.proposals, nextCursor: answer.next_cursor }
  }, cursor)
  await printPages(out, pages, {
    limit,
    member: 'proposals',
    beside: () => ({ waiting }),
    columns: PROPOSAL_COLUMNS,
    none: state === null ? 'no proposals yet' : `no proposal is ${state}`,
  })
}

const STATE_STYLES: Readonly<Record<ProposalSummary['state'], Style>> = {
  waiting: 'cyan',
  accepted: 'green',
  rejected: 'yellow',
}

const PROPOSAL_COLUMNS: readonly Column<ProposalSummary>[] = [
  { header: 'proposal', value: ({ id }) => id, align: 'right' },
  { header: 'state', value: ({ state }) => state, style: ({ state }) => STATE_STYLES[state] },
  { header: 'kind', value: ({ kind }) => kind },
  { header: 'records', value: ({ record_count: count }) => count },
  { header: 'by', value: ({ proposed_by: by }) => by },
  { header: 'at', value: ({ proposed_at: at }) => toSeconds(at) },
  { header: 'note', value: ({ note }) => note },
  { header: 'decided by', value: ({ decided_by: by }) => by },
  { header: 'reason', value: ({ reason }) => reason },
]

/** A field of a record that a proposal changes. */
interface Line {
  readonly record: RecordDifferenceAnswer
  /** The field; null for a record without changed fields. */
  readonly field: FieldDifferenceAnswer | null
}

function proposalText({ records, ...summary }: ProposalAnswer, screen: Screen): string {
  const lines = records.flatMap((record): Line[] =>
    record.fields.length === 0
      ? [{ record, field: null }]
      : record.fields.map((field) => ({ record, field })),
  )
  const differences = tableOf(DIFFERENCE_COLUMNS, lines, screen)
  return `${membersOf(withoutNulls(summary), screen)}\n\n${differences}`
}

function withoutNulls(summary: ProposalSummary): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(summary).filter(([, value]) => value !== null))
}

const DIFFERENCE_COLUMNS: readonly Column<Line>[] = [
  { header: 'record', value: ({ record }) => record.record_id },
  { header: 'change', value: ({ record }) => record.change },
  { header: 'field', value: ({ field }) => field?.field },
  { header: 'now', value: ({ field }) => field?.now },
  { header: 'proposed', value: ({ field }) => field?.proposed },
  {
    header: 'moved since',
    value: ({ record, field }) => (field === null || field.moved ? record.moved : null),
    style: () => 'yellow',
  },
]
