import type { SheetContract, SheetField } from '../api/contract.ts'
import { ANY_COLUMN } from '../state/conditions.ts'

/** Returns what stands for all columns in the form of a condition, which is then about cells and not about their values. */
export function anyColumn({ fields }: Pick<SheetContract, 'fields'>): SheetField {
  return {
    name: ANY_COLUMN,
    title: 'Any column',
    description: null,
    type: 'object',
    primaryKey: false,
    required: false,
    unique: false,
    values: null,
    options: {},
    editableBy: null,
    // Its cells have states where those of one column have.
    derived: fields.find(({ derived }) => derived !== null)?.derived ?? null,
  }
}
