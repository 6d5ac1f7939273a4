import type { SheetField } from './contract.ts'

/** Returns a field for tests, with defaults for what is not given. */
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
