import type { SheetContract } from '../api/contract.ts'
import { EXPORT_FORMATS, exportView, type ExportFormat } from '../files/export-view.ts'
import { chooseFile } from '../files/import-store.ts'
import { filterOf } from '../state/view-state.ts'
import type { MenuCommand } from '../ui/command-menu.tsx'
import { showError } from '../ui/toasts.tsx'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { fieldNames, type GridDialog } from './grid-toolbar.tsx'
import { isSortable } from './columns/column-head-props.ts'
import type { Editor } from './interaction/use-editor.ts'
import type { GridModel } from './interaction/use-grid.ts'

interface Latest {
  readonly current: {
    readonly model: GridModel
    readonly editor: Editor
    readonly setDialog: (dialog: GridDialog) => void
    readonly find: () => void
    /** Shows the state before or after a change, or the present one. */
    readonly time: (to: 'previous' | 'next' | 'now' | 'earlier') => void
  }
}

/** Returns the commands of the grid while it shows an earlier state. */
export function pastCommands(latest: Latest): readonly MenuCommand[] {
  const model = () => latest.current.model
  return [
    { group: 'Time', name: 'Go to the previous change', run: () => latest.current.time('previous') },
    { group: 'Time', name: 'Go to the next change', run: () => latest.current.time('next') },
    { group: 'Time', name: 'Back to now', run: () => latest.current.time('now') },
    ...moveCommands(latest),
    {
      group: 'Records',
      name: 'Show the provenance of the selected cell',
      run: () => openPanel(model()),
    },
    { group: 'Columns', name: 'Show all columns', run: () => showAll(model()) },
  ]
}

function moveCommands(latest: Latest): readonly MenuCommand[] {
  const model = () => latest.current.model
  return [
    { group: 'Records', name: 'Go to record number…', run: () => latest.current.setDialog('goTo') },
    { group: 'Records', name: 'Go to the first record', run: () => goToRow(model(), 0) },
    { group: 'Records', name: 'Go to the last record', run: () => goToRow(model(), Infinity) },
  ]
}

/** Returns the grid's commands for the command menu. */
export function gridCommands(
  contract: SheetContract,
  latest: Latest,
  mayChange: boolean,
): readonly MenuCommand[] {
  const now = () => latest.current
  const model = () => latest.current.model
  const records: MenuCommand[] = [
    { group: 'Records', name: 'Add a record', run: () => now().setDialog('new') },
    // After the menu has closed and returned the focus.
    { group: 'Records', name: 'Find a text…', run: () => setTimeout(() => now().find()) },
    ...moveCommands(latest),
    { group: 'Records', name: 'Select all records', run: () => model().checked.all() },
    { group: 'Records', name: 'Delete the selected records…', run: () => deleteChecked(now()) },
    { group: 'Records', name: 'Edit the selected cell', run: () => now().editor.begin(null) },
    { group: 'Records', name: 'Show the provenance of the selected cell', run: () => openPanel(model()) },
    { group: 'Records', name: 'Undo the last edit', run: () => model().editing.undo() },
    { group: 'Records', name: 'Redo the last edit', run: () => model().editing.redo() },
    {
      group: 'Records',
      name: 'Show the pinned charts',
      run: () => model().change({ charts: true, groups: null }),
    },
    { group: 'Records', name: 'Clear the filter', run: () => model().change({ conditions: [], sql: null }) },
  ]
  const columns: MenuCommand[] = [
    { group: 'Columns', name: 'Show all columns', run: () => showAll(model()) },
    {
      group: 'Columns',
      name: 'Reset the columns to the contract',
      run: () => model().columns.reset(),
    },
    {
      group: 'Columns',
      name: 'Show or hide column summaries',
      run: () => model().columns.showSummaries(!model().columns.showsSummaries),
    },
    { group: 'Columns', name: 'Clear the sort order', run: () => model().change({ sort: null }) },
    ...contract.fields.filter(isSortable).map(({ name, title }) => ({
      group: 'Columns',
      name: `Sort by ${title}`,
      run: () => model().change({ sort: name }),
    })),
  ]
  return [
    ...records,
    { group: 'Time', name: 'Look at an earlier state', run: () => now().time('earlier') },
    ...columns,
    ...fileCommands(model),
    ...(mayChange ? definitionCommands(contract, model) : []),
    ...runCommands(contract),
  ]
}

function fileCommands(model: () => GridModel): readonly MenuCommand[] {
  const exportNow = async (format: ExportFormat): Promise<void> => {
    const { view, columns } = model()
    await exportView(format, { filter: filterOf(view), sort: view.sort, fields: fieldNames(columns) })
  }
  const exports = Object.entries(EXPORT_FORMATS).map(([format, name]) => ({
    group: 'Files',
    name: `Export the view as ${name}`,
    run: () => void exportNow(format as ExportFormat).catch(showError),
  }))
  return [{ group: 'Files', name: 'Import a file…', run: chooseFile }, ...exports]
}

function definitionCommands({ fields }: SheetContract, model: () => GridModel): readonly MenuCommand[] {
  return [
    { group: 'Columns', name: 'Add a column…', run: () => model().drawer.add(null) },
    ...fields
      .filter(({ primaryKey }) => !primaryKey)
      .map(({ name, title }) => ({
        group: 'Columns',
        name: `Edit the field ${title}…`,
        run: () => model().drawer.edit(name),
      })),
  ]
}

function runCommands({ fields }: SheetContract): readonly MenuCommand[] {
  return fields
    .filter((field) => field.derived !== null)
    .map(({ name, title }) => ({
      group: 'Compute',
      name: `Compute ${title}…`,
      run: () => openRunDialog({ targets: [name] }, `Compute ${title}`),
    }))
}

function goToRow({ selecting, scroller }: GridModel, row: number): void {
  selecting.goTo({ row, column: selecting.selection?.focus.column ?? 0 })
  scroller.element?.focus({ preventScroll: true })
}

function deleteChecked({ model, setDialog }: Latest['current']): void {
  if (model.checked.ids.size > 0) setDialog('delete')
}

function openPanel({ change, selecting, view }: GridModel): void {
  const cell = selecting.cell ?? view.cell
  if (cell !== null) change({ panel: true, cell })
}

function showAll({ columns }: GridModel): void {
  columns.show(columns.hidden.map(({ name }) => name))
}
