/*
 * Installs what `npm start` and `npm test` need: the dependencies of the lockfile, a Node.js that is new enough, and the
 * built viewer and program; with `--for-tests`, also the programs that tests drive, a Chromium and an nginx. Takes
 * milliseconds when all exist. Plain JavaScript for Node.js 14 and later.
 */
import { spawnSync } from 'child_process'
import { existsSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'fs'
import { join } from 'path'
import { findBundle } from '../bin/program.js'
import { findNode, missingNode, ROOT } from './node24.mjs'
import { buildProgram } from './program.mjs'
import { findProgram, TEST_PROGRAMS } from './test-programs.mjs'
import { buildViewer, isViewerBuilt } from './viewer.mjs'

const CACHE = join(ROOT, '.cache')
const LOCK = join(CACHE, 'setup.lock')

const INSTALL_TIMEOUT_MS = 10 * 60_000

const forTests = process.argv.includes('--for-tests')
if (forTests && process.platform === 'win32')
  fail('the tests need a Unix system: on Windows, run npm test in WSL')
if (!isInstalled()) withLock(() => isInstalled() || install())
const node = findNode()
if (node === null) fail(missingNode())
else buildWith(node)
if (forTests && missingPrograms().length > 0) withLock(installPrograms)

/**
 * Whether node_modules matches package-lock.json. Compares contents, not times: a checkout changes the time of the
 * lockfile, and npm writes the two files in either order.
 */
function isInstalled() {
  const wanted = packagesOf(join(ROOT, 'package-lock.json'))
  const installed = packagesOf(join(ROOT, 'node_modules', '.package-lock.json'))
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (path === '') return true // the project itself
    const there = installed[path]
    if (there === undefined) return optional === true // for another platform
    return there.version === version && there.integrity === integrity
  })
}

/**
 * @param {string} lockfile
 * @returns {Record<string, {version?: string, integrity?: string, optional?: boolean}>}
 */
function packagesOf(lockfile) {
  return existsSync(lockfile) ? JSON.parse(readFileSync(lockfile, 'utf8')).packages : {}
}

function install() {
  console.error('colophon: installing dependencies (npm ci)')
  const npm = process.env.npm_execpath || ''
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  // npm runs on the Node.js that it was started with: the bundled one may be what is being replaced.
  const { status, error } = npm.endsWith('npm-cli.js')
    ? spawnSync(process.env.npm_node_execpath || process.execPath, [npm, ...args], options())
    : spawnSync('npm', args, { ...options(), shell: process.platform === 'win32' })
  if (error) fail(`npm could not be run: ${error.message}`)
  if (status !== 0) fail('npm ci failed: see above')
}

/** @param {string} newEnough */
function buildWith(newEnough) {
  const parts = [
    { name: 'viewer', isBuilt: isViewerBuilt, build: buildViewer },
    { name: 'program', isBuilt: () => findBundle(ROOT) !== undefined, build: buildProgram },
  ]
  for (const { name, isBuilt, build } of parts) {
    if (isBuilt()) continue
    withLock(() => {
      if (isBuilt()) return
      console.error(`colophon: building the ${name}`)
      const fault = build(newEnough)
      if (fault !== null) fail(`the ${name} could not be built: ${fault}`)
    })
  }
}

function missingPrograms() {
  return TEST_PROGRAMS.filter((program) => findProgram(program) === null)
}

/**
 * Installs the programs that tests drive, where that requires no consent. Without them their tests are skipped; in
 * continuous integration, where nobody would notice, this fails.
 */
function installPrograms() {
  const problem = tryInstallPrograms(missingPrograms())
  const missing = missingPrograms()
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(' and ')
  const remedy = `install ${names}, or set ${missing.map(({ variable }) => variable).join(' and ')}`
  if (process.env.CI === 'true') fail(`the tests need ${names}, and ${problem}; ${remedy}`)
  console.error(`colophon: tests that need ${names} are skipped, since ${problem}; ${remedy}`)
}

/**
 * @param {readonly import('./test-programs.mjs').TestProgram[]} missing
 * @returns {string} what is in the way, if something is still missing afterwards
 */
function tryInstallPrograms(missing) {
  const misnamed = missing.find(({ variable }) => process.env[variable])
  if (misnamed) return `${misnamed.variable} names no program`
  if (!isOnPath('apt-get')) return 'there is no apt-get here to install it with'
  const asRoot = becomeRoot()
  if (asRoot === null) return 'only root can install it'
  const packages = missing.map(({ debianPackage }) => debianPackage)
  console.error(`colophon: installing ${packages.join(' and ')} for the tests (apt-get)`)
  const [program = '', ...args] = [
    ...asRoot,
    'sh',
    join(ROOT, 'scripts', 'install-debian-packages.sh'),
    ...packages,
  ]
  const { status, error, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_TIMEOUT_MS,
  })
  if (status === 0) return 'its package brings no program that runs'
  const lines = (stderr || '').trim().split('\n')
  return `apt-get failed: ${error ? error.message : lines[lines.length - 1]}`
}

/** Returns the prefix of a command that requires root; null when there is no way without a password. */
function becomeRoot() {
  if (process.getuid && process.getuid() === 0) return []
  return isOnPath('sudo') && spawnSync('sudo', ['-n', 'true']).status === 0 ? ['sudo', '-n'] : null
}

/** @param {string} command */
function isOnPath(command) {
  return findProgram({ commands: [command], variable: '' }) !== null
}

/** Runs npm with its messages on standard error, so that standard output has that of the command only. */
function options() {
  return { cwd: ROOT, stdio: /** @type {import('child_process').StdioOptions} */ (['ignore', 2, 2]) }
}

/**
 * Runs the installation in one process at a time. The lock of a process that is gone is taken over; two processes could
 * take it over at once, which only costs a second npm ci.
 *
 * @param {() => void} action
 */
function withLock(action) {
  mkdirSync(CACHE, { recursive: true })
  let told = false
  while (!tryLock()) {
    if (!told) console.error('colophon: waiting for another process that is installing')
    told = true
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
  process.on('exit', unlock)
  action()
  process.off('exit', unlock)
  unlock()
}

function tryLock() {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    if (!holderLives()) unlock()
    return false
  }
}

function holderLives() {
  try {
    const pid = Number(readFileSync(LOCK, 'utf8'))
    if (pid === 0) return Date.now() - statSync(LOCK).mtimeMs < 5000 // made, not yet written to
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

function unlock() {
  try {
    unlinkSync(LOCK)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
  }
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(`colophon: ${message}`)
  process.exit(1)
}
