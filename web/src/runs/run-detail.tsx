import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, X } from 'lucide-react'
import { Link } from 'wouter'
import type { RunAnswer } from '../../../src/wire/runs/runs.ts'
import { ApiError, messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { runQuery } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { RunActions } from './run-actions.tsx'
import './run-detail.css'
import { RunFacts } from './run-facts.tsx'
import { RunFailures } from './run-failures.tsx'
import { RunOutcome } from './run-outcome.tsx'
import { RunState } from './display/run-state.tsx'
import { runName } from './display/run-text.ts'
import { useRunningRun } from './progress/running-cells.ts'

interface RunDetailProps {
  readonly contract: SheetContract
  readonly id: string
}

/** A run with its options, outcome, failures and actions. */
export function RunDetail({ contract, id }: RunDetailProps) {
  const { data, error, refetch } = useQuery(runQuery(id))
  const { run: running, perSecond } = useRunningRun()
  const run: RunAnswer | undefined =
    data !== undefined && data.state === 'running' && running?.id === data.id ? { ...data, ...running } : data
  return (
    <section className="run-detail" aria-label={run === undefined ? `Run ${id}` : runName(run)}>
      <header className="run-detail-head">
        <Link href="/runs" className="run-detail-back" aria-label="Back to all runs" title="Back to all runs">
          <ArrowLeft size={16} />
        </Link>
        <h2>{run === undefined ? `Run ${id}` : runName(run)}</h2>
        {run !== undefined && <RunState run={run} />}
        <Link href="/runs" className="run-detail-close" aria-label="Close" title="Close">
          <X size={16} />
        </Link>
      </header>
      {error !== null ? (
        <Notice
          kind="error"
          title="This run cannot be shown"
          actions={exists(error) && <Button onClick={() => void refetch()}>Try again</Button>}
        >
          {messageOf(error)}
        </Notice>
      ) : run === undefined ? (
        <div className="run-detail-body" aria-busy="true" />
      ) : (
        <div className="run-detail-body">
          <RunOutcome
            run={run}
            perSecond={run.state === 'running' && running?.id === run.id ? perSecond : null}
          />
          <RunActions run={run} />
          <RunFacts run={run} contract={contract} />
          <RunFailures run={run} contract={contract} />
        </div>
      )}
    </section>
  )
}

/** Whether the run may exist in spite of the error. */
function exists(error: Error): boolean {
  return !(error instanceof ApiError && error.status === 404)
}
