import { createHash } from 'node:crypto'
import type { Field, LogicalType } from '../../../contract/contract.ts'

/** The most bytes of a name in PostgreSQL, which truncates longer ones, so that two may become equal. */
export const NAME_BYTES = 63

/** The members of a field that its column needs. */
export type TypedField = Pick<Field, 'name' | 'type'>

/** Whether columns may not preserve values of the type exactly. */
export function mayDiffer(type: LogicalType): boolean {
  return type === 'timestamp' || type === 'date' || type === 'array' || type === 'object'
}

/** Returns the name of something that belongs to a field: a hash stands for a field name that leaves no room. */
export function nameFor(use: string, field: string): string {
  const plain = `$${use}_${field}`
  if (Buffer.byteLength(plain) <= NAME_BYTES) return plain
  return `$${use}_${createHash('sha256').update(field).digest('hex').slice(0, 40)}`
}

/**
 * Returns the column beside that of a field whose type {@link mayDiffer}: as JSON, the values that the latter does not
 * preserve exactly; null for all others. It is renamed together with the column of the field.
 */
export function writtenColumn(name: string): string {
  return nameFor('written', name)
}

/** Returns the columns that have the values of fields. */
export function columnsOf(fields: readonly TypedField[]): string[] {
  return fields.flatMap(({ name, type }) => (mayDiffer(type) ? [name, writtenColumn(name)] : [name]))
}
