import { countOf } from '../../ui/format.ts'
import { MenuItem } from '../../ui/menu-item.tsx'
import { showError } from '../../ui/toasts.tsx'
import { createRecords } from '../interaction/add-record.ts'
import type { GridModel } from '../interaction/use-grid.ts'
import type { MenuRecords } from './menu-records.ts'

export interface RecordItemsProps {
  readonly model: GridModel
  readonly records: MenuRecords
  /** Asks whether to delete records. */
  readonly onDelete: (ids: readonly string[]) => void
}

/** Returns the object of a menu item: `record`, or `3 records`. */
export function recordText(count: number): string {
  return count === 1 ? 'record' : countOf(count, 'record')
}

/** The items for whole records that the menus of cells and rows have both. */
export function RecordItems({ model, records, onDelete }: RecordItemsProps) {
  const { editing, contract, checked } = model
  const what = recordText(records.count)
  const duplicate = async (): Promise<void> => {
    const copied = contract.fields.filter((field) => editing.mayWrite(field) && field.derived === null)
    const originals = await records.read()
    await createRecords(
      model,
      originals.map((record) => Object.fromEntries(copied.map(({ name }) => [name, record[name] ?? null]))),
    )
  }
  return (
    <>
      <MenuItem onSelect={() => void records.ids().then(checked.add, showError)}>Select {what}</MenuItem>
      <MenuItem isDisabled={editing.refusal !== null} onSelect={() => void duplicate().catch(showError)}>
        Duplicate {what}
      </MenuItem>
      <MenuItem isDisabled={!editing.mayDelete} onSelect={() => void records.ids().then(onDelete, showError)}>
        Delete {what}…
      </MenuItem>
    </>
  )
}
