import { useQuery } from '@tanstack/react-query'
import { statusQuery } from '../api/queries.ts'
import type { SheetContract } from '../api/contract.ts'
import type { ViewChange, ViewState } from '../state/view-state.ts'
import { StateMark, STATE_LABELS } from '../ui/cell-state.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import { FILTER_STATES } from '../ui/state-names.ts'
import './state-chips.css'
import { selectedStates, toggleState } from './with-state.ts'

interface StateChipsProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
}

type ChipState = Exclude<keyof typeof FILTER_STATES, 'fresh'>

const STATES = Object.keys(FILTER_STATES).filter((state): state is ChipState => state !== 'fresh')

/**
 * The number of computed cells in each state that needs attention, in all records. A chip filters by its state, and by
 * those of the other chips that are on.
 */
export function StateChips({ contract, view, change }: StateChipsProps) {
  const hasComputed = contract.fields.some(({ derived }) => derived !== null)
  const { data } = useQuery({ ...statusQuery, enabled: hasComputed })
  const selected = selectedStates(view.conditions)
  const targets = Object.values(data ?? {})
  const shown = STATES.map((state) => ({
    state,
    count: targets.reduce((sum, target) => sum + target[state], 0),
  })).filter(({ state, count }) => count > 0 || selected.includes(state))
  // Then another notice offers to compute the columns.
  const isNew = targets.every((target) => target.missing === target.total_records)
  if (!hasComputed || shown.length === 0 || (isNew && selected.length === 0)) return null
  return (
    <div className="state-chips" role="group" aria-label="Filter by state">
      {shown.map(({ state, count }) => (
        <button
          key={state}
          type="button"
          className="state-chip"
          aria-pressed={selected.includes(state)}
          title={`${countOf(count, 'cell')} of computed columns. ${STATE_LABELS[state]}`}
          onClick={() => change({ conditions: toggleState(view.conditions, state) })}
        >
          <StateMark state={state} />
          {capitalized(FILTER_STATES[state])} <strong>{formatCount(count)}</strong>
        </button>
      ))}
    </div>
  )
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
