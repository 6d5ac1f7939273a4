import { Type, type Static } from 'typebox'

/** The SQL dialect of a sheet. */
export const SqlDialect = Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')], {
  description: 'The SQL dialect of `filter` and `POST /api/query`: that of the database of the sheet.',
})
export type SqlDialect = Static<typeof SqlDialect>

/** Placeholder for the name of the dialect in descriptions. */
export const DIALECT = '{dialect}'

const NAMES: Readonly<Record<SqlDialect, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/** Replaces {@link DIALECT} by the name of a dialect, in a text or in all texts of a JSON value. */
export function inDialect<T>(value: T, dialect: SqlDialect): T {
  return JSON.parse(JSON.stringify(value).replaceAll(DIALECT, NAMES[dialect])) as T
}
