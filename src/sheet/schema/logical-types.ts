import { LOGICAL_TYPES, type LogicalType } from '../../contract/contract.ts'

export { LOGICAL_TYPES, type LogicalType }

/** Whether a word is the name of a field type. */
export function isLogicalType(word: string): word is LogicalType {
  return (LOGICAL_TYPES as readonly string[]).includes(word)
}
