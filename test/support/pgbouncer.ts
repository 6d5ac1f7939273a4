import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onEnd } from './on-end.ts'
import { NOBODY, type TestPostgres } from './postgres.ts'

/** The time for which a client has a connection to the database. */
export type PoolMode = 'session' | 'transaction'

/**
 * Starts the real PgBouncer before a database, with all of its files in its own directory, and ends it with the test. Returns a function
 * that makes URLs of stores behind it.
 */
export async function startPgbouncer(
  t: TestContext,
  program: string,
  postgres: TestPostgres,
): Promise<(schema: string, mode: PoolMode) => string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-pgb-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  const behind = new URL(postgres.url('any').replace('@/', '@socket/')).searchParams.get('host')
  const database = (mode: PoolMode): string =>
    `${mode} = host=${behind} dbname=postgres user=colophon pool_mode=${mode}`
  const file = join(directory, 'pgbouncer.ini')
  await writeFile(
    file,
    [
      '[databases]',
      database('session'),
      database('transaction'),
      '[pgbouncer]',
      'listen_addr =',
      `unix_socket_dir = ${directory}`,
      'auth_type = any',
      'default_pool_size = 50',
    ].join('\n'),
  )
  // It refuses to run as root.
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (owner.uid !== undefined) await chown(directory, owner.uid, owner.gid)
  const child = spawn(program, [file], { ...owner, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close')
  onEnd(t, async () => {
    child.kill('SIGKILL')
    await ended
  })
  let log = ''
  child.stderr.on('data', (chunk) => {
    log += String(chunk)
  })
  while (!existsSync(join(directory, '.s.PGSQL.6432'))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${log}`)
    await sleep(20)
  }
  return (schema, mode) =>
    `postgres://colophon@/${mode}?host=${encodeURIComponent(directory)}&port=6432&schema=${schema}`
}
