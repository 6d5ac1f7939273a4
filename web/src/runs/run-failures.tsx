import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { RunSummary } from '../../../src/wire/runs/runs.ts'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { Button } from '../ui/button.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import { cellPath } from '../state/view-state.ts'
import { groupFailures, type FailureGroup } from './group-failures.ts'
import { failurePagesQuery } from './run-queries.ts'

interface RunFailuresProps {
  readonly run: RunSummary
  readonly contract: SheetContract
}

/** The interval of refetching failures during a run. */
const REFETCH_MS = 3000

/** The failed cells of a run, grouped by error, with links to the cells. */
export function RunFailures({ run, contract }: RunFailuresProps) {
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = useInfiniteQuery({
    ...failurePagesQuery(run.id),
    enabled: run.failed > 0,
    refetchInterval: run.state === 'running' ? REFETCH_MS : false,
  })
  const failures = useMemo(() => data?.pages.flatMap((page) => page.failures) ?? [], [data])
  const groups = useMemo(() => groupFailures(failures), [failures])
  if (run.failed === 0) return null
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
      {groups.map((group) => (
        <Group
          key={`${group.errorType} ${group.text}`}
          group={group}
          contract={contract}
          isOnly={groups.length === 1}
        />
      ))}
      {hasNextPage && (
        <Button disabled={isFetching} onClick={() => void fetchNextPage()}>
          More ({formatCount(failures.length)} of {formatCount(run.failed)} shown)
        </Button>
      )}
    </section>
  )
}

interface GroupProps {
  readonly group: FailureGroup
  readonly contract: SheetContract
  readonly isOnly: boolean
}

/** The size from which a group is collapsed. */
const FOLDED_FROM = 4

function Group({ group: { text, errorType, body, failures }, contract, isOnly }: GroupProps) {
  const { titleOf } = contract
  return (
    <details className="run-group" open={isOnly || failures.length < FOLDED_FROM}>
      <summary>
        <code title={errorType}>
          <ErrorText text={text} />
        </code>
        {body !== undefined && <span className="run-group-body">{body}</span>}
        <span className="run-group-count">
          {countOf(failures.length, 'cell')} {ofFields(failures, titleOf)}
        </span>
      </summary>
      <ul>
        {failures.map(({ record_id: recordId, field, error, response_body: said }) => (
          <li key={`${recordId} ${field}`}>
            <Link
              href={cellPath({ recordId, field })}
              title={said === undefined ? error : `${error}: ${said}`}
            >
              <strong>{recordId}</strong> {titleOf(field)}
            </Link>
          </li>
        ))}
      </ul>
    </details>
  )
}

function ofFields(failures: FailureGroup['failures'], titleOf: (field: string) => string): string {
  const [first = '', ...more] = new Set(failures.map(({ field }) => field))
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
