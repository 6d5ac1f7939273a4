import { restoreRecords, type RestoreRecordsRequest } from '../../../sheet/writes/restore-records.ts'
import { revertCell, startRevert, type RevertReport } from '../../../sheet/runs/revert.ts'
import { toRevertAnswer, type RevertAnswer } from '../../../wire/runs/revert.ts'
import type { CommandContext } from '../../options/command-context.ts'
import type { ExitCode } from '../../terminal/exit-codes.ts'
import { followRun } from './follow-run.ts'
import { givenIds } from '../../options/record-ids.ts'
import { cellsText, recordsText } from '../../terminal/progress-line.ts'
import type { ProgressStyle } from '../../terminal/progress.ts'
import { tableOf } from '../../terminal/table.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { UsageError } from '../../options/usage-error.ts'
import { writerOf } from '../../options/required-actor.ts'

type DeletionRef = RestoreRecordsRequest['records'][number]

/** The changes to revert: a run, a cell with an entry, or deleted records. */
export interface WhatToRevert {
  readonly runId: string | undefined
  readonly recordId: string | undefined
  readonly field: string | undefined
  readonly seq: number | undefined
  /** The ids; `-` alone reads them from standard input. */
  readonly ids: readonly string[] | undefined
}

/**
 * Reverts a run, a cell or deletions and prints the result. Throws as {@link startRevert}, {@link revertCell} and
 * {@link restoreRecords} do, and UsageError.
 */
export async function runRevert(
  context: CommandContext,
  { runId, recordId, field, seq, ids }: WhatToRevert,
  progress: ProgressStyle | null,
): Promise<ExitCode | void> {
  const { sheet, out } = context
  const actor = writerOf(sheet)
  if (runId !== undefined) {
    const run = await startRevert(sheet, { runId, actor })
    const ended = await followRun(context, run, { actor, progress })
    return ended.cancelled ? ended.code : print(ended.result)
  }
  if (ids !== undefined) return restored((await givenIds(ids)).map((id) => ({ recordId: id, seq: null })))
  if (recordId === undefined || seq === undefined) {
    throw new UsageError(
      'nothing is selected to revert; give --run, or --record, --field and --seq, ' +
        'or --record and --seq of a deletion, or --ids of deleted records',
    )
  }
  if (field === undefined) return restored([{ recordId, seq }])
  return print(await revertCell(sheet, { recordId, field, seq, actor }))

  async function restored(records: readonly DeletionRef[]): Promise<void> {
    const answer = toRevertAnswer(await restoreRecords(sheet, { records, actor }))
    return out.print(answer, () => `${recordsText(answer.reverted)} restored`)
  }

  function print(report: RevertReport): Promise<void> {
    const answer = toRevertAnswer(report)
    return out.print(answer, (screen) => revertText(answer, screen))
  }
}

function revertText({ reverted, conflicts, run_id: run }: RevertAnswer, screen: Screen): string {
  const summary = `${cellsText(reverted)} reverted${run === null ? '' : ` (run ${run})`}`
  if (conflicts.length === 0) return summary
  const table = tableOf(
    [
      { header: 'record', value: ({ record_id: recordId }) => recordId },
      { header: 'field', value: ({ field }) => field },
    ],
    conflicts,
    screen,
  )
  const left = screen.paint('yellow', `${cellsText(conflicts.length)} skipped, changed since`)
  return `${summary}, ${left}:\n\n${table}`
}
