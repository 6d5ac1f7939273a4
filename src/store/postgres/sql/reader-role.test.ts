import assert from 'node:assert/strict'
import { after, before, suite, test, type TestContext } from 'node:test'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { createPostgresRecords, type PostgresRecords } from '../../../../test/support/postgres-records.ts'
import { field } from '../../../../test/support/sheet-database.ts'
import { QueryError, RecordsError } from '../../../errors/service-error.ts'
import { Database } from '../database/database.ts'
import { sqlState } from '../database/errors.ts'
import { quoted } from '../database/schema.ts'
import { parseStoreUrl } from '../database/store-url.ts'
import { grantReaderAccess, readerRole } from './reader-role.ts'
import { SqlConnection } from './sql-connection.ts'
import { MAX_ROW_BYTES } from './sql-limits.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool } from './sql-pool.ts'
import type { SqlSession } from './sql-session.ts'

const FIELDS = [field('id', 'string'), field('n', 'integer')]

suite('the role that runs SQL from users', () => {
  let sheet: PostgresRecords
  let connection: SqlConnection
  let role: string

  before(async () => {
    sheet = await createPostgresRecords(FIELDS)
    await sheet.insert({ id: 'a', n: 1 }, { id: 'b', n: 2 })
    await sheet.database.exec('CREATE TABLE other (secret text); CREATE SEQUENCE counter')
    connection = await SqlConnection.open(sheet.database, DEFAULT_QUERY_LIMITS)
    role = await readerRole(sheet.database, sheet.database.location.schema)
  })

  after(async () => {
    await connection.close()
    await sheet.close()
  })

  /** Runs a text with nothing checked, as if every check had been passed. */
  async function unchecked(sql: string): Promise<readonly (readonly (string | null)[])[]> {
    const work = async (session: SqlSession): Promise<(readonly (string | null)[])[]> => {
      await session.confine(null)
      return session.rows(sql)
    }
    try {
      return await connection.run({ role, rowBytes: MAX_ROW_BYTES, work })
    } finally {
      await connection.rest()
    }
  }

  test('D18: without any check of names it can read the records and no other table of the sheet', async () => {
    assert.deepEqual(await unchecked('SELECT id, n FROM records'), [['a', '1'], ['b', '2']]) // prettier-ignore
    for (const sql of [
      'SELECT "$version" FROM "$data"',
      'SELECT * FROM "$data"',
      'SELECT "$data" FROM "$data"',
      'SELECT cursor_key FROM "$sheet"',
      'SELECT line FROM "$provenance"',
      'SELECT * FROM other',
      'SELECT count(*) FROM "$cell"',
      'SELECT rolpassword FROM pg_authid',
      "SELECT pg_read_file('postgresql.conf')",
      "SELECT pg_ls_dir('.')",
      "SELECT lo_import('/etc/passwd')",
      'SELECT pg_reload_conf()',
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'colophon'",
      "SELECT nextval('counter')",
      "SELECT setval('counter', 7)",
      "COPY records TO PROGRAM 'id'",
      "COPY records TO '/tmp/colophon-copy'",
      'SELECT * FROM records FOR UPDATE',
    ]) {
      await assert.rejects(unchecked(sql), (error) => ['42501', '25006'].includes(sqlState(error) ?? ''), sql)
    }
  })

  test('D18: without any check of names it can write nothing', async () => {
    const hash = await sheet.hash()
    for (const sql of [
      "INSERT INTO records (id) VALUES ('x')",
      'UPDATE records SET n = 7',
      'DELETE FROM records',
      'TRUNCATE "$data"',
      'DROP VIEW records',
      'CREATE TABLE x (a int)',
      'CREATE TEMP TABLE x (a int)',
      'SELECT * INTO x FROM records',
      'WITH x AS (DELETE FROM records RETURNING id) SELECT * FROM x',
      'ALTER ROLE CURRENT_USER SUPERUSER',
      'GRANT ALL ON "$data" TO PUBLIC',
      'SELECT lo_create(0)',
      "DO 'BEGIN CREATE TABLE x (); END'",
      'ALTER SYSTEM SET work_mem = 1',
    ]) {
      await assert.rejects(unchecked(sql), (error) => ['42501', '25006', '42809', '25001'].includes(sqlState(error) ?? ''), sql) // prettier-ignore
    }
    assert.equal(await sheet.hash(), hash)
  })

  test('D18: one text is one statement, since only the extended protocol is used', async () => {
    for (const sql of [
      'SELECT 1; SELECT 2',
      'COMMIT; DELETE FROM records',
      'ROLLBACK; RESET ROLE; DELETE FROM records',
      ';SELECT 1; SELECT 2',
    ]) {
      await assert.rejects(unchecked(sql), /cannot insert multiple commands/, sql)
    }
  })

  test('D18: settings that a statement changed are reset before the next', async () => {
    const settings = `SELECT current_setting('statement_timeout'), current_setting('transaction_read_only'), current_setting('search_path'), current_user`
    const earlier = await unchecked(settings)
    assert.equal(earlier[0]?.[1], 'on')
    for (const sql of [
      "SELECT set_config('statement_timeout', '0', false)",
      "SELECT set_config('search_path', 'pg_catalog', false)",
      "SELECT set_config('default_transaction_read_only', 'off', false)",
      "SELECT set_config('role', 'none', false)",
      'SET ROLE NONE',
      'RESET ALL',
      'COMMIT',
      'ROLLBACK',
    ]) {
      await unchecked(sql).catch(() => undefined)
      assert.deepEqual(await unchecked(settings), earlier, sql)
    }
  })

  test('the role can neither log in nor do anything else, and is not created twice', async () => {
    const { schema } = sheet.database.location
    assert.equal(role, `postgres_${schema}_reader`)
    const row = await sheet.database.get(
      `SELECT rolcanlogin, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication, rolinherit FROM pg_roles WHERE rolname = '${role}'`,
    )
    assert.deepEqual(Object.values(row ?? {}), Array<boolean>(7).fill(false))
    await Promise.all(
      Array.from({ length: 4 }, () => sheet.database.writing(5000, (db) => grantReaderAccess(db, schema))),
    )
  })

  test('fields that are added can be read, and the view may be made anew', async () => {
    const { schema } = sheet.database.location
    await sheet.database.writing(5000, async (db) => {
      await db.exec(
        'ALTER TABLE "$data" ADD late text; DROP VIEW records; CREATE VIEW records AS SELECT id, n, late FROM "$data"',
      )
      await grantReaderAccess(db, schema)
    })
    assert.deepEqual(await unchecked('SELECT late FROM records'), [[null], [null]])
    assert.deepEqual(await unchecked('SELECT late FROM "$data"'), [[null], [null]])
  })
})

suite('a user of the database that is not a superuser', () => {
  /** A sheet of a user of this name with these rights. */
  async function sheetOf(t: TestContext, user: string, rights: string): Promise<PostgresRecords> {
    const server = await startPostgres()
    const admin = new Database(parseStoreUrl(server.freshUrl()))
    await admin.exec(`CREATE ROLE ${user} LOGIN ${rights}; GRANT CREATE ON DATABASE postgres TO ${user}`)
    await admin.close()
    const sheet = await createPostgresRecords(FIELDS, { user })
    t.after(() => sheet.close())
    await sheet.insert({ id: 'a', n: 1 })
    return sheet
  }

  async function count(sheet: PostgresRecords): Promise<string> {
    const pool = new SqlPool({ database: sheet.database, limits: DEFAULT_QUERY_LIMITS })
    try {
      return String(
        await pool.query({ sql: 'SELECT count(*) AS c FROM records', params: [], allFields: FIELDS }),
      )
    } finally {
      await pool.close()
    }
  }

  test('can create the role and use it, if it may create roles', async (t) => {
    const sheet = await sheetOf(t, 'maker', 'CREATEROLE')
    assert.equal(await count(sheet), '{"rows":[{"c":1}],"count":1}')
  })

  test('can stop a long query of its own', async (t) => {
    const sheet = await sheetOf(t, 'stopper', 'CREATEROLE')
    const connection = await SqlConnection.open(sheet.database, DEFAULT_QUERY_LIMITS)
    const role = await readerRole(sheet.database, sheet.database.location.schema)
    const work = async (session: SqlSession): Promise<unknown> => {
      await session.confine(null)
      return session.rows('SELECT count(*) FROM generate_series(1, 1000000000000) AS a(x)')
    }
    const stopped = assert.rejects(connection.run({ role, rowBytes: MAX_ROW_BYTES, work }), {
      message: 'enough',
    })
    await connection.stop(new Error('enough'))
    await Promise.all([stopped, connection.ended])
  })

  test('without this right gets the commands to run, and can run SQL after them', async (t) => {
    const sheet = await sheetOf(t, 'modest', '')
    const told = await count(sheet).then(
      () => assert.fail('it was answered'),
      (error: unknown) => error,
    )
    assert.ok(told instanceof RecordsError)
    assert.match(told.message, /the user modest may not create it/)
    const commands = told.message.slice(told.message.indexOf('CREATE ROLE'))
    const admin = new Database(parseStoreUrl((await startPostgres()).freshUrl()))
    await admin.exec(commands)
    assert.equal(await count(sheet), '{"rows":[{"c":1}],"count":1}')
    // And when it was taken away while the store was open.
    const pool = new SqlPool({ database: sheet.database, limits: DEFAULT_QUERY_LIMITS })
    const query = (sql: string): Promise<unknown> => pool.query({ sql, params: [], allFields: FIELDS })
    await query('SELECT 1 AS a')
    const role = quoted(await readerRole(sheet.database, sheet.database.location.schema))
    await admin.exec(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await assert.rejects(query('SELECT 1 AS a'), RecordsError)
    await admin.exec(commands)
    await query('SELECT id FROM records')
    await admin.exec(`REVOKE SELECT ON ${quoted(sheet.database.location.schema)}.records FROM ${role}`)
    await query('SELECT id FROM records')
    await pool.close()
    await admin.close()
  })

  test('does not use a role of that name with more rights than reading', async (t) => {
    const sheet = await sheetOf(t, 'owner', 'CREATEROLE')
    const role = quoted(await readerRole(sheet.database, sheet.database.location.schema))
    const admin = new Database(parseStoreUrl((await startPostgres()).freshUrl()))
    await admin.exec(`CREATE ROLE mighty; GRANT mighty TO ${role}`)
    await assert.rejects(count(sheet), /has more permissions than to read/)
    await admin.exec(`REVOKE mighty FROM ${role}`)
    await admin.close()
    assert.equal(await count(sheet), '{"rows":[{"c":1}],"count":1}')
  })

  test('D18: statements that a role refuses have a message of the service', async (t) => {
    const sheet = await sheetOf(t, 'plain', 'CREATEROLE')
    const pool = new SqlPool({ database: sheet.database, limits: DEFAULT_QUERY_LIMITS })
    t.after(() => pool.close())
    const sql = 'WITH x AS (DELETE FROM records RETURNING *) SELECT * FROM x'
    await assert.rejects(pool.query({ sql, params: [], allFields: FIELDS }), (error) => error instanceof QueryError && error.message === 'only SELECT statements can be run') // prettier-ignore
  })
})
