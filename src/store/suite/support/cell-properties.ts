import { target } from './test-sheet.ts'

const BY_HUMANS = 'customProperties: [{property: editableBy, value: ["human:*"]}]'
/** A contract with derived fields, one of them computed from another. */
export const CELL_PROPERTIES = [
  '{name: a, logicalType: string}',
  '{name: b, logicalType: integer}',
  `{name: one, logicalType: string, ${BY_HUMANS}}`,
  `{name: two, logicalType: string, ${BY_HUMANS}}`,
  '{name: next, logicalType: object}',
  '{name: code, logicalType: string, unique: true}',
]

export const CELL_TARGETS = [
  target('one', ['a'], { derivation: 'pair.yaml' }),
  target('two', ['a'], { derivation: 'pair.yaml' }),
  target('next', ['one', 'b']),
  target('code', ['b']),
]
