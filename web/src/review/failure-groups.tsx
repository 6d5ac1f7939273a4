import { useQuery } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import type { FailureGroupAnswer } from '../../../src/wire/runs/failures.ts'
import type { SheetContract } from '../api/contract.ts'
import { failuresQuery } from '../api/queries.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import { filteredIds, MAX_FILTERED } from '../grid/rows/filtered-ids.ts'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { ANY_COLUMN, type Condition } from '../state/conditions.ts'
import { filterOf, type ViewChange, type ViewState } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import { showError } from '../ui/toasts.tsx'
import { selectedNames, toggleName } from './with-state.ts'

interface FailureGroupsProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
}

/** The failed cells of the view by the reason of their failure: a group can be reviewed alone, and retried. */
export function FailureGroups({ contract, view, change }: FailureGroupsProps) {
  const { conditions } = view
  const others = { ...view, conditions: conditions.filter(({ is }) => is !== 'failedWith') }
  const { data } = useQuery(failuresQuery(filterOf(others)))
  if (data === undefined || data.cells === 0) return null
  const { cells, groups } = data
  const selected = selectedNames(conditions, 'failedWith')
  const listed = groups.reduce((sum, group) => sum + group.cells, 0)
  return (
    <section className="review-groups" aria-labelledby="review-groups-title">
      <h3 id="review-groups-title">
        Failures by reason <small>{countOf(cells, 'cell')}</small>
      </h3>
      <ul>
        {groups.map((group) => (
          <li key={group.id}>
            <button
              type="button"
              className="review-group"
              aria-pressed={selected.includes(group.id)}
              title={selected.includes(group.id) ? 'Review all failures' : `Review these only: ${group.text}`}
              onClick={() => change({ conditions: toggleName(conditions, 'failedWith', group.id) })}
            >
              <code>{group.text}</code>
              <span>{countOf(group.cells, 'cell')}</span>
            </button>
            <RetryButton
              group={group}
              contract={contract}
              filter={filterOf({ ...others, conditions: [...others.conditions, conditionOn(group)] })}
            />
          </li>
        ))}
      </ul>
      {listed < cells && (
        <p className="form-hint">
          The {groups.length} most frequent reasons. {countOf(cells - listed, 'other cell')} failed for
          others.
        </p>
      )}
    </section>
  )
}

function conditionOn({ id }: FailureGroupAnswer): Condition {
  return { field: ANY_COLUMN, is: 'failedWith', value: [id] }
}

interface RetryButtonProps {
  readonly group: FailureGroupAnswer
  readonly contract: SheetContract
  /** The filter that selects the records of the group. */
  readonly filter: RecordFilter | null
}

/** The button that opens the plan of a run of the cells of a group. */
function RetryButton({ group: { cells, fields }, contract, filter }: RetryButtonProps) {
  const targets = Object.keys(fields)
  const isTooMany = Object.values(fields).some((count) => count > MAX_FILTERED)
  const retry = async (): Promise<void> => {
    if (filter === null) return
    const of = targets.map(contract.titleOf).join(', ')
    const ids = await filteredIds(filter)
    openRunDialog(
      { targets, record_ids: [...ids], only: 'failed' },
      `Retry ${countOf(cells, 'failed cell')} of ${of}`,
    )
  }
  return (
    <Button
      icon={<RotateCw size={14} />}
      disabled={isTooMany}
      title={isTooMany ? `At most ${formatCount(MAX_FILTERED)} records at once` : undefined}
      onClick={() => void retry().catch(showError)}
    >
      Retry {cells === 1 ? 'this cell' : `these ${formatCount(cells)}`}…
    </Button>
  )
}
