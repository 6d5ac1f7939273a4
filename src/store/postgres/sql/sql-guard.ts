import { QueryError } from '../../../errors/service-error.ts'
import type { Connection } from '../database/connection.ts'
import { noSuchTable, shown } from './sql-errors.ts'
import type { SqlNames } from './sql-checks.ts'

/**
 * Selects the names that exist: a table other than `records` or a row type of one, a function that SQL from users may not
 * call, a keyword that works as one, a function that after a dot takes a record as its argument, or a schema.
 */
const REAL = `
  SELECT 'table' AS kind, relname AS name FROM pg_catalog.pg_class
  WHERE relname = ANY ($1) AND relkind IN ('r', 'v', 'm', 'f', 'p', 'S')
    AND relnamespace IN ('pg_catalog'::regnamespace, current_schema()::regnamespace)
    AND NOT (relname = 'records' AND relnamespace = current_schema()::regnamespace)
  UNION ALL SELECT 'table', type.typname FROM pg_catalog.pg_type AS type LEFT JOIN pg_catalog.pg_type AS element ON element.oid = type.typelem
  WHERE type.typname = ANY ($1) AND type.typname NOT IN ('records', '_records')
    AND (type.typnamespace = current_schema()::regnamespace
      OR type.typnamespace = 'pg_catalog'::regnamespace AND (type.typrelid <> 0 OR element.typrelid <> 0))
  UNION ALL SELECT 'function', proname FROM pg_catalog.pg_proc
  WHERE proname = ANY ($2) AND pronamespace IN ('pg_catalog'::regnamespace, current_schema()::regnamespace)
  UNION ALL SELECT 'function', word FROM pg_catalog.pg_get_keywords() WHERE word = ANY ($2) AND catcode IN ('C', 'R', 'T')
  UNION ALL SELECT 'function', proname FROM pg_catalog.pg_proc
  WHERE proname = ANY ($4) AND pronargs > 0 AND pronargs - pronargdefaults <= 1
    AND EXISTS (SELECT 1 FROM pg_catalog.pg_type WHERE pg_type.oid = proargtypes[0] AND typtype IN ('p', 'c'))
  UNION ALL SELECT 'schema', nspname FROM pg_catalog.pg_namespace WHERE nspname = ANY ($3)
  ORDER BY 1, 2 LIMIT 1`

/**
 * Checks the names of a text against the database, as the store's user. PostgreSQL lets everybody call nearly all of its
 * functions and read its catalog; revoking that from one role would revoke it from all. A name that does not exist is
 * harmless: the statement defines it, or it is a mistake. Throws QueryError.
 */
export async function checkNames(db: Pick<Connection, 'get'>, names: SqlNames): Promise<void> {
  const { tables, functions, qualifiers, members } = names
  if (tables.size + functions.size + qualifiers.size + members.size === 0) return
  const found = await db.get(REAL, [...tables], [...functions], [...qualifiers], [...members])
  if (found === undefined) return
  const name = String(found['name'])
  switch (found['kind']) {
    case 'function':
      throw new QueryError(`the function ${shown(name)}() cannot be used`, 'forbidden_function')
    case 'schema':
      throw new QueryError(`"${shown(name)}" cannot be read: the only table is "records"`, 'unknown_table')
    default:
      throw new QueryError(noSuchTable(name), 'unknown_table')
  }
}

/**
 * Returns the name of another table than `records` in a failed text; null for none. PostgreSQL reveals the columns of a
 * table before it checks the permissions.
 */
export async function otherTable(db: Pick<Connection, 'get'>, names: SqlNames): Promise<string | null> {
  const found = await db.get(REAL, [...names.all], [], [], [])
  return found === undefined ? null : String(found['name'])
}
