import { prunableRuns, pruneRuns, type PruneRequest } from '../../../sheet/runs/prune-runs.ts'
import { toPrunedRunsAnswer } from '../../../wire/runs/pruned-runs.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { grouped } from '../../terminal/progress-line.ts'
import { UsageError } from '../../options/usage-error.ts'

type Pruned = Awaited<ReturnType<typeof pruneRuns>>

/**
 * Removes runs after confirmation, or counts those that would be removed. Throws as {@link pruneRuns} does, and
 * UsageError.
 */
export async function pruneSheetRuns(
  { sheet, out }: CommandContext,
  which: PruneRequest,
  { dryRun, ask }: { readonly dryRun: boolean; readonly ask: boolean },
): Promise<ExitCode> {
  if (which.olderThanMs === null && which.keep === null) {
    throw new UsageError('no runs are selected; give --older-than, such as 30d, or --keep, such as 100')
  }
  if (dryRun) {
    const found = await prunableRuns(sheet, which)
    await out.print(toPrunedRunsAnswer(found, { dryRun }), () => `${countText(found)} would be removed`)
    return EXIT.done
  }
  if (ask && canAsk()) {
    const found = await prunableRuns(sheet, which)
    const answer = found.runs === 0 ? 'yes' : await confirm(`Remove ${countText(found)}?`)
    if (answer !== 'yes') {
      out.note('Nothing was removed.')
      return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
    }
  }
  const removed = await pruneRuns(sheet, which)
  await out.print(toPrunedRunsAnswer(removed, { dryRun }), () => `${countText(removed)} removed`)
  return EXIT.done
}

function countText({ runs, failures }: Pruned): string {
  const of = `${grouped(runs)} ${runs === 1 ? 'run' : 'runs'}`
  return failures === 0 ? of : `${of} with ${grouped(failures)} ${failures === 1 ? 'failure' : 'failures'}`
}
