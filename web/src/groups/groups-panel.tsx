import { X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import type { GroupsView, ViewChange, ViewState } from '../state/view-state.ts'
import { IconButton } from '../ui/button.tsx'
import '../ui/side-panel.css'
import { GroupChart } from './group-chart.tsx'
import { GroupsForm } from './groups-form.tsx'
import './groups-panel.css'

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
  return (
    <>
      <GroupsForm contract={contract} groups={groups} onChange={(next) => change({ groups: next })} />
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
