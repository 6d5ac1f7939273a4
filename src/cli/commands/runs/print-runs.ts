import { cancelRun } from '../../../sheet/runs/cancel-run.ts'
import { getRunDetail, listRunFailures, listRuns } from '../../../sheet/runs/read-runs.ts'
import {
  toRunAnswer,
  toRunFailuresAnswer,
  toRunListAnswer,
  type RunFailuresAnswer,
  type RunListAnswer,
} from '../../../wire/runs/runs.ts'
import { stepCountLines } from '../../../wire/runs/step-counts.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { failureText } from './failure-text.ts'
import { membersOf } from '../../terminal/object-lines.ts'
import { Pages } from '../../terminal/pages.ts'
import { printPages } from '../../terminal/print-pages.ts'
import { dollars } from '../../terminal/progress-line.ts'
import { toSeconds, type Column } from '../../terminal/table.ts'
import type { Style } from '../../terminal/terminal.ts'
import { UsageError } from '../../options/usage-error.ts'
import { writerOf } from '../../options/required-actor.ts'

export interface WhichRuns {
  /** The run; null lists all. */
  readonly id: string | null
  readonly about: 'run' | 'failures' | 'cancel'
  /** The number of items; infinite for all. */
  readonly limit: number
  readonly cursor: string | null
}

type RunSummary = RunListAnswer['runs'][number]
type Failure = RunFailuresAnswer['failures'][number]

/** Lists runs, shows one or its failures, or cancels it. Throws as reading and cancelling runs do, and UsageError. */
export async function printRuns(context: CommandContext, which: WhichRuns): Promise<void> {
  const { id, about } = which
  if (id === null) {
    if (about !== 'run') throw new UsageError('no run is given; `colophon runs <sheet>` lists their numbers')
    return printList(context, which)
  }
  if (about === 'failures') return printFailures(context, id, which)
  if (about === 'cancel') await cancelRun(context.sheet, id, writerOf(context.sheet))
  const run = toRunAnswer(await getRunDetail(context.sheet, id))
  const steps = stepCountLines(run, dollars).join('; ')
  await context.out.print(run, (screen) => membersOf(steps === '' ? run : { ...run, steps }, screen))
}

function printList({ sheet, out }: CommandContext, { limit, cursor }: WhichRuns): Promise<void> {
  const pages = new Pages<RunSummary>(async (page) => {
    const { runs, next_cursor: nextCursor } = toRunListAnswer(await listRuns(sheet, page))
    return { items: runs, nextCursor }
  }, cursor)
  return printPages(out, pages, { limit, member: 'runs', columns: RUN_COLUMNS, none: 'no runs yet' })
}

function printFailures(
  { sheet, out }: CommandContext,
  id: string,
  { limit, cursor }: WhichRuns,
): Promise<void> {
  const pages = new Pages<Failure>(async (page) => {
    const { failures, next_cursor: nextCursor } = toRunFailuresAnswer(await listRunFailures(sheet, id, page))
    return { items: failures, nextCursor }
  }, cursor)
  return printPages(out, pages, {
    limit,
    member: 'failures',
    columns: FAILURE_COLUMNS,
    none: 'no cell failed',
  })
}

const STATE_STYLES: Readonly<Record<string, Style>> = {
  running: 'cyan',
  finished: 'green',
  failed: 'red',
  cancelled: 'yellow',
  interrupted: 'yellow',
}

const RUN_COLUMNS: readonly Column<RunSummary>[] = [
  { header: 'run', value: ({ id }) => id, align: 'right' },
  { header: 'kind', value: kindOf },
  { header: 'state', value: ({ state }) => state, style: ({ state }) => STATE_STYLES[state] ?? null },
  { header: 'actor', value: ({ actor }) => actor },
  { header: 'started', value: ({ started_at: startedAt }) => toSeconds(startedAt) },
  { header: 'computed', value: ({ materialized }) => materialized },
  { header: 'failed', value: ({ failed }) => failed, style: ({ failed }) => (failed > 0 ? 'red' : null) },
  { header: 'calls', value: ({ calls }) => calls },
  { header: 'cost', value: costOf, align: 'right' },
  { header: 'error', value: ({ error }) => error?.message },
]

/** Returns the kind of a run with the run that it reverts, or its file. */
function kindOf({ kind, reverts, file }: RunSummary): string {
  const object = reverts ?? file
  return object === undefined ? kind : `${kind} of ${object}`
}

/** Returns the cost of a run as text; `not set` for calls without a price. */
function costOf({ calls, total_cost: cost, unpriced_calls: unpriced }: RunSummary): string {
  if (unpriced === 0) return dollars(cost)
  return unpriced >= calls ? 'not set' : `${dollars(cost)} + not set`
}

const FAILURE_COLUMNS: readonly Column<Failure>[] = [
  { header: 'record', value: ({ record_id: recordId }) => recordId },
  { header: 'field', value: ({ field }) => field },
  { header: 'error', value: failureText },
  { header: 'at', value: ({ at }) => toSeconds(at), style: () => 'dim' },
]
