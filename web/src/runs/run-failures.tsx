import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { FailureGroupAnswer } from '../../../src/wire/runs/failures.ts'
import type { RunSummary } from '../../../src/wire/runs/runs.ts'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { Button } from '../ui/button.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import { cellPath } from '../state/view-state.ts'
import { failurePagesQuery, runFailureGroupsQuery } from './run-queries.ts'

interface RunFailuresProps {
  readonly run: RunSummary
  readonly contract: SheetContract
}

/** The interval of refetching failures during a run. */
const REFETCH_MS = 3000

/** The failed cells of a run, grouped by reason, with links to the cells. */
export function RunFailures({ run, contract }: RunFailuresProps) {
  const { data, error, refetch } = useQuery({
    ...runFailureGroupsQuery(run.id),
    enabled: run.failed > 0,
    refetchInterval: run.state === 'running' ? REFETCH_MS : false,
  })
  if (run.failed === 0) return null
  const listed = data?.groups.reduce((sum, { cells }) => sum + cells, 0) ?? 0
  return (
    <section aria-label="Failures" className="run-section">
      <h3>
        Failures <small>{formatCount(run.failed)}</small>
      </h3>
      {error !== null && (
        <p className="form-error" role="alert">
          {messageOf(error)} <Button onClick={() => void refetch()}>Try again</Button>
        </p>
      )}
      {data === undefined && error === null && <p className="run-reading">Reading…</p>}
      {data?.groups.map((group) => (
        <Group
          key={group.id}
          run={run}
          group={group}
          contract={contract}
          isFirstOpen={data.groups.length === 1 || group.cells < FOLDED_FROM}
        />
      ))}
      {data !== undefined && listed < data.cells && (
        <p className="form-hint">
          The {data.groups.length} most frequent reasons. {countOf(data.cells - listed, 'other cell')} failed
          for others.
        </p>
      )}
    </section>
  )
}

interface GroupProps extends RunFailuresProps {
  readonly group: FailureGroupAnswer
  /** Whether the group is shown open at first. */
  readonly isFirstOpen: boolean
}

/** The size from which a group is collapsed. */
const FOLDED_FROM = 4

function Group({ run, group, contract, isFirstOpen }: GroupProps) {
  const { text, error_type: errorType, response_body: body, cells, fields } = group
  const [isOpen, setOpen] = useState(isFirstOpen)
  return (
    <details className="run-group" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code title={errorType}>
          <ErrorText text={text} />
        </code>
        {body !== undefined && <span className="run-group-body">{body}</span>}
        <span className="run-group-count">
          {countOf(cells, 'cell')} {ofFields(Object.keys(fields), contract.titleOf)}
        </span>
      </summary>
      {isOpen && <Cells run={run} group={group} contract={contract} />}
    </details>
  )
}

/** The cells of a group, with links to them. */
function Cells({ run, group, contract: { titleOf } }: Omit<GroupProps, 'isFirstOpen'>) {
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = useInfiniteQuery({
    ...failurePagesQuery(run.id, group.id),
    refetchInterval: run.state === 'running' ? REFETCH_MS : false,
  })
  const failures = data?.pages.flatMap((page) => page.failures) ?? []
  return (
    <>
      {error !== null && (
        <p className="form-error" role="alert">
          {messageOf(error)} <Button onClick={() => void refetch()}>Try again</Button>
        </p>
      )}
      <ul>
        {failures.map(({ record_id: recordId, field, error: whole, response_body: said }) => (
          <li key={`${recordId} ${field}`}>
            <Link
              href={cellPath({ recordId, field })}
              title={said === undefined ? whole : `${whole}: ${said}`}
            >
              <strong>{recordId}</strong> {titleOf(field)}
            </Link>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button className="run-group-more" disabled={isFetching} onClick={() => void fetchNextPage()}>
          More ({formatCount(failures.length)} of {formatCount(group.cells)} shown)
        </Button>
      )}
    </>
  )
}

function ofFields([first = '', ...more]: readonly string[], titleOf: (field: string) => string): string {
  return more.length === 0 ? `of ${titleOf(first)}` : `of ${more.length + 1} fields`
}

/** Prevents a line break at the arrow of `GET https://… -> 404`. */
function ErrorText({ text }: { readonly text: string }) {
  const at = text.indexOf(ARROW)
  if (at < 0) return text
  const end = text.indexOf(' ', at + ARROW.length)
  const tail = end < 0 ? text.length : end
  return (
    <>
      {text.slice(0, at)} <span className="arrow">{text.slice(at + 1, tail)}</span>
      {text.slice(tail)}
    </>
  )
}

const ARROW = ' -> '
