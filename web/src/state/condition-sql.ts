import type { Condition, ConditionValue, Scalar } from './conditions.ts'

/** The SQL expression (D16) that all conditions together come to; null for none. */
export function conditionsToFilter(conditions: readonly Condition[]): string | null {
  return conditions.length === 0 ? null : conditions.map(conditionToSql).join(' AND ')
}

/**
 * The SQL of a condition, which can be joined to others by AND. Fields without a value are other than any value: `is
 * not`, `does not contain` and the like let them through.
 */
function conditionToSql({ field, is, value }: Condition): string {
  const column = quotedName(field)
  const literal = sqlLiteral(firstOf(value))
  const [from, to] = listOf(value).map(sqlLiteral)
  switch (is) {
    case 'equals':
      return `${column} IS ${literal}`
    case 'differs':
      return `${column} IS NOT ${literal}`
    case 'contains':
      return `${placeOf(column, value)} > 0`
    case 'excludes':
      return `ifnull(${placeOf(column, value)}, 0) = 0`
    case 'begins':
      return `${placeOf(column, value)} = 1`
    case 'below':
      return `${column} < ${literal}`
    case 'atMost':
      return `${column} <= ${literal}`
    case 'above':
      return `${column} > ${literal}`
    case 'atLeast':
      return `${column} >= ${literal}`
    case 'between':
      return `${column} BETWEEN ${from} AND ${to}`
    case 'within':
      return `(${column} >= ${from} AND ${column} < ${to})`
    case 'before':
      return `${momentOf(column)} < ${momentOf(literal)}`
    case 'since':
      return `${momentOf(column)} >= ${momentOf(literal)}`
    case 'during':
      return `(${momentOf(column)} >= ${momentOf(`${from}`)} AND ${momentOf(column)} < ${momentOf(`${to}`)})`
    case 'anyOf':
      return isAnyOf(column, listOf(value))
    case 'noneOf':
      return isNoneOf(column, listOf(value))
    case 'hasAny':
      return hasItem(column, listOf(value))
    case 'hasAll':
      return listOf(value)
        .map((item) => hasItem(column, [item]))
        .join(' AND ')
    case 'lacks':
      return `NOT ${hasItem(column, listOf(value))}`
    case 'empty':
      return `${column} IS NULL`
    case 'filled':
      return `${column} IS NOT NULL`
  }
}

export function quotedName(field: string): string {
  return `"${field.replaceAll('"', '""')}"`
}

function sqlLiteral(value: Scalar | null): string {
  if (value === null) return 'NULL'
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
}

function listOf(value: ConditionValue): readonly (Scalar | null)[] {
  return Array.isArray(value) ? (value as readonly (Scalar | null)[]) : [value as Scalar | null]
}

function firstOf(value: ConditionValue): Scalar | null {
  return listOf(value)[0] ?? null
}

/** Timestamps may have different offsets: what is compared is the moment, to the millisecond. */
function momentOf(sql: string): string {
  return `unixepoch(${sql}, 'subsec')`
}

/** Where in the column a text begins, capital letters like small ones; 0 for nowhere. */
function placeOf(column: string, value: ConditionValue): string {
  const wanted = [...String(firstOf(value) ?? '')].map((letter) => simpleLower(letter) ?? letter).join('')
  // SQLite's lower() knows ASCII only: of other letters, those that are looked for are made small one by one.
  const others = new Set([...wanted].filter((letter) => letter > '\u{7f}'))
  let folded = `lower(${column})`
  for (const small of others) {
    const capital = small.toUpperCase()
    if (capital !== small && simpleLower(capital) === small) {
      folded = `replace(${folded}, ${sqlLiteral(capital)}, ${sqlLiteral(small)})`
    }
  }
  return `instr(${folded}, ${sqlLiteral(wanted)})`
}

/** The small letter of a capital, where that is one letter for another. */
function simpleLower(letter: string): string | null {
  const small = letter.toLowerCase()
  return [...letter].length === 1 && [...small].length === 1 ? small : null
}

function isAnyOf(column: string, values: readonly (Scalar | null)[]): string {
  const present = values.filter((value) => value !== null)
  if (present.length === 0) return `${column} IS NULL`
  const listed = `${column} IN (${present.map(sqlLiteral).join(', ')})`
  return present.length === values.length ? listed : `(${listed} OR ${column} IS NULL)`
}

function isNoneOf(column: string, values: readonly (Scalar | null)[]): string {
  const present = values.filter((value) => value !== null)
  if (present.length === 0) return `${column} IS NOT NULL`
  const listed = `${column} NOT IN (${present.map(sqlLiteral).join(', ')})`
  return present.length === values.length ? `(${listed} OR ${column} IS NULL)` : listed
}

/** Whether an array has any of the items. The table is named, since fields may be called like columns of json_each. */
function hasItem(column: string, items: readonly (Scalar | null)[]): string {
  const kinds = Map.groupBy(items, (item) => (item === null ? 'null' : typeof item))
  const matches = [...kinds].map(([kind, ofKind]) => {
    const listed = ofKind.map(sqlLiteral).join(', ')
    switch (kind) {
      case 'string':
        return `item.type = 'text' AND item.atom IN (${listed})`
      case 'number':
        return `item.type IN ('integer', 'real') AND item.atom IN (${listed})`
      case 'boolean':
        return `item.type IN (${ofKind.map((flag) => `'${flag}'`).join(', ')})`
      default:
        return `item.type = 'null'`
    }
  })
  return `EXISTS (SELECT 1 FROM json_each(records.${column}) AS item WHERE ${matches.join(' OR ')})`
}
