import assert from 'node:assert/strict'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { RecordsError } from '../../src/errors/service-error.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { GUARDED_USER, startPostgres } from '../support/postgres.ts'
import { runCommand } from '../support/run-command.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { temporaryDirectory } from '../support/temporary-file.ts'

const PASSWORD = 'p@ss/word?'
/** Spellings of a wrong password, encoded and plain. */
const SECRET = /hushed|p@ss|p%40ss/

const postgres = await startPostgres()
const guarded = (password?: string): string =>
  postgres.url('guarded', { user: GUARDED_USER, ...(password === undefined ? {} : { password }) })

test.before(async () => {
  const client = new Client({ connectionString: postgres.url('a').replace('&schema=a', '') })
  await client.connect()
  await client.query(`CREATE ROLE ${GUARDED_USER} LOGIN CREATEROLE PASSWORD '${PASSWORD}'`)
  await client.query(`GRANT CREATE ON DATABASE postgres TO ${GUARDED_USER}`)
  await client.end()
})

/** A store that cannot be used, and what is said of it. */
const FAULTS: readonly (readonly [what: string, store: string, said: RegExp])[] = [
  ['a wrong password', guarded('hushed'), /denies access; check user and password .*for user "guarded"\)$/m],
  ['no password', guarded(), /requires a password; set it in PGPASSWORD, /],
  [
    'an unknown user',
    postgres.url('a', { user: 'nobody_such', password: 'hushed' }),
    /denies access; .*role "nobody_such" does not exist/,
  ],
  [
    'an unknown database',
    postgres.url('a', { database: 'none', password: 'hushed' }),
    /no such database; create it, or .*database "none" does not exist/,
  ],
  [
    'a port where nobody listens',
    'postgres://ann:hushed@127.0.0.1:1/sheets',
    /cannot be reached \(ECONNREFUSED\): nothing takes connections at 127\.0\.0\.1:1; start PostgreSQL there, or/,
  ],
  [
    'a socket that is not there',
    'postgres://ann:hushed@/sheets?host=/none&port=7',
    /cannot be reached \(ENOENT\): nothing takes connections at the socket \/none\/\.s\.PGSQL\.7; /,
  ],
  [
    // Longer than a name may be, so that nobody is asked for it.
    'a host that is not known',
    `postgres://ann:hushed@${'x'.repeat(64)}/sheets`,
    /cannot be reached \(ENOTFOUND\): the host x{64} is not known; correct it/,
  ],
  [
    'TLS where there is none',
    `${guarded(PASSWORD)}&sslmode=require`,
    /cannot be reached \(.*not support SSL.*\): the server at the socket .* has no TLS, which the URL asks for; /,
  ],
  ['a mode of TLS that is none', `${guarded(PASSWORD)}&sslmode=on`, /sslmode="on" is none; take verify-full/],
  [
    'a file that is not there',
    `${guarded(PASSWORD)}&sslrootcert=/none/ca.pem`,
    /the file that sslrootcert names cannot be read \(ENOENT\)/,
  ],
  ['a setting that is none', `${postgres.url('a')}&options=-c%20no_such=1`, /parameter "no_such"/],
  ...['p@hushed/x', 'p/hushed', '12?hushed', 'p#hushed'].map((password) => {
    const store = `postgres://ann:${password}@127.0.0.1:1/sheets`
    return ['a password that is not encoded', store, /it cannot be read; characters such as @, /] as const
  }),
]

for (const [what, store, said] of FAULTS) {
  test(`${what} is reported with advice, and without the password`, async () => {
    const { code, stdout, stderr } = await runCommand(['list'], {
      env: { COLOPHON_STORE: store, PGPASSWORD: undefined, PGPASSFILE: '/none' },
    })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, said)
    assert.match(stderr, /^error: [^\n]+\n$/)
    assert.doesNotMatch(stderr, SECRET)
    await assert.rejects(openSheet(store), (error) => {
      assert.ok(error instanceof RecordsError)
      assert.match(error.message, said)
      assert.doesNotMatch(JSON.stringify(error, Object.getOwnPropertyNames(error)), SECRET)
      return true
    })
  })
}

/** A sheet in the store of the user who needs a password. */
async function pushed(t: TestContext): Promise<string> {
  const store = guarded(PASSWORD)
  const env = { COLOPHON_STORE: store, COLOPHON_ACTOR: 'human:ann' }
  const { code, stderr } = await runCommand(['push', await writeSheet(t)], { env })
  assert.deepEqual([code, stderr], [0, ''])
  return store
}

test('a correct password works, and is nowhere visible', async (t) => {
  const store = await pushed(t)
  for (const [args, env] of [
    [['serve', '--port', '0', '--log-level', 'debug', '--store', store], {}],
    [['serve', '--port', '0', '--log-level', 'debug'], { COLOPHON_STORE: store }],
  ] as const) {
    const server = new ColophonProcess(t, args, { env })
    const url = `http://127.0.0.1:${await server.port()}`
    const listed = await fetch(`${url}/api/records?filter=price%3E1`)
    assert.equal(listed.status, 200, await listed.text())
    if (process.platform === 'linux') {
      const called = await readFile(`/proc/${server.pid}/cmdline`, 'utf8')
      assert.doesNotMatch(called, SECRET)
      assert.match(called, /serve/)
    }
    server.kill('SIGTERM')
    const { code, stdout, stderr } = await server.end()
    assert.equal(code, 0)
    assert.doesNotMatch(stdout + stderr, SECRET)
  }
  const help = await runCommand(['serve', '--help'], { env: { COLOPHON_STORE: store } })
  assert.equal(help.code, 0)
  assert.doesNotMatch(help.stdout, SECRET)
})

test('a password can come from the environment or from a file', async (t) => {
  await pushed(t)
  const file = join(await temporaryDirectory(t), 'pgpass')
  await writeFile(file, `*:*:*:${GUARDED_USER}:${PASSWORD}\n`, { mode: 0o600 })
  for (const env of [{ PGPASSWORD: PASSWORD }, { PGPASSFILE: file }]) {
    const { code, stderr } = await runCommand(['get', 'a'], { env: { COLOPHON_STORE: guarded(), ...env } })
    assert.deepEqual([code, stderr], [0, ''])
  }
  await chmod(file, 0o644)
  const { code, stderr } = await runCommand(['get', 'a'], {
    env: { COLOPHON_STORE: guarded(), PGPASSFILE: file },
  })
  assert.equal(code, 1)
  assert.match(stderr, /^error: .* which others on this machine can read; run: chmod 600 /)
  assert.doesNotMatch(stderr, SECRET)
})
