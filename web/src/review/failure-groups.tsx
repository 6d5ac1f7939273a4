import { useQuery } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import type { SheetContract } from '../api/contract.ts'
import { server } from '../api/server.ts'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { groupFailures, type FailureGroup, type RunFailure } from '../runs/group-failures.ts'
import { Button } from '../ui/button.tsx'
import { countOf } from '../ui/format.ts'
import type { QueuedCell } from './review-queue.ts'

/** Runs whose failures are read, and failures of each. */
const RUNS = 10
const FAILURES = 1000

interface FailureGroupsProps {
  readonly contract: SheetContract
  readonly cells: readonly QueuedCell[]
  /** Whether the queue has cells that are not read yet. */
  readonly hasMore: boolean
  /** Shows a cell. */
  readonly onSelect: (cell: QueuedCell) => void
}

/** The failed cells of the queue by the reason of their failure, each group with a retry. */
export function FailureGroups({ contract, cells, hasMore, onSelect }: FailureGroupsProps) {
  const failed = cells.filter(({ state }) => state === 'failed')
  const { data } = useQuery({ ...latestFailuresQuery, enabled: failed.length > 0 })
  if (failed.length === 0 || data === undefined) return null
  const known = failed.flatMap((cell) => data.get(keyOf(cell.recordId, cell.field)) ?? [])
  if (known.length === 0) return null
  return (
    <section className="review-groups" aria-labelledby="review-groups-title">
      <h3 id="review-groups-title">
        Failures by reason{hasMore && `, of the first ${countOf(cells.length, 'cell')}`}
      </h3>
      <ul>
        {groupFailures(known).map((group) => (
          <li key={`${group.errorType} ${group.text}`}>
            <button
              type="button"
              className="review-group"
              title="Show the first of these cells"
              onClick={() => {
                const [first] = group.failures
                const cell = failed.find(
                  ({ recordId, field }) => recordId === first?.record_id && field === first.field,
                )
                if (cell !== undefined) onSelect(cell)
              }}
            >
              <code>{group.text}</code>
              <span>{countOf(group.failures.length, 'cell')}</span>
            </button>
            <Button icon={<RotateCw size={14} />} onClick={() => retry(group, contract)}>
              Retry {group.failures.length === 1 ? 'this cell' : `these ${group.failures.length}`}…
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function retry({ failures }: FailureGroup, contract: SheetContract): void {
  const targets = [...new Set(failures.map(({ field }) => field))]
  const order = { targets, record_ids: [...new Set(failures.map(({ record_id: id }) => id))] }
  const of = targets.map(contract.titleOf).join(', ')
  openRunDialog({ ...order, only: 'failed' }, `Retry ${countOf(failures.length, 'failed cell')} of ${of}`)
}

/** The latest failure of each cell, of the latest runs with failures. */
const latestFailuresQuery = {
  queryKey: ['runs', 'latest failures'],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
    const { runs } = await server.runs.list({ limit: 100 }, { signal })
    const latest = new Map<string, RunFailure>()
    for (const { id } of runs.filter(({ failed }) => failed > 0).slice(0, RUNS)) {
      const { failures } = await server.runs.failures(id, { limit: FAILURES }, { signal })
      for (const failure of failures) {
        const key = keyOf(failure.record_id, failure.field)
        if (!latest.has(key)) latest.set(key, failure)
      }
    }
    return latest
  },
  staleTime: Infinity,
}

function keyOf(recordId: string, field: string): string {
  return `${field}\0${recordId}`
}
