import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { releaseList } from '../live/held-list.ts'
import { showError } from '../ui/toasts.tsx'
import { useCommands } from '../ui/command-menu.tsx'
import { DeleteRecordsDialog } from '../editing/records/delete-records-dialog.tsx'
import { NewRecordDialog } from '../editing/records/new-record-dialog.tsx'
import { ImportHost } from '../files/import-host.tsx'
import { CellPanel } from '../provenance/cell-panel.tsx'
import { ComputedNotice } from './computed-notice.tsx'
import { GoToDialog } from './go-to-dialog.tsx'
import { gridCommands, pastCommands } from './grid-commands.ts'
import { Grid } from './grid.tsx'
import { GridNotice, HeldNotice, PageError } from './grid-notice.tsx'
import { GridFooter } from './grid-footer.tsx'
import { addEmptyRecord, mayBeEmpty } from './interaction/add-record.ts'
import { GridToolbar, type GridDialog } from './grid-toolbar.tsx'
import { useEditor } from './interaction/use-editor.ts'
import { useGrid } from './interaction/use-grid.ts'
import { StateChips } from '../review/state-chips.tsx'
import { useOpenView } from '../state/saved-view.ts'
import { useLatest } from '../ui/use-latest.ts'
import { OpenGroups } from './open-groups.tsx'
import { OpenDrawer } from './columns/open-drawer.tsx'
import { OpenFind, useFinding } from './open-find.tsx'
import { OpenTimeBar, useTime } from './open-time-bar.tsx'
import { PAST_REASON } from '../state/as-of.ts'

const ReviewMode = lazy(() => import('../review/review-mode.tsx'))

/** The page with the records, once the view of the URL is known. */
export function GridPage({ contract }: { readonly contract: SheetContract }) {
  const { isPending } = useOpenView()
  return isPending ? <div className="app-loading" aria-busy="true" /> : <RecordsPage contract={contract} />
}

function RecordsPage({ contract }: { readonly contract: SheetContract }) {
  const client = useQueryClient()
  const model = useGrid(contract)
  const editor = useEditor(model)
  const [dialog, setDialog] = useState<GridDialog>(null)
  const { view, change, rows, selecting, checked, scroller, drawer } = model
  /** The records to delete that are not the checked ones. */
  const [deleted, setDeleted] = useState<readonly string[] | null>(null)
  const close = (): void => {
    setDialog(null)
    setDeleted(null)
  }

  const isPast = view.asOf !== null
  const finding = useFinding(isPast)
  const time = useTime(view, change)
  const addRecord = (): void => {
    if (isPast) return showError(new Error(PAST_REASON))
    if (!mayBeEmpty(model)) return setDialog('new')
    releaseList(client)
    addEmptyRecord(model)
      .then(() => scroller.element?.focus({ preventScroll: true }))
      .catch(showError)
  }

  const latest = useLatest({ model, editor, setDialog, find: finding.open, time })
  const commands = useMemo(
    () => (isPast ? pastCommands(latest) : gridCommands(contract, latest, drawer.mayChange)),
    [contract, latest, drawer.mayChange, isPast],
  )
  const onTime = useCallback(() => latest.current.time(isPast ? 'now' : 'earlier'), [latest, isPast])
  const addColumn = useCallback(() => latest.current.model.drawer.add(null), [latest])
  useCommands('grid', commands)
  const { state } = drawer
  const isOpen = state !== null
  const isReview = view.review === true && !isPast
  const isShown = rows.error === null
  return (
    <div className="grid-page">
      <h1 className="visually-hidden">Records</h1>
      <GridToolbar
        contract={contract}
        view={view}
        change={change}
        columns={model.columns}
        count={rows.count}
        checkedIds={checked.ids}
        onUncheck={checked.none}
        mayDelete={model.editing.mayDelete}
        onAddColumn={drawer.mayChange ? addColumn : null}
        field={model.columns.layout.columns[selecting.selection?.focus.column ?? -1]?.field ?? null}
        onDialog={setDialog}
        onFind={finding.open}
        onTime={onTime}
      />
      {view.asOf !== null && <OpenTimeBar asOf={view.asOf} model={model} />}
      {!isPast && <StateChips contract={contract} view={view} change={change} />}
      {isShown && !isReview && !isPast && <ComputedNotice model={model} />}
      {isReview && (
        <Suspense fallback={<div className="grid-main" aria-busy="true" />}>
          <ReviewMode
            // Another filter has other cells.
            key={JSON.stringify([view.conditions, view.sql, view.sort])}
            contract={contract}
            view={view}
            change={change}
            onClose={(cell) => change({ review: false, ...(cell !== null && { cell }) })}
          />
        </Suspense>
      )}
      {!isReview && (
        <div className="grid-main">
          <div className="grid-place">
            {(rows.isWaiting || rows.isReading) && (
              <div className="grid-progress" role="progressbar" aria-label="Loading" />
            )}
            {isShown && (
              <Grid
                model={model}
                editor={editor}
                onGoToRecord={() => setDialog('goTo')}
                onDelete={setDeleted}
                onAdd={addRecord}
              />
            )}
            {(!isShown || rows.count === 0) && <GridNotice model={model} onAdd={() => setDialog('new')} />}
            {isShown && <PageError rows={rows} />}
            {isShown && <GridFooter model={model} onAdd={isPast ? null : addRecord} />}
            <HeldNotice />
            <OpenFind model={model} finding={finding} />
          </div>
          {!isPast && <OpenGroups model={model} />}
          {isOpen && <OpenDrawer model={model} />}
          {!isOpen && view.panel && view.cell !== null && (
            <CellPanel
              contract={contract}
              cell={selecting.cell ?? view.cell}
              tab={view.tab ?? 'cell'}
              onTab={(tab) => change({ tab })}
              onClose={() => change({ panel: false })}
              onSelect={selecting.reveal}
              onEditField={drawer.mayChange ? drawer.edit : null}
            />
          )}
        </div>
      )}
      {!isPast && <ImportHost contract={contract} mayAddFields={drawer.mayChange} />}
      <NewRecordDialog
        contract={contract}
        open={dialog === 'new'}
        onClose={close}
        onCreated={(id) => {
          close()
          releaseList(client)
          selecting.reveal({ recordId: id, field: contract.fields[0]?.name ?? 'id' })
        }}
      />
      <DeleteRecordsDialog
        contract={contract}
        ids={deleted ?? [...checked.ids]}
        open={dialog === 'delete' || deleted !== null}
        onClose={close}
        onDeleted={() => {
          close()
          releaseList(client)
          checked.none()
        }}
      />
      <GoToDialog
        count={rows.count ?? 0}
        open={dialog === 'goTo'}
        onClose={close}
        onGo={(row) => {
          close()
          selecting.goTo({ row, column: selecting.selection?.focus.column ?? 0 })
          scroller.element?.focus({ preventScroll: true })
        }}
      />
    </div>
  )
}
