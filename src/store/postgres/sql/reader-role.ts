import { createHash } from 'node:crypto'
import { RecordsError } from '../../../errors/service-error.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { MAX_NAME_BYTES } from './sql-limits.ts'

/** Columns of `"$data"` that are internal to the store, by the beginnings of their names. */
const OWN_COLUMNS = ['$version', '$written_']

/**
 * The columns of `"$data"` that the role may read beside the view: `"$seq"`, by which a page finds its records again, and
 * the fields. SQL from users cannot name the table.
 */
const READ_COLUMNS = `
  SELECT attname FROM pg_catalog.pg_attribute
  WHERE attrelid = format('%I."$data"', $2::text)::regclass AND attnum > 0 AND NOT attisdropped AND NOT EXISTS (
    SELECT FROM unnest($3::text[]) AS own(start) WHERE starts_with(attname::text, start))`

const STATE = `
  SELECT role.oid IS NOT NULL AS made,
    role.oid IS NOT NULL AND pg_catalog.pg_has_role(self.oid, role.oid, 'SET') AS taken,
    self.rolsuper OR self.rolcreaterole AS makes_roles,
    role.oid IS NOT NULL AND (role.rolsuper OR role.rolcanlogin OR role.rolcreaterole OR role.rolcreatedb
      OR role.rolreplication OR role.rolbypassrls
      OR EXISTS (SELECT 1 FROM pg_catalog.pg_auth_members WHERE member = role.oid)) AS mighty,
    role.oid IS NOT NULL AND pg_catalog.has_schema_privilege(role.oid, $2, 'USAGE')
      AND pg_catalog.has_table_privilege(role.oid, format('%I.records', $2::text), 'SELECT')
      AND NOT EXISTS (SELECT 1 FROM (${READ_COLUMNS}) AS field
        WHERE NOT pg_catalog.has_column_privilege(role.oid, format('%I."$data"', $2::text), attname, 'SELECT')) AS granted
  FROM pg_catalog.pg_roles AS self LEFT JOIN pg_catalog.pg_roles AS role ON role.rolname = $1
  WHERE self.rolname = session_user`

/** Returns the name of the role that runs SQL from users on the sheet in this schema. */
export async function readerRole(db: Connection, schema: string): Promise<string> {
  const row = await db.get('SELECT current_database() AS name')
  const name = `${String(row?.['name'])}_${schema}_reader`
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  return `colophon_reader_${createHash('sha256').update(name).digest('hex').slice(0, 40)}`
}

/**
 * Ensures that the role for SQL from users exists, if the store's user may create roles, and has exactly its read
 * permissions. Call it as the last step of the transaction that created the view `records` or changed the columns of
 * `"$data"`; where nothing changes it costs one SELECT. Returns the role when it can be used, else null.
 */
export async function grantReaderAccess(db: Connection, schema: string): Promise<string | null> {
  const name = await readerRole(db, schema)
  const role = quoted(name)
  let state = await stateOf(db, name, schema)
  if (state.made && state.taken && state.granted) return name
  if (!state.made) {
    if (!state.makesRoles) return null
    // Roles are created one at a time in a database: two transactions that create the same one would both fail.
    await db.run("SELECT pg_advisory_xact_lock(hashtextextended('colophon reader role', 0))")
    state = await stateOf(db, name, schema)
    if (!state.made) await db.exec(`CREATE ROLE ${role} NOLOGIN NOINHERIT`)
    state = await stateOf(db, name, schema)
  }
  if (!state.taken) {
    if (!state.makesRoles) return null
    await db.exec(`GRANT ${role} TO SESSION_USER WITH SET TRUE, INHERIT FALSE`)
  }
  if (!state.granted) await grant(db, name, schema)
  return name
}

async function grant(db: Connection, name: string, schema: string): Promise<void> {
  const [role, sheet] = [quoted(name), quoted(schema)]
  const rows = await db.all(READ_COLUMNS.replace('$2', '$1').replace('$3', '$2'), schema, OWN_COLUMNS)
  const columns = rows.map(({ attname }) => quoted(String(attname))).join(', ')
  await db.exec(`
    GRANT USAGE ON SCHEMA ${sheet} TO ${role};
    GRANT SELECT ON ${sheet}.records TO ${role};
    GRANT SELECT (${columns}) ON ${sheet}."$data" TO ${role}`)
}

interface RoleState {
  readonly made: boolean
  /** Whether the store's user may act as the role. */
  readonly taken: boolean
  readonly makesRoles: boolean
  readonly granted: boolean
}

/** Returns the state of the role. Throws RecordsError for a role with more than read permissions. */
async function stateOf(db: Connection, name: string, schema: string): Promise<RoleState> {
  const row = await db.get(STATE, name, schema, OWN_COLUMNS)
  if (row === undefined) throw new Error('the user of the database has no role')
  if (row['mighty'] === true) {
    throw new RecordsError(
      `SQL cannot be run: the role ${quoted(name)} of the database has more permissions than to read; drop it, and it is created again`,
      'database_unsuitable',
    )
  }
  return {
    made: row['made'] === true,
    taken: row['taken'] === true,
    makesRoles: row['makes_roles'] === true,
    granted: row['granted'] === true,
  }
}

/** Returns the error for an operator when the role does not exist and the store's user may not create it. */
export function roleMissing(name: string, user: string): RecordsError {
  return new RecordsError(
    `SQL, filters and sorting need a role of the database that may read the sheet and nothing else, and the user ${user} may ` +
      `not create it; a user who may must run: CREATE ROLE ${quoted(name)} NOLOGIN NOINHERIT; GRANT ${quoted(name)} TO ${quoted(user)} WITH SET TRUE, INHERIT FALSE`,
    'database_unsuitable',
  )
}
