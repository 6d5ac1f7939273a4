import type { FieldType, SheetField } from '../api/contract.ts'

/** A field for tests. */
export function testField(name: string, type: FieldType, more: Partial<SheetField> = {}): SheetField {
  return {
    name,
    title: name,
    description: null,
    type,
    primaryKey: false,
    required: false,
    unique: false,
    values: null,
    options: {},
    editableBy: null,
    derived: null,
    ...more,
  }
}
