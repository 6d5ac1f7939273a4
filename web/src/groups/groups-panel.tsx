import { X } from 'lucide-react'
import { useState, type KeyboardEvent } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { filterOf, type GroupsView, type ViewChange, type ViewState } from '../state/view-state.ts'
import { useGroups, type GroupPeriod } from '../summary/use-summary.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { countOf } from '../ui/format.ts'
import '../ui/side-panel.css'
import { withoutField } from './group-conditions.ts'
import { GroupList } from './group-list.tsx'
import { groupRows } from './group-rows.ts'
import { GroupsForm } from './groups-form.tsx'
import './groups-panel.css'
import { HistogramView } from './histogram-view.tsx'
import { LineChart } from './line-chart.tsx'

interface GroupsPanelProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly groups: GroupsView
  readonly change: (change: ViewChange) => void
  readonly onClose: () => void
}

/** The panel beside the grid with groups of its records: a chart of them, and a list in which each can be opened. */
export default function GroupsPanel(props: GroupsPanelProps) {
  const { contract, groups, onClose } = props
  const by = contract.fieldByName.get(groups.by)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    event.stopPropagation()
    onClose()
  }
  return (
    <aside className="side-panel groups-panel" aria-label="Groups" onKeyDown={onKeyDown}>
      <header className="side-panel-head groups-head">
        <h2>Groups</h2>
        <IconButton label="Close the groups" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {by === undefined ? (
        <p className="groups-note">The contract has no field {groups.by} (any more).</p>
      ) : (
        <Groups {...props} by={by} />
      )}
    </aside>
  )
}

function Groups({ contract, view, groups, by, change }: GroupsPanelProps & { readonly by: SheetField }) {
  const [period, setPeriod] = useState<GroupPeriod>('month')
  const fieldOf = (name: string | null): SheetField | null => contract.fieldByName.get(name ?? '') ?? null
  const [split, total] = [fieldOf(groups.split), fieldOf(groups.total)]
  const { conditions } = view
  const filter = filterOf({ conditions: withoutField(conditions, by.name), sql: view.sql })
  const { data, error, isWaiting, retry } = useGroups(
    { group: by.name, split: split?.name, totals: total === null ? undefined : [total.name], period },
    filter,
  )
  const shown = data === null ? null : groupRows(data, { by, split, total })
  const isTime = by.type === 'date' || by.type === 'timestamp'
  const isNumber = by.type === 'number' || by.type === 'integer'
  const choosing = { by, conditions, onFilter: (wanted: typeof conditions) => change({ conditions: wanted }) }
  return (
    <>
      <GroupsForm
        contract={contract}
        groups={groups}
        period={isTime ? period : null}
        onChange={(next) => change({ groups: next })}
        onPeriod={setPeriod}
      />
      {error !== null && (
        <p className="groups-note" role="alert">
          Cannot count the groups: {messageOf(error)} <Button onClick={retry}>Try again</Button>
        </p>
      )}
      <div className="groups-body" aria-busy={isWaiting && error === null}>
        {shown !== null && (
          <>
            {isTime && <LineChart {...choosing} groups={shown} />}
            {isNumber && split === null && total === null && <HistogramView {...choosing} filter={filter} />}
            <GroupList {...choosing} split={split} total={total} groups={shown} />
            {shown.rows.length === 0 && <p className="groups-note">No record matches the filter.</p>}
            {shown.left > 0 && (
              <p className="groups-note">
                {countOf(shown.left, 'record')} in smaller groups, or with long texts.
              </p>
            )}
          </>
        )}
      </div>
    </>
  )
}
