import { basename } from 'node:path'
import { OperationError } from '../../../errors/service-error.ts'
import { replayArchive, type ReplayRequest } from '../../../sheet/replay/replay-archive.ts'
import {
  isAsRecorded,
  type CellDifference,
  type Listed,
  type ReplayReport,
} from '../../../sheet/replay/replay-report.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'
import type { Output } from '../../terminal/output.ts'
import { grouped } from '../../terminal/progress-line.ts'
import { visibleText } from '../../terminal/visible-text.ts'

export interface WhatToReplay extends Omit<ReplayRequest, 'file' | 'signal'> {
  /** The path of the archive. */
  readonly file: string
}

/** The most cells of a list that a person gets to see. */
const SHOWN = 20

/** Replays an archive and prints the result; some cells failed where it differs. Throws as {@link replayArchive} does. */
export async function runReplay(out: Output, { file, ...what }: WhatToReplay): Promise<ExitCode> {
  const stop = new AbortController()
  const interrupts = onInterrupt(() =>
    stop.abort(new OperationError('the replay was stopped', 'call_cancelled')),
  )
  try {
    const report = await replayArchive({
      ...what,
      file: { path: file, name: basename(file) },
      signal: stop.signal,
    })
    await out.print(answerOf(report), () => textOf(report))
    return isAsRecorded(report) ? EXIT.done : EXIT.failedCells
  } catch (error) {
    if (interrupts.seen && stop.signal.aborted) return EXIT.interrupted
    throw error
  } finally {
    interrupts.release()
  }
}

/** Returns a report as JSON. */
function answerOf(report: ReplayReport): object {
  const { runs, cells, equal, differentCosts, calls, totalCost, missed, notComputed, different } = report
  return {
    runs,
    cells,
    equal,
    different_costs: differentCosts.count,
    missed: missed.count,
    not_computed: notComputed.count,
    different: different.count,
    left_out: report.leftOut.reduce((sum, { count }) => sum + count, 0),
    calls,
    total_cost: totalCost,
    digest: `sha256:${report.digest}`,
    misses: missed.first.map(({ recordId, field, error }) => ({ record_id: recordId, field, error })),
    cells_not_computed: notComputed.first.map(cellOf),
    differences: different.first.map(differenceOf),
    cost_differences: differentCosts.first.map(differenceOf),
    different_runs: report.differentRuns,
    cells_left_out: report.leftOut.map(({ reason, count, first }) => ({
      reason,
      count,
      cells: first.map(cellOf),
    })),
  }
}

interface Cell {
  readonly recordId: string
  readonly field: string
}

function cellOf({ recordId, field }: Cell): object {
  return { record_id: recordId, field }
}

function differenceOf({ what, replayed, recorded, ...cell }: CellDifference): object {
  return { ...cellOf(cell), what, replayed, recorded }
}

function textOf(report: ReplayReport): string {
  const { runs, cells, equal, calls, totalCost, missed, notComputed, different, differentRuns } = report
  const lines = [
    `${amount(cells, 'cell')} of ${amount(runs, 'run')} replayed with ${amount(calls, 'recorded call')}, $${totalCost}`,
    `${grouped(equal)} as in the archive`,
    ...listed('of them at another cost, since prices changed', report.differentCosts, shownDifference),
    ...listed('not in the recording', missed, (miss) => `${nameOf(miss)}: ${miss.error}`),
    ...listed('not computed, since an input was not', notComputed, nameOf),
    ...listed('different', different, shownDifference),
    ...differentRuns.map(
      ({ run, what, replayed, recorded }) => `run ${run}: ${what} ${replayed}, recorded ${recorded}`,
    ),
    ...report.leftOut.flatMap((left) => listed(`left out: ${left.reason}`, left, nameOf)),
    `digest sha256:${report.digest}`,
  ]
  return lines.map(visibleText).join('\n')
}

function shownDifference({ what, replayed, recorded, ...cell }: CellDifference): string {
  return `${nameOf(cell)}: ${what} ${JSON.stringify(replayed)}, recorded ${JSON.stringify(recorded)}`
}

/** Returns the lines of a list: its number, the first items, and how many more there are. */
function listed<T>(title: string, { count, first }: Listed<T>, show: (item: T) => string): string[] {
  if (count === 0) return []
  const shown = first.slice(0, SHOWN)
  const more = count > shown.length ? [`  … and ${grouped(count - shown.length)} more`] : []
  return [`${grouped(count)} ${title}`, ...shown.map((item) => `  ${show(item)}`), ...more]
}

function nameOf({ recordId, field }: Cell): string {
  return `${field} of ${recordId}`
}

function amount(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}
