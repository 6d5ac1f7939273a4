import { startMaterialize, type MaterializeResult } from '../../../sheet/runs/materialize.ts'
import { planMaterialize } from '../../../sheet/runs/plan-materialize.ts'
import { getRunDetail, listRunFailures } from '../../../sheet/runs/read-runs.ts'
import type { RunSelection } from '../../../sheet/runs/selection/run-selection.ts'
import type { Sheet } from '../../../sheet/sheet.ts'
import { blockedMessage } from '../../../wire/runs/blocked-message.ts'
import { estimateBasis } from '../../../wire/runs/estimate-basis.ts'
import { rangeMessage } from '../../../wire/runs/range-message.ts'
import { retryMessage } from '../../../wire/runs/retry-message.ts'
import { manualValues } from '../../../wire/runs/manual-values.ts'
import { toMaterializeAnswer, toRunPlanAnswer } from '../../../wire/runs/materialize.ts'
import { stepCountLines } from '../../../wire/runs/step-counts.ts'
import { toRunAnswer, toRunFailuresAnswer, type RunFailuresAnswer } from '../../../wire/runs/runs.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { costText } from './cost-text.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { failureText } from './failure-text.ts'
import { exitCodeOf, type Output } from '../../terminal/output.ts'
import { followRun } from './follow-run.ts'
import type { ProgressStyle } from '../../terminal/progress.ts'
import { callsText, cellsText, grouped, dollars } from '../../terminal/progress-line.ts'
import { screenOf, type Screen } from '../../terminal/terminal.ts'
import { tableOf, type Column } from '../../terminal/table.ts'
import { writerOf } from '../../options/required-actor.ts'

export interface RunOptions {
  /** The sheet's argument in hints. */
  readonly name: string
  /** Whether to ask before calls are made, at a terminal. */
  readonly ask: boolean
  /** The style of progress; null is a bar at a terminal. */
  readonly progress: ProgressStyle | null
}

type Plan = Awaited<ReturnType<typeof planMaterialize>>

/** The failures listed at the end of a run; `colophon runs` lists all. */
const FAILURES_SHOWN = 20

/** Prints the plan of a run. Throws as {@link planMaterialize} does. */
export async function showPlan({ sheet, out }: CommandContext, selection: RunSelection): Promise<void> {
  if (selection.overwriteManual === true) writerOf(sheet)
  const plan = await planMaterialize(sheet, selection)
  const reusing = await planReusing(sheet, selection, plan)
  await out.print(toRunPlanAnswer(plan), (screen) => planText(plan, { reusing, selection }, screen))
}

/**
 * Runs the derivations: asks for confirmation, shows progress, prints the result. Ctrl-C cancels the run. Throws as
 * {@link startMaterialize} does.
 */
export async function runMaterialize(
  { sheet, out }: CommandContext,
  selection: RunSelection,
  options: RunOptions,
): Promise<ExitCode> {
  const actor = writerOf(sheet)
  if (options.ask && canAsk()) {
    const answer = await askFirst(sheet, selection, out)
    if (answer !== null) return answer
  }
  const run = await startMaterialize(sheet, { ...selection, actor })
  const ended = await followRun({ sheet, out }, run, { actor, progress: options.progress })
  if (ended.cancelled) return ended.code
  const { result } = ended
  const { failures } = toRunFailuresAnswer(
    await listRunFailures(sheet, run.id, { limit: FAILURES_SHOWN, cursor: null }),
  )
  const detail = await getRunDetail(sheet, run.id)
  await out.print(toMaterializeAnswer(result), (screen) =>
    resultText(result, {
      run: detail.run,
      steps: stepCountLines(toRunAnswer(detail), dollars),
      screen,
      shown: failures,
      keepsFresh: selection.keepFresh !== undefined,
      ...options,
    }),
  )
  return exitCodeOf(result.failures.length)
}

/**
 * Shows the plan and asks for confirmation when calls would be made or manual values overwritten. Returns an exit code
 * to stop, else null.
 */
async function askFirst(sheet: Sheet, selection: RunSelection, out: Output): Promise<ExitCode | null> {
  const plan = await planMaterialize(sheet, selection)
  const { manualOverwritten: overwritten = 0 } = plan
  if (plan.calls === 0 && overwritten === 0) return null
  const reusing = await planReusing(sheet, selection, plan)
  process.stderr.write(`${planText(plan, { reusing, selection }, screenOf(process.stderr))}\n`)
  const question = overwritten === 0 ? 'Go ahead?' : `Go ahead and overwrite ${manualValues(overwritten)}?`
  const answer = await confirm(question)
  if (answer === 'yes') return null
  out.note('Nothing was computed.')
  return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
}

/** Plans the same run with kept responses; null when it makes no difference. */
async function planReusing(sheet: Sheet, selection: RunSelection, { targets }: Plan): Promise<Plan | null> {
  const hasKept = Object.values(targets).some(({ kept }) => kept !== undefined)
  if (!hasKept || selection.reuseResponses === true) return null
  return planMaterialize(sheet, { ...selection, reuseResponses: true })
}

interface PlanOf {
  readonly selection: RunSelection
  /** The plan of the same run with kept responses; null when it makes no difference. */
  readonly reusing: Plan | null
}

function planText(plan: Plan, { selection, reusing }: PlanOf, screen: Screen): string {
  const rows = Object.entries(plan.targets).map(([target, cells]) => ({ target, ...cells }))
  const hasKept = rows.some(({ kept }) => kept !== undefined)
  const left = rows.reduce((sum, cells) => sum + (cells.left ?? 0), 0)
  if (rows.length === 0) return 'Nothing to compute: no derived field is selected.'
  const table = tableOf<(typeof rows)[number]>(
    [
      { header: 'target', value: ({ target }) => target },
      { header: 'compute', value: ({ compute }) => compute },
      { header: 'cached', value: ({ cached }) => cached },
      { header: 'skipped', value: ({ skipped }) => skipped },
      ...(hasKept ? [{ header: 'kept responses', value: keptText }] : []),
      ...manualColumns(plan),
      ...(left > 0 ? [{ header: 'left', value: ({ left: cells = 0 }: (typeof rows)[number]) => cells }] : []),
    ],
    rows,
    screen,
  )
  const { targets } = toRunPlanAnswer(plan)
  const waiting = [blockedMessage(plan), retryMessage({ targets })].filter((words) => words !== null)
  return [
    table,
    '',
    screen.paint('bold', priceText(plan)),
    ...(reusing === null ? [] : [`With --reuse-responses: ${priceText(reusing)}`]),
    ...rangeText(plan),
    ...estimateText(plan),
    ...stopText(plan),
    ...manualText(plan, selection, screen),
    ...(left > 0 ? [leftText(left, screen)] : []),
    ...waiting,
    ...plan.notReady.map((message) => screen.paint('yellow', `Not ready: ${message}`)),
  ].join('\n')
}

type PlanRow = Plan['targets'][string]

function manualColumns({ manualLeft = 0, manualOverwritten = 0 }: Plan): Column<PlanRow>[] {
  return [
    ...(manualLeft > 0
      ? [{ header: 'manual kept', value: ({ manualLeft: cells = 0 }: PlanRow) => cells }]
      : []),
    ...(manualOverwritten > 0
      ? [{ header: 'manual lost', value: ({ manualOverwritten: cells = 0 }: PlanRow) => cells }]
      : []),
  ]
}

/** Returns how many manual values are overwritten, and how many are kept. */
function manualText(
  { manualLeft = 0, manualOverwritten = 0 }: Plan,
  { force, overwriteManual = false }: RunSelection,
  screen: Screen,
): string[] {
  const how = force && !overwriteManual ? ' (--overwrite-manual recomputes them too)' : ''
  return [
    ...(manualOverwritten > 0 ? [screen.paint('red', `Overwrites ${manualValues(manualOverwritten)}`)] : []),
    ...(manualLeft > 0 ? [`Keeps ${manualValues(manualLeft)}${how}`] : []),
  ]
}

/** Returns the range of calls with fallbacks. */
function rangeText(plan: Plan): string[] {
  const { calls, range } = toRunPlanAnswer(plan)
  const message = rangeMessage(
    { calls, ...(range !== undefined && { range }) },
    { money: dollars, calls: callsText },
  )
  return message === null ? [] : [message]
}

/** Returns what calls of models are expected to use. */
function estimateText({ estimate, cost }: Plan): string[] {
  if (estimate === undefined) return []
  const { inputTokens, outputTokens, cost: expected, results, fromBytes } = estimate
  const tokens = `${grouped(inputTokens)} input and ${grouped(outputTokens)} output tokens`
  const money = cost > 0 ? `${dollars(expected)} of at most ${dollars(cost)}, ` : ''
  return [`Estimate from ${estimateBasis(results, fromBytes)}: ${money}${tokens}`]
}

/** Returns the condition that ends the run early. */
function stopText({ calls, stopAfterFailures }: Plan): string[] {
  if (calls === 0 || stopAfterFailures === null) return []
  const failures = stopAfterFailures === 1 ? '1 failure' : `${grouped(stopAfterFailures)} failures in a row`
  return [`Stops after ${failures} at one host (--stop-after-failures)`]
}

function priceText({ calls, cost, unpricedCalls = 0, atMost }: Plan): string {
  const parts = [callsText(calls), costText(calls, { cost, unpricedCalls })].filter((text) => text !== '')
  return `${atMost ? 'at most ' : ''}${parts.join(', ')}`
}

/** Returns the number of calls of a target with a kept response, and its dates. */
function keptText({ kept }: Plan['targets'][string]): string {
  if (kept === undefined) return ''
  const [from, to] = [kept.oldest.slice(0, 10), kept.newest.slice(0, 10)]
  return `${grouped(kept.calls)} (${from === to ? from : `${from} to ${to}`})`
}

/** Returns a note on cells that `--max-calls` or `--max-cost` excludes. */
function leftText(left: number, screen: Screen): string {
  return screen.paint('yellow', `${cellsText(left)} excluded by --max-calls or --max-cost`)
}

interface Ending extends RunOptions {
  readonly run: Awaited<ReturnType<typeof getRunDetail>>['run']
  /** The results of fallbacks, a line for each step. */
  readonly steps: readonly string[]
  /** Whether values were kept instead of computed. */
  readonly keepsFresh: boolean
  /** The first failures. */
  readonly shown: RunFailuresAnswer['failures']
  readonly screen: Screen
}

function resultText(
  result: MaterializeResult,
  { run, steps, screen, shown, name, keepsFresh }: Ending,
): string {
  const { materialized, skipped, failures, totalCost: cost } = result
  const { calls, unpricedCalls, left, manualLeft, manualOverwritten } = run
  const done = keepsFresh ? 'marked as fresh' : 'computed'
  const parts = [`${cellsText(materialized)} ${done}`, `${grouped(skipped)} skipped`]
  if (calls > 0) parts.push(costText(calls, { cost, unpricedCalls }))
  if (manualOverwritten > 0) parts.push(`${manualValues(manualOverwritten)} overwritten`)
  if (manualLeft > 0 && run.force) parts.push(`${manualValues(manualLeft)} kept`)
  const more = [...(left > 0 ? [leftText(left, screen)] : []), ...steps]
  if (failures.length === 0)
    return [`${screen.paint('green', '✔')} ${parts.join(', ')} (run ${run.id})`, ...more].join('\n')
  const table = tableOf<RunFailuresAnswer['failures'][number]>(
    [
      { header: 'record', value: ({ record_id: recordId }) => recordId },
      { header: 'field', value: ({ field }) => field },
      { header: 'error', value: failureText },
    ],
    shown,
    screen,
  )
  const unshown = failures.length - shown.length
  return [
    `${screen.paint('red', `✘ ${grouped(failures.length)} failed`)}, ${parts.join(', ')} (run ${run.id})`,
    ...more,
    '',
    table,
    ...(unshown > 0
      ? [`… and ${grouped(unshown)} more: colophon runs ${name} ${run.id} --failures --all`]
      : []),
    '',
    `Retry them: colophon materialize ${name} --only failed`,
  ].join('\n')
}
