import { revertCell, startRevert, type RevertReport } from '../sheet/revert.ts'
import { toRevertAnswer, type RevertAnswer } from '../wire/revert.ts'
import type { CommandContext } from './command-context.ts'
import type { ExitCode } from './exit-codes.ts'
import { followRun } from './follow-run.ts'
import { cellsText } from './progress-line.ts'
import type { ProgressStyle } from './progress.ts'
import { tableOf } from './table.ts'
import type { Screen } from './terminal.ts'
import { UsageError } from './usage-error.ts'
import { writerOf } from './writer.ts'

/** What is to be taken back, as the command line had it: a run, or a cell with an entry. */
export interface WhatToRevert {
  readonly runId: string | undefined
  readonly recordId: string | undefined
  readonly field: string | undefined
  readonly seq: number | undefined
}

/** Reverts a run or a cell and prints what it came to. Throws as {@link startRevert} and {@link revertCell} do, and UsageError. */
export async function runRevert(
  context: CommandContext,
  { runId, recordId, field, seq }: WhatToRevert,
  progress: ProgressStyle | null,
): Promise<ExitCode | void> {
  const { sheet, out } = context
  const actor = writerOf(sheet)
  if (runId !== undefined) {
    const run = await startRevert(sheet, { runId, actor })
    const ended = await followRun(context, run, { actor, progress })
    return ended.cancelled ? ended.code : print(ended.result)
  }
  if (recordId === undefined || field === undefined || seq === undefined) {
    throw new UsageError('what is to be taken back? Give --run, or --record, --field and --seq')
  }
  return print(await revertCell(sheet, { recordId, field, seq, actor }))

  function print(report: RevertReport): Promise<void> {
    const answer = toRevertAnswer(report)
    return out.print(answer, (screen) => revertText(answer, screen))
  }
}

function revertText({ reverted, conflicts, run_id: run }: RevertAnswer, screen: Screen): string {
  const summary = `${cellsText(reverted)} put back${run === null ? '' : ` (run ${run})`}`
  if (conflicts.length === 0) return summary
  const table = tableOf(
    [
      { header: 'record', value: ({ record_id: recordId }) => recordId },
      { header: 'field', value: ({ field }) => field },
    ],
    conflicts,
    screen,
  )
  const left = screen.paint('yellow', `${cellsText(conflicts.length)} left, changed since`)
  return `${summary}, ${left}:\n\n${table}`
}
