import type { Contract, Field, LogicalType } from '../../contract/contract.ts'

/** Test support: a contract with the field `id` and these others, without constraints. */
export function testContract(types: Readonly<Record<string, LogicalType>>): Contract {
  const fields = [
    testField('id', 'string'),
    ...Object.entries(types).map(([name, type]) => testField(name, type)),
  ]
  return {
    document: {},
    fields,
    fieldByName: new Map(fields.map((field) => [field.name, field])),
    deletableBy: null,
    text: '',
  }
}

function testField(name: string, type: LogicalType): Field {
  const isId = name === 'id'
  return {
    name,
    type,
    primaryKey: isId,
    required: isId,
    unique: isId,
    indexed: false,
    options: {},
    validValues: null,
    editableBy: null,
    declaredDerived: null,
    declaredInputs: null,
  }
}
