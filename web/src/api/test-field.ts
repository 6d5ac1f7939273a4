import type { SheetField } from './contract.ts'

/** A field as tests need it: like any other but for what they say. */
export function testField(given: Partial<SheetField> = {}): SheetField {
  const name = given.name ?? 'word'
  return {
    name,
    title: name,
    description: null,
    type: 'string',
    primaryKey: false,
    required: false,
    unique: false,
    values: null,
    options: {},
    editableBy: null,
    derived: null,
    ...given,
  }
}
