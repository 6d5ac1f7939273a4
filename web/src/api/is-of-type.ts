import type { FieldType } from './contract.ts'

/** Whether a JSON value other than null has the type of a field. */
export function isOfType(type: FieldType, value: unknown): boolean {
  switch (type) {
    case 'integer':
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
    case 'string':
    case 'date':
    case 'timestamp':
    case 'time':
      return typeof value === 'string'
  }
}
