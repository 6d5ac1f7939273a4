import { startMaterialize, type StartedRun } from '../../sheet/runs/materialize.ts'
import { planMaterialize } from '../../sheet/runs/plan-materialize.ts'
import { getRun, listRunFailures } from '../../sheet/runs/read-runs.ts'
import type { RunSelection } from '../../sheet/runs/selection/run-selection.ts'
import { USUAL_STOP_AFTER_FAILURES } from '../../sheet/runs/selection/stop-after-failures.ts'
import {
  fromPlainError,
  OperationError,
  type PlainServiceError,
  type ServiceError,
} from '../../errors/service-error.ts'
import { blockedMessage } from '../../wire/runs/blocked-message.ts'
import { estimateBasis } from '../../wire/runs/estimate-basis.ts'
import { rangeMessage } from '../../wire/runs/range-message.ts'
import { retryMessage } from '../../wire/runs/retry-message.ts'
import { manualValues } from '../../wire/runs/manual-values.ts'
import { toRunPlanAnswer, type RunPlanAnswer } from '../../wire/runs/materialize.ts'
import { toRunFailuresAnswer, toRunSummary } from '../../wire/runs/runs.ts'
import { MaterializeToolAnswer, PlanToolAnswer } from '../../wire/tool-answers.ts'
import { MaterializeInput, PlanInput, ProposedMaterializeInput, TOOL_LIMIT } from '../../wire/tool-inputs.ts'
import { budgetText, withBudget, type RunBounds, type Turn } from './call-budget.ts'
import { costText } from './cost-text.ts'
import { followRun } from './follow-run.ts'
import { defineTool, READS, type Tool, type ToolContext, type ToolResult } from './tool.ts'
import { runText } from './run-tools.ts'
import { countText } from './count-text.ts'

export const planMaterializeTool = defineTool({
  name: 'plan_materialize',
  title: 'Plan a run',
  description:
    'Returns the plan and the cost of materialize with the same arguments: cells to compute by a call, to fill from the cache, ' +
    'to skip, and blocked by an input; manual values kept or overwritten. Makes no calls and changes nothing. Use it before a run that could cost money.',
  input: PlanInput,
  output: PlanToolAnswer,
  annotations: READS,
  async run(input, { sheet, actor, budget }) {
    const plan = toRunPlanAnswer(await planMaterialize(sheet, { ...selectionOf(input), actor }))
    const reusable = input.reuse_responses === true ? '' : keptText(plan)
    return {
      structured: { ...plan, ...withBudget(budget) },
      text: [
        planText(plan),
        blockedMessage(plan) ?? '',
        retryMessage(plan) ?? '',
        reusable.trimEnd(),
        budgetText(budget.answer),
      ]
        .filter((sentence) => sentence !== '')
        .join(' '),
    }
  },
})

/** Returns for which calls a response is kept, as text. */
function keptText({ targets }: RunPlanAnswer): string {
  const most = Object.values(targets).reduce(
    (all, { kept_responses: kept }) => Math.max(all, kept?.calls ?? 0),
    0,
  )
  return most === 0
    ? ''
    : `Responses to up to ${countText(most, 'call')} of a field are kept: reuse_responses uses them instead. `
}

/** Describes a plan in sentences. */
function planText(plan: RunPlanAnswer): string {
  const { calls, cost, unpriced_calls: unpriced, not_ready: notReady = [], stop_after_failures: stop } = plan
  const left = Object.values(plan.targets).reduce((sum, cells) => sum + (cells.left ?? 0), 0)
  const price = calls === 0 ? '' : `, ${costText(calls, { cost, unpriced })}`
  return [
    `A run would make ${plan.at_most === true ? 'at most ' : ''}${countText(calls, 'call')}${price}.`,
    ...rangeText(plan),
    ...estimateText(plan),
    ...(stop === undefined || calls === 0
      ? []
      : [`It would stop after ${countText(stop, 'failure')} in a row at one host.`]),
    ...manualText(plan),
    ...(left === 0 ? [] : [`max_calls or max_cost excludes ${countText(left, 'pending cell')}.`]),
    ...(notReady.length === 0 ? [] : [`It would be refused: ${notReady.join('; ')}.`]),
  ].join(' ')
}

/** Returns the range of calls with fallbacks. */
function rangeText(plan: RunPlanAnswer): string[] {
  const format = { money: (cost: number) => `$${cost}`, calls: (calls: number) => countText(calls, 'call') }
  const message = rangeMessage(plan, format)
  return message === null ? [] : [message]
}

/** Returns what calls of models are expected to use. */
function estimateText({ estimate, cost }: RunPlanAnswer): string[] {
  if (estimate === undefined) return []
  const { input_tokens: input, output_tokens: output, cost: expected, basis, results = 0 } = estimate
  const money = cost > 0 ? `$${expected} of at most $${cost}, ` : ''
  const from = estimateBasis(results, basis !== 'results')
  return [`Estimate from ${from}: ${money}${input} input and ${output} output tokens.`]
}

/** Returns how many values written by hand a run would overwrite, and how many it would keep. */
function manualText({ manual_left: kept = 0, manual_overwritten: lost = 0 }: RunPlanAnswer): string[] {
  return [
    ...(lost === 0 ? [] : [`It would overwrite ${manualValues(lost)}; ask a person first.`]),
    ...(kept === 0 ? [] : [`It would keep ${manualValues(kept)}.`]),
  ]
}

const DESCRIPTION =
  'Computes derived cells that are missing, stale or failed, by the calls that the derivations declare; calls can cost money. ' +
  'Name targets, record_ids, limit and max_cost to keep a run small; plan_materialize returns the plan first. Waits for the ' +
  'end unless background is set; cancelling the call cancels the run. Computed values are kept. Manual values are kept as well'

const ANNOTATIONS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }

export const materializeTool = materializeWith(
  MaterializeInput,
  `${DESCRIPTION} unless overwrite_manual is set.`,
)

/** Without `force` and `overwrite_manual`: only pending cells are computed. */
export const proposedMaterializeTool = materializeWith(ProposedMaterializeInput, `${DESCRIPTION}.`)

function materializeWith(
  input: typeof MaterializeInput | typeof ProposedMaterializeInput,
  description: string,
): Tool {
  return defineTool({
    name: 'materialize',
    title: 'Compute derived cells',
    description,
    input,
    output: MaterializeToolAnswer,
    annotations: ANNOTATIONS,
    run: ({ background = false, ...given }, context) => materialize(selectionOf(given), background, context),
  })
}

async function materialize(
  selection: RunSelection,
  background: boolean,
  context: ToolContext,
): Promise<ToolResult<MaterializeToolAnswer>> {
  const { sheet, budget, signal } = context
  const own: RunBounds = { maxCalls: selection.maxCalls ?? null, maxCost: selection.maxCost ?? null }
  const turn = await budget.turn(own, { patienceMs: sheet.lockTimeoutMs, signal })
  const run = await begin(selection, turn, context)
  if (background) {
    run.done.catch(() => undefined)
    const begun = toRunSummary(await getRun(sheet, run.id))
    const text = `Run ${run.id} has started. Follow it with get_run, end it with cancel_run.`
    return { structured: { run: begun, failures: [], failures_cursor: null, ...withBudget(budget) }, text }
  }
  await untilEnded(run, context)
  return describeEnd(run, context)
}

/** Starts a run once it may spend; its permission ends with the run. */
async function begin(
  selection: RunSelection,
  turn: Turn,
  { sheet, actor, budget, signal }: ToolContext,
): Promise<StartedRun> {
  try {
    const bounded = { ...selection, ...turn.bounds }
    if (budget.isLimited) await refuseIfSpent(selection, bounded)
    if (signal.aborted) throw new OperationError('the call was cancelled', 'call_cancelled')
    const run = await startMaterialize(sheet, { ...bounded, actor })
    const active = sheet.runs.get(run.id)
    turn.spends(() => active?.feed.progress ?? { calls: 0, totalCost: 0 })
    void run.done.catch(() => undefined).finally(() => turn.end())
    return run
  } catch (error) {
    turn.end()
    throw error
  }

  /** Refuses a run that may make none of its calls: it would end without a result and without a reason. */
  async function refuseIfSpent(wanted: RunSelection, bounded: RunSelection): Promise<void> {
    const possible = await planMaterialize(sheet, { ...bounded, actor })
    if (possible.calls > 0) return
    const { calls, cost, unpricedCalls: unpriced } = await planMaterialize(sheet, { ...wanted, actor })
    if (calls === 0) return
    throw new OperationError(
      `the budget does not allow any of the ${countText(calls, 'call')} (${costText(calls, { cost, unpriced })}) of this run; ${budgetText(budget.answer)} ` +
        'Ask the person who started this server for more, or ask for cheaper cells',
      'budget_spent',
    )
  }
}

/** Waits for a run; if it ended early, its row has the reason. */
async function untilEnded(run: StartedRun, context: ToolContext): Promise<void> {
  try {
    await followRun(run, context)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { state } = await getRun(context.sheet, run.id).catch(() => ({ state: 'running' }))
    if (state === 'running' || state === 'finished') throw error
  }
}

async function describeEnd(
  { id }: StartedRun,
  { sheet, budget }: ToolContext,
): Promise<ToolResult<MaterializeToolAnswer>> {
  const stored = await getRun(sheet, id)
  const run = toRunSummary(stored)
  if (run.state !== 'finished') {
    throw endedEarly(`${runText(run)} It ended early:`, stored)
  }
  const { failures, next_cursor: cursor } = toRunFailuresAnswer(
    await listRunFailures(sheet, id, { limit: TOOL_LIMIT, cursor: null }),
  )
  const more = cursor === null ? '' : ' list_run_failures with failures_cursor has the rest of the failures.'
  return {
    structured: { run, failures, failures_cursor: cursor, ...withBudget(budget) },
    text: `${runText(run)}${more} ${budgetText(budget.answer)}`.trimEnd(),
  }
}

interface EndedRun {
  readonly state: string
  readonly error: PlainServiceError | null
}

/** Returns the error of a run that ended early, with its code, which decides on the next step that an agent is given. */
function endedEarly(text: string, { error, state }: EndedRun): ServiceError {
  const message = `${text} ${error?.message ?? state}`
  return error === null || error.type === 'ServiceError'
    ? new OperationError(message, 'run_interrupted')
    : fromPlainError({ ...error, message })
}

function selectionOf(input: PlanInput): RunSelection {
  return {
    targets: input.targets ?? null,
    recordIds: input.record_ids ?? null,
    force: input.force ?? false,
    overwriteManual: input.overwrite_manual ?? false,
    only: input.only ?? null,
    limit: input.limit ?? null,
    maxCalls: input.max_calls ?? null,
    maxCost: input.max_cost ?? null,
    reuseResponses: input.reuse_responses ?? false,
    stopAfterFailures: input.stop_after_failures ?? USUAL_STOP_AFTER_FAILURES,
  }
}
