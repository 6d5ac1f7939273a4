import type { SqlDialect } from '../../../src/wire/schema/dialect.ts'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { quoteName } from './editor/sql-words.ts'

/** An example statement. */
export interface Example {
  readonly name: string
  readonly sql: string
}

/** Returns example statements for the fields of a sheet. */
export function examplesFor({ dialect, fields }: SheetContract): readonly Example[] {
  const group =
    fields.find(({ values, primaryKey }) => values !== null && !primaryKey) ?? ofType(fields, 'boolean')
  const number = ofType(fields, 'number') ?? ofType(fields, 'integer')
  const time = ofType(fields, 'date') ?? ofType(fields, 'timestamp')
  const array = ofType(fields, 'array')
  return [
    { name: 'The first 100 records', sql: 'SELECT *\nFROM records\nLIMIT 100' },
    ...(group === undefined ? [] : [countBy(group)]),
    ...(number === undefined ? [] : [topBy(number, labelOf(fields))]),
    ...(number === undefined || group === undefined ? [] : [averageBy(number, group)]),
    ...(time === undefined ? [] : [countByMonth(time, dialect)]),
    ...(array === undefined ? [] : [countItems(array, dialect)]),
  ]
}

/** Returns a field of a type, preferring fields that are not derived, which may be empty. */
function ofType(fields: readonly SheetField[], type: SheetField['type']): SheetField | undefined {
  const found = fields.filter((field) => field.type === type)
  return found.find(({ derived }) => derived === null) ?? found[0]
}

/** Returns the column that names a record. */
function labelOf(fields: readonly SheetField[]): string {
  const label = fields.find(
    ({ type, primaryKey, required, values, derived }) =>
      type === 'string' && !primaryKey && required && values === null && derived === null,
  )
  return quoteName(label?.name ?? 'id')
}

function countBy(field: SheetField): Example {
  const column = quoteName(field.name)
  return {
    name: `Count by ${field.title}`,
    sql: `SELECT ${column}, count(*) AS count\nFROM records\nGROUP BY ${column}\nORDER BY count DESC`,
  }
}

function topBy(field: SheetField, label: string): Example {
  const column = quoteName(field.name)
  return {
    name: `Top 10 by ${field.title}`,
    sql: `SELECT ${label}, ${column}\nFROM records\nWHERE ${column} IS NOT NULL\nORDER BY ${column} DESC\nLIMIT 10`,
  }
}

function averageBy(field: SheetField, group: SheetField): Example {
  const column = quoteName(group.name)
  return {
    name: `Average ${field.title} by ${group.title}`,
    sql: `SELECT ${column}, round(avg(${quoteName(field.name)}), 2) AS average\nFROM records\nGROUP BY ${column}\nORDER BY average DESC NULLS LAST`,
  }
}

function countByMonth(field: SheetField, dialect: SqlDialect): Example {
  const column = quoteName(field.name)
  const month = {
    sqlite: `strftime('%Y-%m', ${column})`,
    postgres: `to_char(${field.type === 'timestamp' ? `${column} AT TIME ZONE 'UTC'` : column}, 'YYYY-MM')`,
  }[dialect]
  return {
    name: `Count by month of ${field.title}`,
    sql: `SELECT ${month} AS month, count(*) AS count\nFROM records\nWHERE ${column} IS NOT NULL\nGROUP BY month\nORDER BY month`,
  }
}

function countItems(field: SheetField, dialect: SqlDialect): Example {
  const column = quoteName(field.name)
  const [item, items] = {
    sqlite: ['item.value', `json_each(records.${column}) AS item`],
    postgres: ['item', `jsonb_array_elements_text(${column}) AS item`],
  }[dialect] as [string, string]
  return {
    name: `Most frequent items of ${field.title}`,
    sql: `SELECT ${item} AS item, count(*) AS count\nFROM records, ${items}\nGROUP BY ${item}\nORDER BY count DESC\nLIMIT 20`,
  }
}
