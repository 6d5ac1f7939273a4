import { LayoutDashboard, X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import type { SheetContract } from '../api/contract.ts'
import type { GroupsView, ViewChange, ViewState } from '../state/view-state.ts'
import { IconButton } from '../ui/button.tsx'
import '../ui/menu.css'
import '../ui/side-panel.css'
import { ChartsPanel } from './charts-panel.tsx'
import { GroupChart } from './group-chart.tsx'
import { GroupsForm } from './groups-form.tsx'
import './groups-panel.css'
import { PinChart } from './pin-chart.tsx'

interface GroupsPanelProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly onClose: () => void
}

/** The panel beside the grid with groups of its records, or with the pinned charts. */
export default function GroupsPanel({ contract, view, change, onClose }: GroupsPanelProps) {
  const { groups } = view
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    event.stopPropagation()
    onClose()
  }
  const title = groups === null ? 'Pinned charts' : 'Groups'
  return (
    <aside className="side-panel groups-panel" aria-label={title} onKeyDown={onKeyDown}>
      <header className="side-panel-head groups-head">
        <h2>{title}</h2>
        {groups !== null && (
          <IconButton label="Pinned charts" onClick={() => change({ groups: null, charts: true })}>
            <LayoutDashboard size={16} />
          </IconButton>
        )}
        <IconButton label={groups === null ? 'Close the charts' : 'Close the groups'} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {groups === null ? (
        <ChartsPanel contract={contract} view={view} change={change} />
      ) : (
        <Groups contract={contract} view={view} change={change} groups={groups} />
      )}
    </aside>
  )
}

interface GroupsProps extends Omit<GroupsPanelProps, 'onClose'> {
  readonly groups: GroupsView
}

/** A chart of groups, and a list in which each can be opened. */
function Groups({ contract, view, change, groups }: GroupsProps) {
  const by = contract.fieldByName.get(groups.by)
  if (by === undefined)
    return <p className="groups-note">The contract has no field {groups.by} (any more).</p>
  return (
    <>
      <GroupsForm contract={contract} groups={groups} onChange={(next) => change({ groups: next })}>
        <PinChart
          contract={contract}
          groups={groups}
          onCharts={() => change({ groups: null, charts: true })}
        />
      </GroupsForm>
      <div className="groups-body">
        <GroupChart
          contract={contract}
          groups={groups}
          by={by}
          conditions={view.conditions}
          sql={view.sql}
          onFilter={(conditions) => change({ conditions })}
          most={null}
        />
      </div>
    </>
  )
}
