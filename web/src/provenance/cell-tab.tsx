import { useQuery } from '@tanstack/react-query'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { ProposedNote } from '../proposals/proposed-mark.tsx'
import { stateInRun, useRunning } from '../runs/progress/running-cells.ts'
import { recordQuery } from '../api/queries.ts'
import { useAsOf } from '../state/as-of.ts'
import { CellValueView } from '../values/cell-value-view.tsx'
import type { CellRef } from '../state/view-state.ts'
import { StateMark, STATE_LABELS, type CellStateName } from '../ui/cell-state.tsx'
import { Notice } from '../ui/notice.tsx'
import { useCellData, type CellData } from './use-cell-data.ts'
import './cell-tab.css'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { DeletedNote } from './deleted-note.tsx'
import { formatOf, useColumnSettings } from '../state/columns.ts'
import { FullValue, plainValue } from './diff/full-value.tsx'
import { History } from './history/history.tsx'
import { Inputs } from './explanation/inputs.tsx'
import { Origin } from './explanation/origin.tsx'
import { PanelError, PanelLoading } from './panel-notes.tsx'
import { StateExplanation } from './explanation/state-explanation.tsx'

interface CellTabProps {
  readonly contract: SheetContract
  readonly cell: CellRef
  readonly onSelect: (cell: CellRef) => void
  /** Edits a field; null where the service refuses it. */
  readonly onEditField: ((name: string) => void) | null
}

/** The value, state, origin and history of a cell. */
export function CellTab({ contract, cell, onSelect, onEditField }: CellTabProps) {
  const data = useCellData(contract, cell)
  const field = contract.fieldByName.get(cell.field)
  if (field === undefined) {
    return <Notice title="Field not found">The contract has no field {cell.field} (any more).</Notice>
  }
  const { record, history, why, isGone } = data
  return (
    <>
      <CellHead
        sheet={contract.name}
        recordId={cell.recordId}
        field={field}
        data={data}
        onEditField={onEditField}
      />
      {!isGone && <ProposedNote recordId={cell.recordId} field={cell.field} />}
      {isGone && history.error === null && <DeletedNote recordId={cell.recordId} />}
      {record.error !== null && record.data === undefined && !isGone && (
        <PanelError error={record.error} onRetry={() => void record.refetch()} />
      )}
      {history.error !== null && history.data === undefined ? (
        <PanelError error={history.error} onRetry={() => void history.refetch()} />
      ) : history.data === undefined ? (
        <PanelLoading />
      ) : (
        <>
          {why.error !== null && why.data === undefined && !isGone && (
            <PanelError error={why.error} onRetry={() => void why.refetch()} />
          )}
          {why.data !== undefined && !isGone && (
            <StateExplanation contract={contract} cell={cell} explanation={why.data} onSelect={onSelect} />
          )}
          <Origin field={field} cell={cell} history={history.data} />
          {!isGone && (
            <Inputs contract={contract} field={field} cell={cell} record={record.data} onSelect={onSelect} />
          )}
          <History
            field={field}
            cell={cell}
            history={history.data}
            value={isGone ? undefined : record.data?.[field.name]}
          />
        </>
      )}
    </>
  )
}

function CellHead({
  sheet,
  recordId,
  field,
  data: { record, why, isGone },
  onEditField,
}: {
  readonly recordId: string
  readonly sheet: string
  readonly field: SheetField
  readonly data: CellData
  readonly onEditField: CellTabProps['onEditField']
}) {
  const [settings] = useColumnSettings(sheet)
  const value = record.data?.[field.name]
  const running = useRunning()
  const stored = why.data?.state as CellStateName | undefined
  const state = stateInRun(running, { recordId, field: field.name }, stored)
  return (
    <section className="cell-head" aria-label="Value">
      <div className="cell-head-name">
        <h2 title={field.description ?? undefined}>
          {field.title}
          {field.title !== field.name && <code>{field.name}</code>}
        </h2>
        {onEditField !== null && !field.primaryKey && (
          <Button look="quiet" onClick={() => onEditField(field.name)}>
            Edit field…
          </Button>
        )}
      </div>
      {!isGone && record.data !== undefined && (
        <div className="cell-head-value">
          <FullValue type={field.type} value={value} format={formatOf(field, settings)} />
          {value !== null && value !== undefined && <CopyButton text={plainValue(value)} what="the value" />}
        </div>
      )}
      {!isGone && record.data !== undefined && <ValueNow recordId={recordId} field={field} then={value} />}
      {!isGone && field.derived !== null && (
        <p className="cell-head-state">
          {state !== undefined && (
            <>
              <StateMark state={state} />
              <StateText state={state} />
            </>
          )}
        </p>
      )}
    </section>
  )
}

/** The present value beside that of an earlier state, if it is another. */
function ValueNow({
  recordId,
  field,
  then,
}: {
  readonly recordId: string
  readonly field: SheetField
  readonly then: unknown
}) {
  const isPast = useAsOf() !== null
  const { data, error } = useQuery({ ...recordQuery(recordId), enabled: isPast })
  if (!isPast || (data === undefined && error === null)) return null
  if (data === undefined) return <p className="cell-now">The record does not exist now.</p>
  const now = data[field.name]
  if (JSON.stringify(now) === JSON.stringify(then)) return null
  return (
    <p className="cell-now">
      Now: <CellValueView type={field.type} values={field.values} value={now} />
    </p>
  )
}

/** The state with its meaning. */
function StateText({ state }: { readonly state: CellStateName }) {
  const [word, ...meaning] = STATE_LABELS[state].split(': ')
  return (
    <span>
      <strong className={`state-word ${state}`}>{word}:</strong>
      <span className="state-meaning"> {meaning.join(': ')}</span>
    </span>
  )
}
