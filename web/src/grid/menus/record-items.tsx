import { countOf } from '../../ui/format.ts'
import { MenuItem } from '../../ui/menu-item.tsx'
import { showError } from '../../ui/toasts.tsx'
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
  const { editing, contract, selecting, checked } = model
  const what = recordText(records.count)
  const duplicate = async (): Promise<void> => {
    const copied = contract.fields.filter((field) => editing.mayWrite(field) && field.derived === null)
    const originals = await records.read()
    const made = await editing.create(
      originals.map((record) => Object.fromEntries(copied.map(({ name }) => [name, record[name] ?? null]))),
    )
    const [first] = made
    if (first !== undefined) selecting.reveal({ recordId: first, field: contract.fields[0]?.name ?? 'id' })
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
