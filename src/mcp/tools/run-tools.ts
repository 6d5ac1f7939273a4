import { cancelRun } from '../../sheet/runs/cancel-run.ts'
import { groupFailures } from '../../sheet/runs/group-failures.ts'
import { getRun, listRunFailures, listRuns } from '../../sheet/runs/read-runs.ts'
import { PermissionDeniedError } from '../../errors/service-error.ts'
import type { FailuresAnswer } from '../../wire/runs/failures.ts'
import {
  RunFailuresAnswer,
  RunSummary,
  toRunFailuresAnswer,
  toRunListAnswer,
  toRunSummary,
} from '../../wire/runs/runs.ts'
import { manualValues } from '../../wire/runs/manual-values.ts'
import { FailureGroupsToolAnswer, RunsToolAnswer } from '../../wire/tool-answers.ts'
import {
  GroupFailuresInput,
  PageInput,
  RunFailuresInput,
  RunInput,
  TOOL_LIMIT,
} from '../../wire/tool-inputs.ts'
import { resolveActor } from '../../sheet/resolve-actor.ts'
import { costText } from './cost-text.ts'
import { defineTool, READS } from './tool.ts'
import { countText, moreText } from './count-text.ts'

export const listRunsTool = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description:
    'Lists the runs of the sheet, newest first: actor, selection, progress or end, calls and cost.',
  input: PageInput,
  output: RunsToolAnswer,
  annotations: READS,
  async run({ limit = TOOL_LIMIT, cursor = null }, { sheet }) {
    const answer = toRunListAnswer(await listRuns(sheet, { limit, cursor }))
    return {
      structured: answer,
      text: `${countText(answer.runs.length, 'run')}, newest first.${moreText(answer)}`,
    }
  },
})

export const getRunTool = defineTool({
  name: 'get_run',
  title: 'Get a run',
  description: 'Returns one run: its state, progress, calls and cost.',
  input: RunInput,
  output: RunSummary,
  annotations: READS,
  async run({ id }, { sheet }) {
    const run = toRunSummary(await getRun(sheet, id))
    return { structured: run, text: runText(run) }
  },
})

export const listRunFailuresTool = defineTool({
  name: 'list_run_failures',
  title: 'List the failures of a run',
  description: 'Lists the cells that failed in a run, of all groups or of one, with the error of each.',
  input: RunFailuresInput,
  output: RunFailuresAnswer,
  annotations: READS,
  async run({ id, limit = TOOL_LIMIT, cursor = null, group = null }, { sheet }) {
    const answer = toRunFailuresAnswer(await listRunFailures(sheet, id, { limit, cursor, group }))
    return { structured: answer, text: `${answer.failures.length} failed cells.${moreText(answer)}` }
  },
})

export const groupFailuresTool = defineTool({
  name: 'group_failures',
  title: 'Group failed cells by reason',
  description:
    'Counts failed cells by reason, the most frequent first. The condition {"failure": [id]} selects the records of a group.',
  input: GroupFailuresInput,
  output: FailureGroupsToolAnswer,
  annotations: READS,
  async run({ where, run_id: run = null }, { sheet }) {
    const condition = where === undefined ? null : JSON.stringify(where)
    const text = await groupFailures(sheet, { filter: null, where: condition, run })
    const answer = JSON.parse(text.toString()) as FailuresAnswer
    return {
      structured: answer,
      text: `${countText(answer.cells, 'failed cell')}, ${countText(answer.groups.length, 'group')}.`,
    }
  },
})

export const cancelRunTool = defineTool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description: 'Cancels a running run: no new call starts, stored values are kept.',
  input: RunInput,
  output: RunSummary,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ id }, { sheet, actor, scope }) {
    if (scope.mode === 'propose') {
      const { actor: runner } = await getRun(sheet, id)
      if (runner !== resolveActor(sheet, actor)) {
        throw new PermissionDeniedError(
          `run ${id} was started by ${JSON.stringify(runner)}; with proposals, an agent may cancel its own runs only`,
        )
      }
    }
    const run = toRunSummary(await cancelRun(sheet, id, actor))
    return { structured: run, text: runText(run) }
  },
})

/** Describes a run in a sentence. */
export function runText(run: RunSummary): string {
  const { id, state, done, total, materialized, skipped, failed, left, calls, total_cost: cost } = run
  if (run.kind === 'import') {
    return `Run ${id}, the import of ${JSON.stringify(run.file ?? '')}, is ${state}: ${done} of ${countText(total, 'record')} done (${materialized} written, ${skipped} unchanged).`
  }
  const counts = `${materialized} ${run.kind === 'revert' ? 'reverted' : 'computed'}, ${skipped} skipped, ${failed} failed`
  const price = costText(calls, { cost, unpriced: run.unpriced_calls })
  const rest = left === 0 ? '' : ` max_calls or max_cost excluded ${countText(left, 'pending cell')}.`
  const lost = run.manual_overwritten === 0 ? '' : ` It overwrote ${manualValues(run.manual_overwritten)}.`
  const kept = run.manual_left === 0 ? '' : ` It kept ${manualValues(run.manual_left)}.`
  return `Run ${id} is ${state}: ${done} of ${countText(total, 'cell')} done (${counts}); ${countText(calls, 'call')}, ${price}.${lost}${kept}${rest}`
}
