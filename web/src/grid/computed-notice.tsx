import { useQuery } from '@tanstack/react-query'
import { Play, Sparkles } from 'lucide-react'
import { statusQuery } from '../api/queries.ts'
import { openPendingRun } from '../runs/dialogs/run-dialog.tsx'
import { useRunningRun } from '../runs/progress/running-cells.ts'
import { Button } from '../ui/button.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import './computed-notice.css'
import type { GridModel } from './interaction/use-grid.ts'
import { firstDerived, showColumn } from './layout/use-showing-run.ts'

/** Says that the sheet has computed columns, which may be out of view, until a cell of them has been computed. */
export function ComputedNotice({ model: { columns, scroller, running } }: { readonly model: GridModel }) {
  const { data } = useQuery(statusQuery)
  const { run } = useRunningRun()
  const targets = Object.values(data ?? {})
  const missing = targets.reduce((sum, each) => sum + each.missing, 0)
  const isNew = targets.every((each) => each.missing === each.total_records)
  if (missing === 0 || !isNew || run !== null || running.targets !== null) return null
  const first = firstDerived(columns.layout)
  return (
    <div className="computed-notice" role="group" aria-label="Computed columns">
      <Sparkles size={14} aria-hidden="true" />
      <span>
        {countOf(targets.length, 'computed column')} · {formatCount(missing)} empty
      </span>
      <Button icon={<Play size={14} />} onClick={openPendingRun}>
        Compute…
      </Button>
      {first !== undefined && (
        <Button look="quiet" onClick={() => showColumn(first, columns.layout, scroller)}>
          Show {targets.length === 1 ? 'it' : 'them'}
        </Button>
      )}
    </div>
  )
}
