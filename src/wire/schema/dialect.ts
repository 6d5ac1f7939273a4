import { Type, type Static } from 'typebox'

/** The dialect of SQL that a sheet takes. */
export const SqlDialect = Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')], {
  description: 'The dialect of `filter` and of `POST /api/query`: that of the database that has the sheet.',
})
export type SqlDialect = Static<typeof SqlDialect>

/** Stands for the name of the dialect in descriptions, which are of any sheet. */
export const DIALECT = '{dialect}'

const NAMES: Readonly<Record<SqlDialect, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/** A text, or JSON with texts in it, with the name of a dialect where {@link DIALECT} stands. */
export function inDialect<T>(value: T, dialect: SqlDialect): T {
  return JSON.parse(JSON.stringify(value).replaceAll(DIALECT, NAMES[dialect])) as T
}
