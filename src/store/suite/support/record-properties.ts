/** A contract with every type of field, two of them derived, and several permissions. */
export const RECORD_PROPERTIES = [
  '{name: name, logicalType: string, required: true}',
  '{name: n, logicalType: integer}',
  '{name: x, logicalType: number}',
  '{name: ok, logicalType: boolean}',
  '{name: day, logicalType: date}',
  '{name: at, logicalType: timestamp}',
  '{name: list, logicalType: array}',
  '{name: thing, logicalType: object}',
  '{name: code, logicalType: string, unique: true}',
  "{name: owned, logicalType: string, customProperties: [{property: editableBy, value: ['agent:*']}]}",
  '{name: label, logicalType: string}',
  '{name: note, logicalType: string, customProperties: [{property: editableBy, value: ["human:*"]}]}',
]
