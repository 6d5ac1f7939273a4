import type { Contract } from '../../../contract/contract.ts'
import { PAGE_BYTES } from '../../page-bytes.ts'
import type { Condition, ConditionField } from '../../condition.ts'
import type { Page } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { hasSortIndex } from '../database/schema.ts'
import { jsonBytes } from '../database/values.ts'
import { runPage, type PageRun } from '../sql/run-page.ts'
import { ResultWriter } from '../sql/sql-result.ts'

/** The most records of a sheet that a search may go through on the calling thread. */
export const QUICK_RECORDS = 2000

/** The most bytes of values that such a search may compare, each time that it compares them: a few milliseconds. */
const QUICK_BYTES = 4 << 20

/** The most comparisons of such a search. */
const QUICK_COMPARISONS = 20_000

/** The size of a sheet; `bytes` of its values, unknown above {@link QUICK_RECORDS}. */
export interface SheetSize {
  readonly records: number
  readonly bytes: number
}

interface SearchedSheet {
  readonly size: SheetSize
  readonly contract: Contract
}

/**
 * Finds a page of a sorted list, or of one with a condition that is data, on the calling thread. Returns null where that could take long:
 * unless the sheet is small, an index has to have the records in the order of the page.
 */
export function quickSearch(db: Connection, run: PageRun, { size, contract }: SearchedSheet): Page | null {
  if (!isSmall(run, size) && !isInOrderOfIndex(run, contract)) return null
  const chunks: Buffer[] = []
  const writer = new ResultWriter((chunk) => chunks.push(Buffer.from(chunk)))
  const next = db.within(PAGE_BYTES, () => ({ place: runPage(databaseOf(db), run, writer) }))
  if (next === null) return null
  writer.finish()
  return { records: jsonBytes(Buffer.concat(chunks)), next: next.place }
}

/** Returns what tells a page from others of the same state, and the names of the fields that it depends on. */
export function searchKey({ fields, sort, where, after, limit, skip }: PageRun): {
  readonly key: string
  readonly fields: readonly string[]
} {
  const names = fields.map(({ name }) => name)
  const order = sort.map(({ field, descending }) => [field.name, descending])
  const read: string[] = [...names, ...sort.map(({ field }) => field.name)]
  const nameOf = (_member: string, value: unknown): unknown => {
    if (!isField(value)) return value
    read.push(value.name)
    return value.name
  }
  const condition = JSON.stringify(where ?? null, nameOf)
  return { key: `search ${JSON.stringify([names, order, after, limit, skip])} ${condition}`, fields: read }
}

function isField(value: unknown): value is ConditionField {
  return typeof value === 'object' && value !== null && 'name' in value
}

function databaseOf(db: Connection): Parameters<typeof runPage>[0] {
  return {
    guard: null,
    prepare: (sql) => db.prepare(sql),
    snapshot: (action) => {
      db.exec('BEGIN')
      try {
        return action()
      } finally {
        db.exec('COMMIT')
      }
    },
  }
}

function isSmall({ where, sort }: PageRun, { records, bytes }: SheetSize): boolean {
  if (records > QUICK_RECORDS) return false
  const times = sort.length + (where ? comparisonsIn(where) : 0)
  return times * records <= QUICK_COMPARISONS && times * bytes <= QUICK_BYTES
}

/** Returns the number of times that a condition reads a value of a record. */
function comparisonsIn(condition: Condition): number {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.reduce((sum, each) => sum + comparisonsIn(each), 0)
    case 'not':
      return comparisonsIn(condition.condition)
    case 'field': {
      const { field, operands } = condition
      // The text of an array or object is parsed for each record.
      if (field.type === 'array' || field.type === 'object') return Infinity
      const letters = operands.flatMap((operand) => (typeof operand === 'string' ? [...operand] : []))
      // A search that ignores case replaces each letter beyond ASCII by itself.
      return 1 + letters.filter((letter) => letter > '\u{7f}').length
    }
    case 'search':
      // All fields, with arrays and objects among them.
      return Infinity
    case 'state':
    case 'review':
    case 'run':
    case 'writer':
    case 'failure':
      // Cells are in tables of their own.
      return Infinity
  }
}

/** Whether an index has the records of the list in its order, so that the page is read from it. */
function isInOrderOfIndex({ where, sort, skip }: PageRun, { fieldByName }: Contract): boolean {
  if (skip > 0) return false
  if (!where) return sort.length === 1 && sort[0]?.indexed === true
  if (sort.length > 0 || where.kind !== 'field' || where.operator !== 'equals') return false
  const field = fieldByName.get(where.field.name)
  return field !== undefined && hasSortIndex(field)
}
