import { useInfiniteQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { openPendingRun } from './dialogs/run-dialog.tsx'
import './run-list.css'
import { runPagesQuery } from './run-queries.ts'
import { RunRow } from './run-row.tsx'
import { useRunningRun } from './progress/running-cells.ts'
import { TableHead, type HeadColumn } from '../ui/table-head.tsx'

interface RunListProps {
  readonly contract: SheetContract
  readonly selected: string | null
}

const COLUMNS: readonly HeadColumn[] = [
  { name: 'Run' },
  { name: 'State' },
  { name: 'Started' },
  { name: 'By', className: 'wide' },
  { name: 'Fields', className: 'wide' },
  { name: 'Duration', className: 'number' },
  { name: 'Computed', className: 'number' },
  { name: 'Skipped', className: 'number wide' },
  { name: 'Failed', className: 'number' },
  { name: 'Calls', className: 'number wide' },
  { name: 'Cost', className: 'number' },
]

/** The list of runs, newest first, loaded on scrolling. */
export function RunList({ contract, selected }: RunListProps) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery(runPagesQuery)
  const { run: running } = useRunningRun()
  const runs = data?.pages.flatMap((page) => page.runs)
  if (error !== null && runs === undefined) {
    return (
      <Notice
        kind="error"
        title="Cannot read the runs"
        actions={<Button onClick={() => void refetch()}>Try again</Button>}
      >
        {messageOf(error)}
      </Notice>
    )
  }
  if (runs === undefined) return <div className="run-list" aria-busy="true" />
  if (runs.length === 0) return <NoRuns contract={contract} />
  return (
    <section className="run-list" aria-label="Runs">
      <header className="run-list-head">
        <h2>Runs</h2>
        <RunAllButton contract={contract} />
      </header>
      <div className="run-list-scroll">
        <table className="run-table">
          <TableHead columns={COLUMNS} />
          <tbody>
            {runs.map((run) => (
              <RunRow
                key={run.id}
                // The stream is newer than the list.
                run={running?.id === run.id && run.state === 'running' ? running : run}
                contract={contract}
                isSelected={run.id === selected}
              />
            ))}
          </tbody>
        </table>
        <More
          key={runs.length}
          hasMore={hasNextPage}
          isReading={isFetchingNextPage}
          error={error}
          read={() => void fetchNextPage()}
        />
      </div>
    </section>
  )
}

function RunAllButton({ contract }: { readonly contract: SheetContract }) {
  if (!contract.fields.some(({ derived }) => derived !== null)) return null
  return (
    <Button look="primary" icon={<Play size={14} />} onClick={openPendingRun}>
      Run…
    </Button>
  )
}

interface MoreProps {
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly error: Error | null
  readonly read: () => void
}

/** The end of the list, which loads more when it is visible. */
function More({ hasMore, isReading, error, read }: MoreProps) {
  const end = useRef<HTMLDivElement>(null)
  const latest = useRef(read)
  useEffect(() => {
    latest.current = read
  })
  const mayRead = hasMore && error === null
  useEffect(() => {
    const { current } = end
    if (current === null || !mayRead) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current()
      },
      { rootMargin: '400px' },
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [mayRead])
  if (!hasMore) return null
  return (
    <div ref={end} className="run-list-more">
      {isReading ? 'Reading more…' : <Button onClick={read}>{error === null ? 'More' : 'Try again'}</Button>}
    </div>
  )
}

function NoRuns({ contract }: { readonly contract: SheetContract }) {
  const hasDerived = contract.fields.some(({ derived }) => derived !== null)
  return (
    <Notice
      hasGhosts
      title="No runs yet"
      actions={
        hasDerived && (
          <Button look="primary" icon={<Play size={14} />} onClick={openPendingRun}>
            Plan a run…
          </Button>
        )
      }
    >
      <p>
        A run computes derived fields: it makes the calls that the derivations define, and stores each result
        with its provenance. Fresh cells are skipped.
      </p>
      <p>
        {hasDerived
          ? 'Before the first call, you see the number of calls and their cost.'
          : 'This sheet has no derived fields yet: add a file to its folder derivations.'}
      </p>
    </Notice>
  )
}
