import { useQuery } from '@tanstack/react-query'
import { Bot, Check, Flag, ListChecks, Play } from 'lucide-react'
import type { ReactNode } from 'react'
import { reviewCountsQuery, statusQuery } from '../api/queries.ts'
import type { SheetContract } from '../api/contract.ts'
import type { ReviewListAnswer } from '../../../src/wire/records/reviews.ts'
import { shownCount } from '../derivations/status-text.ts'
import type { ViewChange, ViewState } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { StateMark, STATE_LABELS } from '../ui/cell-state.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import { FILTER_STATES, FILTER_VERDICTS } from '../ui/state-names.ts'
import './state-chips.css'
import { selectedNames, toggleName, type ChipOperator } from './with-state.ts'

interface StateChipsProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
}

type ChipState = Exclude<keyof typeof FILTER_STATES, 'fresh'>
type Verdict = keyof typeof FILTER_VERDICTS

const STATES = Object.keys(FILTER_STATES).filter((state): state is ChipState => state !== 'fresh')
const VERDICTS = Object.keys(FILTER_VERDICTS) as Verdict[]
const VERDICT_ICONS: Readonly<Record<Verdict, ReactNode>> = {
  flagged: <Flag size={12} aria-hidden="true" />,
  approved: <Check size={12} aria-hidden="true" />,
}

/** The actors whose values a chip counts together. */
const AGENTS = 'agent:*'

/** Returns the chips for the latest run, and for agents, that have written present values. */
function writerChips(writers: ReviewListAnswer['writers'] | undefined) {
  const latest = writers?.latest_run ?? null
  const byAgents = writers?.actors.filter(({ actor }) => actor.startsWith('agent:')) ?? []
  const run =
    latest === null
      ? []
      : [
          {
            is: 'writtenIn' as const,
            name: latest.run_id,
            label: `By run ${latest.run_id}`,
            mark: <Play size={12} aria-hidden="true" />,
            meaning: `Values that the latest run, of ${latest.actor}, has written, and that have not changed since`,
            count: latest.cells,
          },
        ]
  return [
    ...run,
    {
      is: 'writtenBy' as const,
      name: AGENTS,
      label: 'By agents',
      mark: <Bot size={12} aria-hidden="true" />,
      meaning: `Values that actors ${AGENTS} have written, and that have not changed since`,
      count: byAgents.reduce((sum, { cells }) => sum + cells, 0),
    },
  ]
}

/**
 * The number of computed cells in each state that needs attention of reviewed cells, and of cells by the writers of their values, in all records. A chip filters by
 * its state, and by those of the other chips that are on.
 */
export function StateChips({ contract, view, change }: StateChipsProps) {
  const hasComputed = contract.fields.some(({ derived }) => derived !== null)
  const status = useQuery({ ...statusQuery, enabled: hasComputed })
  const reviews = useQuery(reviewCountsQuery)
  const targets = Object.values(status.data ?? {})
  const chips = [
    ...STATES.map((state) => ({
      is: 'inState' as const,
      name: state,
      label: FILTER_STATES[state],
      mark: <StateMark state={state} />,
      meaning: STATE_LABELS[state],
      count: targets.reduce((sum, target) => sum + shownCount(target, state), 0),
    })),
    ...VERDICTS.map((verdict) => ({
      is: 'reviewed' as const,
      name: verdict,
      label: FILTER_VERDICTS[verdict],
      mark: VERDICT_ICONS[verdict],
      meaning: `Values that someone has ${verdict}, and that have not changed since`,
      count: reviews.data?.counts[verdict] ?? 0,
    })),
    ...writerChips(reviews.data?.writers),
  ]
  const isOn = (is: ChipOperator, name: string): boolean => selectedNames(view.conditions, is).includes(name)
  const shown = chips.filter(({ is, name, count }) => count > 0 || isOn(is, name))
  const hasSelected = shown.some(({ is, name }) => isOn(is, name))
  // Then another notice offers to compute the columns.
  const isNew = targets.every((target) => target.missing === target.total_records)
  const hasReviews = shown.some(({ is }) => is !== 'inState')
  if (!hasSelected && !hasReviews && (!hasComputed || isNew)) return null
  return (
    <div className="state-chips" role="group" aria-label="Filter by state">
      {shown.map(({ is, name, label, mark, meaning, count }) => (
        <button
          key={name}
          type="button"
          className="state-chip"
          aria-pressed={isOn(is, name)}
          title={`${countOf(count, 'cell')}. ${meaning}`}
          onClick={() => change({ conditions: toggleName(view.conditions, is, name) })}
        >
          {mark}
          {capitalized(label)} <strong>{formatCount(count)}</strong>
        </button>
      ))}
      <Button
        look="quiet"
        className="state-review"
        icon={<ListChecks size={14} />}
        title="Review the cells of these records one by one"
        onClick={() => change({ review: true })}
      >
        Review
      </Button>
    </div>
  )
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
