import type { Contract, Field } from '../../../contract/contract.ts'
import { quoted } from './schema.ts'
import { nameFor } from './columns.ts'

/** An index of the table of records. */
export interface FieldIndex {
  /** Determines the definition: indexes of the same name have the same one. */
  readonly name: string
  /** The SQL after `ON "$data"`. */
  readonly definition: string
}

/**
 * The indexes that sort records by a field: `whole` is one index of all values. `divided` is one of the texts that fit into
 * an index, and another of those that do not.
 */
export type SortIndex = 'whole' | 'divided'

/** Bytes of a text that fit into an index, whatever they are: an entry takes about 2700. */
const INDEXED_BYTES = 2000

/**
 * The indexes of a contract's fields, but for that of `id`, which is the table's. None of them refuses anything: within a
 * batch two records may have the same value for a moment, when they swap theirs, and a text may have any length.
 *
 * - Most values are found and sorted along one. The place in creation order belongs to it, so that a page is part of the
 *   index, among equal values as well.
 * - Texts are found by one that takes any length, by ranges as well; they are sorted along another, and those that do not fit
 *   into that are listed apart.
 * - Timestamps are found by their column, and sorted by their moment to the millisecond.
 */
export function fieldIndexes({ fields }: Pick<Contract, 'fields'>): FieldIndex[] {
  return fields.filter(({ primaryKey }) => !primaryKey).flatMap(indexesOf)
}

function indexesOf(field: Field): FieldIndex[] {
  const { name, type, unique, indexed } = field
  if (!unique && !indexed) return []
  const column = quoted(name)
  switch (type) {
    case 'string':
      return [
        index('text', name, `USING spgist (${column})`),
        index('sort', name, `(${column}, "$seq") WHERE ${fits(column)} OR ${column} IS NULL`),
        index('long', name, `("$seq") WHERE ${exceeds(column)}`),
      ]
    case 'array':
    case 'object':
      return [index('unique', name, `USING hash (${column})`)]
    case 'timestamp': {
      const found = index('index', name, `(${column}, "$seq")`)
      // With the column included, the index alone suffices to count the records between two positions.
      const sorted = index('moment', name, `((${momentOf(column)}), "$seq") INCLUDE (${column})`)
      return indexed ? [found, sorted] : [found]
    }
    case 'integer':
    case 'number':
    case 'boolean':
    case 'date':
    case 'time':
      return [index('index', name, `(${column}, "$seq")`)]
  }
}

/** The order in which the store has an index of a field; null for none. */
export function sortIndexOf({ type, primaryKey, unique, indexed }: Field): SortIndex | null {
  if (primaryKey) return 'whole'
  if (type === 'timestamp') return indexed ? 'whole' : null
  if (type === 'array' || type === 'object' || (!unique && !indexed)) return null
  return type === 'string' ? 'divided' : 'whole'
}

/** Returns the condition for a text that its sort index contains. */
export function fits(text: string): string {
  return `octet_length(${text}) <= ${INDEXED_BYTES}`
}

/** Returns the condition for a text that is too long for it. */
export function exceeds(text: string): string {
  return `octet_length(${text}) > ${INDEXED_BYTES}`
}

/** Returns enough of a text that is too long to determine its position among those that fit. */
export function beginning(text: string): string {
  return `left(${text}, ${INDEXED_BYTES + 1})`
}

/** Returns the SQL for the moment of a timestamp's column, in milliseconds; it does not depend on settings of the session. */
export function momentOf(column: string): string {
  return `round(extract(epoch FROM ${column} AT TIME ZONE 'UTC') * 1000)::bigint`
}

/** The statement that makes an index. */
export function createIndex({ name, definition }: FieldIndex, how: '' | 'CONCURRENTLY' = ''): string {
  return `CREATE INDEX ${how} ${quoted(name)} ON "$data" ${definition}`
}

const USES = ['unique', 'text', 'sort', 'long', 'index', 'moment'] as const

/** Whether an index of the table is one of a field. */
export function isFieldIndex(name: string): boolean {
  return USES.some((use) => name.startsWith(`$${use}_`))
}

function index(use: (typeof USES)[number], field: string, definition: string): FieldIndex {
  return { name: nameFor(use, field), definition }
}
