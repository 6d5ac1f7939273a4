import type { Contract, LogicalType } from '../../../contract/contract.ts'
import { PAGE_BYTES } from '../../page-bytes.ts'
import type { Condition, ConditionField } from '../../condition.ts'
import type { Page } from '../../sheet-store.ts'
import { noSql } from '../../rules/sql/condition-compiler.ts'
import { SQLITE_ERROR, sqliteCode, type Connection } from '../database/connection.ts'
import { hasSortIndex, quoted, valueIndex } from '../database/schema.ts'
import { bindCondition } from '../sql/condition-sql.ts'
import { DATA, runPage, type PageRun } from '../sql/run-page.ts'

/** The most records of a sheet that a search may go through on the calling thread. */
export const QUICK_RECORDS = 2000

/** The most bytes of values that such a search may compare, each time that it compares them: a few milliseconds. */
const QUICK_BYTES = 4 << 20

/** The most comparisons of such a search. */
const QUICK_COMPARISONS = 20_000

/** The most records that an index may select for a search: they are all over the sheet. */
const QUICK_SELECTED = 500

/** The size of records; `bytes` of their values, unknown above {@link QUICK_RECORDS}. */
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
 * unless the sheet is small, an index has to have the records in the order of the page, or a value that the condition asks for and few
 * records have.
 */
export function quickSearch(db: Connection, run: PageRun, { size, contract }: SearchedSheet): Page | null {
  if (isSmall(run, size) || isInOrderOfIndex(run, contract)) return readPage(db, run)
  const index = indexOfFew(db, run, contract)
  return index === null ? null : readPage(db, { ...run, index })
}

function readPage(db: Connection, run: PageRun): Page | null {
  let json = ''
  const writer = { text: (part: string): void => void (json += part) }
  const next = db.within(PAGE_BYTES, () => ({ place: runPage(databaseOf(db), run, writer) }))
  return next === null ? null : { records: Buffer.from(json), next: next.place }
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

/** Returns an index of a value that the condition asks for and so few records have that they are searched quickly; null for none. */
function indexOfFew(db: Connection, run: PageRun, contract: Contract): string | null {
  for (const condition of conjunctsOf(run.where)) {
    if (condition.kind !== 'field' || condition.operator !== 'equals' || condition.operands[0] === null)
      continue
    const field = contract.fieldByName.get(condition.field.name)
    const index = field === undefined ? undefined : valueIndex(field)
    if (index === undefined) continue
    const size = sizeOf(db, condition, { index, texts: comparedTexts(run, contract) })
    if (isSmall(run, size)) return index
  }
  return null
}

/**
 * Returns the size of the records that an index finds for a condition, if they are at most {@link QUICK_SELECTED}; the bytes are those of
 * the texts that a page compares.
 */
function sizeOf(
  db: Connection,
  condition: Condition,
  { index, texts }: { readonly index: string; readonly texts: readonly string[] },
): SheetSize {
  const { sql, params } = bindCondition(condition, DATA, noSql)
  try {
    const [records, bytes] =
      db.tuple(
        `SELECT count(*), sum("$bytes") FROM (
        SELECT ${storedBytes(texts)} AS "$bytes" FROM "$data" INDEXED BY ${quoted(index)} WHERE ${sql} LIMIT ?)`,
        ...params,
        QUICK_SELECTED + 1,
      ) ?? []
    if (Number(records) <= QUICK_SELECTED) return { records: Number(records), bytes: Number(bytes) }
  } catch (error) {
    // Another process has just removed the index.
    if (sqliteCode(error) !== SQLITE_ERROR) throw error
  }
  return { records: Infinity, bytes: Infinity }
}

/** The types whose values are short. */
const SHORT: ReadonlySet<LogicalType> = new Set(['integer', 'number', 'boolean', 'date', 'timestamp'])

/** Returns the names of the fields with texts of any length that finding a page compares. */
function comparedTexts({ sort, where }: PageRun, { fields }: Contract): string[] {
  const compared = new Set([...sort.map(({ field }) => field.name), ...(where ? fieldsIn(where) : [])])
  return fields.flatMap(({ name, type }) => (compared.has(name) && !SHORT.has(type) ? [name] : []))
}

function fieldsIn(condition: Condition): string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(fieldsIn)
    case 'not':
      return fieldsIn(condition.condition)
    case 'field':
      return [condition.field.name]
    default:
      // Such a condition is never quick.
      return []
  }
}

/** Returns the conditions that a record has to meet, all of them. */
function conjunctsOf(where: Condition | null | undefined): readonly Condition[] {
  if (!where) return []
  return where.kind === 'and' ? where.conditions : [where]
}

/** Returns SQL for the bytes of these fields of a record in the store, which reads only the length of each value. */
export function storedBytes(names: readonly string[]): string {
  return sumOf(names.map((name) => `ifnull(octet_length(${quoted(name)}), 0)`))
}

/** Whether an index has the records of the list in its order, so that the page is read from it. */
function isInOrderOfIndex({ where, sort, skip }: PageRun, { fieldByName }: Contract): boolean {
  if (skip > 0) return false
  if (!where) return sort.length === 1 && sort[0]?.indexed === true
  if (sort.length > 0 || where.kind !== 'field' || where.operator !== 'equals') return false
  const field = fieldByName.get(where.field.name)
  return field !== undefined && hasSortIndex(field)
}

/** Returns the sum of these expressions as a balanced tree: SQLite limits the depth of expressions to 1000. */
function sumOf(parts: readonly string[]): string {
  if (parts.length <= 1) return parts[0] ?? '0'
  const middle = Math.ceil(parts.length / 2)
  return `(${sumOf(parts.slice(0, middle))} + ${sumOf(parts.slice(middle))})`
}
