import { useQuery } from '@tanstack/react-query'
import { Check, Copy } from 'lucide-react'
import type { SheetContract } from '../api/contract.ts'
import { cellStatesQuery, recordQuery } from '../api/queries.ts'
import { useAsOf } from '../state/as-of.ts'
import type { CellRef } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import type { CellStateName } from '../ui/cell-state.tsx'
import { useCellData } from './use-cell-data.ts'
import { useCopy } from '../ui/copy-button.tsx'
import { DeletedNote } from './deleted-note.tsx'
import { PanelError, PanelLoading } from './panel-notes.tsx'
import { RecordRow } from './record-row.tsx'
import './record-tab.css'

interface RecordTabProps {
  readonly contract: SheetContract
  /** The selected cell. */
  readonly cell: CellRef
  readonly onSelect: (cell: CellRef) => void
}

/** All fields of a record with their values, states and origins. */
export function RecordTab({ contract, cell, onSelect }: RecordTabProps) {
  const { recordId } = cell
  const asOf = useAsOf()
  const { data: record, error, refetch } = useQuery(recordQuery(recordId, asOf))
  const { isGone } = useCellData(contract, cell)
  const { data: states } = useQuery({ ...cellStatesQuery([recordId]), enabled: !isGone && asOf === null })
  if (error !== null && record === undefined && !isGone)
    return <PanelError error={error} onRetry={() => void refetch()} />
  if (record === undefined && !isGone) return <PanelLoading />
  return (
    <>
      {isGone || record === undefined ? <DeletedNote recordId={recordId} /> : <RecordHead record={record} />}
      <ul className="record-fields">
        {contract.fields.map((field) => (
          <RecordRow
            key={field.name}
            recordId={recordId}
            field={field}
            value={isGone ? null : record?.[field.name]}
            state={(states?.[recordId]?.[field.name] ?? null) as CellStateName | null}
            isSelected={field.name === cell.field}
            onSelect={() => onSelect({ recordId, field: field.name })}
          />
        ))}
      </ul>
    </>
  )
}

function RecordHead({ record }: { readonly record: Readonly<Record<string, unknown>> }) {
  const [copied, copy] = useCopy(JSON.stringify(record, null, 2))
  return (
    <div className="record-head">
      <span className="panel-faint">{Object.keys(record).length} fields</span>
      <Button
        look="quiet"
        icon={copied ? <Check size={14} className="copied" /> : <Copy size={14} />}
        onClick={copy}
      >
        {copied ? 'Copied' : 'Copy as JSON'}
      </Button>
    </div>
  )
}
