import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { useRef, type CSSProperties, type FocusEvent, type KeyboardEvent } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { recordQuery } from '../api/queries.ts'
import { useAsOf } from '../state/as-of.ts'
import type { CellRef, PanelTab } from '../state/view-state.ts'
import { IconButton } from '../ui/button.tsx'
import { useCellData } from './use-cell-data.ts'
import '../ui/side-panel.css'
import './cell-panel.css'
import { CellTab } from './cell-tab.tsx'
import { nameField } from '../values/name-field.ts'
import { usePanelWidth } from './panel-width.ts'
import { HistoryTab } from './history-tab.tsx'
import { RecordTab } from './record-tab.tsx'
import { ResizeHandle } from './resize-handle.tsx'
import { useThrottledCell, useSettledCell } from './use-settled-cell.ts'

interface CellPanelProps {
  readonly contract: SheetContract
  readonly cell: CellRef
  readonly tab: PanelTab
  readonly onTab: (tab: PanelTab) => void
  readonly onClose: () => void
  readonly onSelect: (cell: CellRef) => void
  /** Edits a field; null where the service refuses it. */
  readonly onEditField: ((name: string) => void) | null
}

/** The provenance panel of the selected cell and its record. */
export function CellPanel(props: CellPanelProps) {
  const { contract, cell, tab, onTab, onClose, onSelect, onEditField } = props
  const [width, setWidth] = usePanelWidth()
  const throttled = useThrottledCell(cell)
  const { isComplete } = useCellData(contract, throttled)
  const shown = useSettledCell(throttled, isComplete)
  const { onFocus, restoreFocus } = useFocusFromOutside()
  const close = (): void => {
    restoreFocus()
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    event.stopPropagation()
    close()
  }
  const style: CSSProperties & { '--panel-width': string } = { '--panel-width': `${width}px` }
  return (
    <aside
      className="side-panel cell-panel"
      aria-label="Provenance"
      style={style}
      onFocus={onFocus}
      onKeyDown={onKeyDown}
    >
      <ResizeHandle width={width} onResize={setWidth} />
      <Tabs.Root value={tab} onValueChange={(next) => onTab(next as PanelTab)} className="panel-tabs">
        <header className="side-panel-head panel-head">
          <RecordName contract={contract} recordId={shown.recordId} />
          <Tabs.List className="panel-tab-list" aria-label="View">
            <Tabs.Trigger value="cell">Cell</Tabs.Trigger>
            <Tabs.Trigger value="record">Record</Tabs.Trigger>
            <Tabs.Trigger value="history">History</Tabs.Trigger>
          </Tabs.List>
          <IconButton label="Close the panel" onClick={close}>
            <X size={16} />
          </IconButton>
        </header>
        <Tabs.Content value="cell" className="panel-body" tabIndex={-1}>
          <CellTab
            key={`${shown.recordId} ${shown.field}`}
            contract={contract}
            cell={shown}
            onSelect={onSelect}
            onEditField={onEditField}
          />
        </Tabs.Content>
        <Tabs.Content value="record" className="panel-body" tabIndex={-1}>
          <RecordTab key={shown.recordId} contract={contract} cell={shown} onSelect={onSelect} />
        </Tabs.Content>
        <Tabs.Content value="history" className="panel-body" tabIndex={-1}>
          <HistoryTab
            key={shown.recordId}
            contract={contract}
            recordId={shown.recordId}
            onCell={(wanted) => {
              onTab('cell')
              onSelect(wanted)
            }}
          />
        </Tabs.Content>
      </Tabs.Root>
    </aside>
  )
}

function RecordName({ contract, recordId }: { readonly contract: SheetContract; readonly recordId: string }) {
  const { data: record } = useQuery(recordQuery(recordId, useAsOf()))
  const field = nameField(contract.fields)
  const name = field === null ? null : record?.[field.name]
  return (
    <p className="panel-record">
      <code title={recordId}>{recordId}</code>
      {typeof name === 'string' && name !== '' && <span title={name}>{name}</span>}
    </p>
  )
}

/** Returns the focus to where it was before it entered the panel, when the panel closes. */
function useFocusFromOutside() {
  const before = useRef<HTMLElement | null>(null)
  const onFocus = ({ relatedTarget, currentTarget }: FocusEvent): void => {
    if (relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget))
      before.current = relatedTarget
  }
  const restoreFocus = (): void => {
    if (before.current?.isConnected === true) before.current.focus({ preventScroll: true })
  }
  return { onFocus, restoreFocus }
}
