import { History } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { RunSummary } from '../../../src/wire/runs/runs.ts'
import type { SheetContract } from '../api/contract.ts'
import { useCommands, type MenuCommand } from '../ui/command-menu.tsx'
import { formatCount } from '../ui/format.ts'
import { CancelRunDialog } from './dialogs/cancel-run-dialog.tsx'
import { openPendingRun, openRetryRun, RunDialog } from './dialogs/run-dialog.tsx'
import './run-status.css'
import { Moment } from '../ui/moment.tsx'
import { runName, runNameWithin, runStateOf } from './display/run-text.ts'
import { useRunningRun } from './progress/running-cells.ts'
import { RunningNow } from './progress/running-now.tsx'
import { useRunWatch } from './progress/use-run-watch.ts'

/** The current run in the header, else the last one. Also watches runs and mounts the run dialog. */
export function RunStatus({ contract }: { readonly contract: SheetContract }) {
  const { list, isLost } = useRunWatch()
  const running = useRunningRun()
  const [cancelling, setCancelling] = useState<RunSummary | null>(null)
  const { run } = running
  // A run can have ended since the list was read.
  const last = list?.runs.find(({ state }) => state !== 'running')
  useCommands(
    'runs',
    useMemo(() => commandsFor(run, setCancelling), [run?.id]), // oxlint-disable-line react/exhaustive-deps
  )
  return (
    <>
      {run !== null ? (
        <RunningNow running={running} run={run} isLost={isLost} onCancel={() => setCancelling(run)} />
      ) : (
        last !== undefined && <LastRun run={last} />
      )}
      {cancelling !== null && (
        <CancelRunDialog
          // With the latest counts.
          run={run?.id === cancelling.id ? run : cancelling}
          open
          onClose={() => setCancelling(null)}
        />
      )}
      <RunDialog contract={contract} />
    </>
  )
}

function LastRun({ run }: { readonly run: RunSummary }) {
  const state = runStateOf(run.state)
  return (
    <Link href={`/runs/${run.id}`} className="run-status-last">
      <History size={15} />
      <span className="visually-hidden">Last run: </span>
      <span>
        {runName(run)} ·{' '}
        {run.failed > 0 && state === 'finished' ? `${formatCount(run.failed)} failed` : state}{' '}
        <Moment at={run.ended_at ?? run.started_at} />
      </span>
    </Link>
  )
}

function commandsFor(run: RunSummary | null, cancel: (run: RunSummary) => void): readonly MenuCommand[] {
  const commands: MenuCommand[] = [
    {
      group: 'Runs',
      name: 'Compute missing, stale and failed cells…',
      run: openPendingRun,
    },
    {
      group: 'Runs',
      name: 'Retry failed cells…',
      run: openRetryRun,
    },
  ]
  if (run !== null)
    commands.push({ group: 'Runs', name: `Cancel ${runNameWithin(run)}…`, run: () => cancel(run) })
  return commands
}
