import type { FieldType } from './contract.ts'

/** Whether a value in JSON is one that a field of the type has; for null, which each may have, ask before. */
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
