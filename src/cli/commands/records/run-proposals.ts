import {
  acceptProposal,
  getProposal,
  listProposals,
  planProposal,
  rejectProposal,
  type ProposalPart,
} from '../../../sheet/writes/proposals.ts'
import { toProposalPlanAnswer, type ProposalPlanAnswer } from '../../../wire/definition/proposal-plan.ts'
import {
  toProposalAnswer,
  toProposalListAnswer,
  toProposalSummary,
  type DefinitionDifferenceAnswer,
  type FieldDifferenceAnswer,
  type ProposalAnswer,
  type ProposalSummary,
  type RecordDifferenceAnswer,
} from '../../../wire/records/proposals.ts'
import { ServiceError } from '../../../errors/service-error.ts'
import type { Sheet } from '../../../sheet/sheet.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { membersOf } from '../../terminal/object-lines.ts'
import { Pages } from '../../terminal/pages.ts'
import { printPages } from '../../terminal/print-pages.ts'
import { recordsText } from '../../terminal/progress-line.ts'
import { tableOf, toSeconds, type Column } from '../../terminal/table.ts'
import type { Screen, Style } from '../../terminal/terminal.ts'
import { changeText } from '../definition/change-text.ts'
import { editLines } from '../definition/field-text.ts'
import { visibleText } from '../../terminal/visible-text.ts'
import { UsageError } from '../../options/usage-error.ts'
import { writerOf } from '../../options/required-actor.ts'

export interface WhichProposals {
  /** The proposal; null lists them. */
  readonly id: string | null
  /** The decision on the proposal; null shows it. */
  readonly decision: 'accept' | 'reject' | null
  readonly reason: string | null
  /** The records and the fields that are decided; null for all. */
  readonly ids: readonly string[] | null
  readonly fields: readonly string[] | null
  /** The numbers of values that may be lost, by the names of fields that a proposed definition removes. */
  readonly confirm: ReadonlyMap<string, number>
  /** Whether to ask for confirmation at a terminal. */
  readonly ask: boolean
  readonly state: string | null
  /** The number of proposals; infinite for all. */
  readonly limit: number
  readonly cursor: string | null
}

/** Lists proposals, shows one, or decides it. Throws as reading and deciding proposals do, and UsageError. */
export async function runProposals(context: CommandContext, which: WhichProposals): Promise<ExitCode | void> {
  const { id, decision, reason, ids, fields } = which
  if (reason !== null && decision !== 'reject') throw new UsageError('--reason requires --reject')
  if ((ids !== null || fields !== null) && decision === null) {
    throw new UsageError(`${ids === null ? '--fields' : '--ids'} requires --accept or --reject`)
  }
  if (id === null) {
    if (decision === null) return printList(context, which)
    throw new UsageError('no proposal is given; `colophon proposals <sheet>` lists their numbers')
  }
  if (decision !== null) return decide(context, { ...which, id, decision })
  const { answer, plan } = await readProposal(context.sheet, id)
  const shown = answer.definition === undefined ? answer : { ...answer, ...plan }
  await context.out.print(shown, (screen) => proposalText({ answer, plan }, screen))
}

/** The plan of a change of the definition that waits, or why it cannot be accepted; neither for another proposal. */
interface Plan {
  readonly plan?: ProposalPlanAnswer
  readonly refused?: string
}

async function readProposal(
  sheet: Sheet,
  id: string,
): Promise<{ readonly answer: ProposalAnswer; readonly plan: Plan }> {
  const answer = toProposalAnswer(await getProposal(sheet, id))
  if (answer.definition === undefined || answer.state !== 'waiting') return { answer, plan: {} }
  try {
    return { answer, plan: { plan: toProposalPlanAnswer(await planProposal(sheet, id)) } }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { answer, plan: { refused: error.message } }
  }
}

async function decide(
  { sheet, out }: CommandContext,
  {
    id,
    decision,
    reason,
    confirm: confirmed,
    ask,
    ...which
  }: WhichProposals & { readonly id: string; readonly decision: 'accept' | 'reject' },
): Promise<ExitCode> {
  const actor = writerOf(sheet)
  const parts = await partsOf(sheet, id, which)
  let shown: ProposalPlanAnswer | undefined
  if (ask && canAsk()) {
    const found = await readProposal(sheet, id)
    shown = found.plan.plan
    out.note(proposalText(found, out.screen))
    const answer = await confirm(
      `${decision === 'accept' ? 'Accept' : 'Reject'} ${partText(parts)}proposal ${id}?`,
    )
    if (answer !== 'yes') {
      out.note('Nothing was decided.')
      return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
    }
  }
  const decided = toProposalSummary(
    decision === 'accept'
      ? await acceptProposal(sheet, { id, actor, parts, confirm: new Map([...lostIn(shown), ...confirmed]) })
      : await rejectProposal(sheet, { id, actor, reason, parts }),
  )
  await out.print(decided, () =>
    decided.kind === 'definition'
      ? `Proposal ${decided.id} ${decided.state}: a change of the definition`
      : decided.state === 'waiting'
        ? `Proposal ${decided.id}: ${parts?.length === 1 ? 'a part' : 'parts'} of ${recordsText(parts?.length ?? 0)} ${decision}ed; the others wait`
        : `Proposal ${decided.id} ${decided.state}: ${decided.kind} of ${recordsText(decided.record_count)}`,
  )
  return EXIT.done
}

/** Returns the parts of a proposal that wait in these records and fields; null for all that waits. Throws UsageError for none. */
async function partsOf(
  sheet: Sheet,
  id: string,
  { ids, fields }: Pick<WhichProposals, 'ids' | 'fields'>,
): Promise<readonly ProposalPart[] | null> {
  if (fields === null) return ids?.map((recordId) => ({ recordId, fields: null })) ?? null
  const { records } = await getProposal(sheet, id)
  const parts = records
    .filter(({ recordId }) => ids === null || ids.includes(recordId))
    .map(({ recordId, fields: changed }) => {
      const waiting = changed.filter(({ field, decision }) => fields.includes(field) && decision === null)
      return { recordId, fields: waiting.map(({ field }) => field) }
    })
    .filter((part) => part.fields.length > 0)
  if (parts.length > 0) return parts
  throw new UsageError(
    `of proposal ${id}, none of these fields wait; \`colophon proposals <sheet> ${id}\` shows it`,
  )
}

function partText(parts: readonly ProposalPart[] | null): string {
  return parts === null ? '' : `what you chose of ${recordsText(parts.length)} of `
}

/** Returns the numbers of values that a plan, which a person has seen, says are lost. */
function lostIn(plan: ProposalPlanAnswer | undefined): readonly (readonly [string, number])[] {
  const removed = plan?.fields.filter(({ change }) => change === 'removed') ?? []
  return removed.map(({ field, lost }) => [field, lost] as const)
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

interface ShownProposal {
  readonly answer: ProposalAnswer
  readonly plan: Plan
}

function proposalText({ answer, plan }: ShownProposal, screen: Screen): string {
  const { records, definition, ...summary } = answer
  if (definition !== undefined) {
    const { record_count: _, ...known } = withoutNulls(summary)
    return [membersOf(known, screen), '', ...definitionLines(definition, plan, screen)].join('\n')
  }
  const lines = records.flatMap((record): Line[] =>
    record.fields.length === 0
      ? [{ record, field: null }]
      : record.fields.map((field) => ({ record, field })),
  )
  const differences = tableOf(DIFFERENCE_COLUMNS, lines, screen)
  return `${membersOf(withoutNulls(summary), screen)}\n\n${differences}`
}

function definitionLines(
  { edits, files }: DefinitionDifferenceAnswer,
  { plan, refused }: Plan,
  screen: Screen,
): readonly string[] {
  const uses = plan?.resources.map(({ type, name }) => `${type} ${name}`) ?? []
  const moved = files.filter((file) => file.moved).map(({ path }) => path)
  return [
    ...editLines(edits, screen),
    '',
    ...(moved.length > 0 ? [`changed since it was proposed: ${visibleText(moved.join(', '))}`] : []),
    ...(refused === undefined
      ? []
      : [`${screen.paint('red', 'It cannot be accepted')}: ${visibleText(refused)}`]),
    ...(uses.length > 0 ? [`${screen.paint('yellow', 'New')}: ${visibleText(uses.join(', '))}`] : []),
    ...(plan !== undefined && plan.secrets.length > 0
      ? [`${screen.paint('yellow', 'New secrets')}: ${visibleText(plan.secrets.join(', '))}`]
      : []),
    ...(plan === undefined ? [] : [changeText(plan, screen)]),
  ]
}

function withoutNulls<T extends object>(summary: T): Partial<T> {
  return Object.fromEntries(Object.entries(summary).filter(([, value]) => value !== null)) as Partial<T>
}

const DIFFERENCE_COLUMNS: readonly Column<Line>[] = [
  { header: 'record', value: ({ record }) => record.record_id },
  { header: 'change', value: ({ record }) => record.change },
  { header: 'field', value: ({ field }) => field?.field },
  { header: 'now', value: ({ field }) => field?.now },
  { header: 'proposed', value: ({ field }) => field?.proposed },
  { header: 'decision', value: ({ record, field }) => (field === null ? record.decision : field.decision) },
  {
    header: 'moved since',
    value: ({ record, field }) => (field === null || field.moved ? record.moved : null),
    style: () => 'yellow',
  },
]
