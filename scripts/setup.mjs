/*
 * Sees to what `npm start` and `npm test` need: the dependencies of the lockfile and a Node.js that is new enough.
 * Takes milliseconds when all is there. Plain JavaScript for any Node from 14 on.
 */
import { spawnSync } from 'child_process'
import { existsSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'fs'
import { join } from 'path'
import { findNode, missingNode, ROOT } from './node24.mjs'

const CACHE = join(ROOT, '.cache')
const LOCK = join(CACHE, 'setup.lock')

if (!isInstalled()) withLock(() => isInstalled() || install())
if (findNode() === null) fail(missingNode())

/**
 * Whether node_modules is what package-lock.json asks for. Compares contents, not times: a checkout makes the lockfile
 * look new, and npm writes the two files in either order.
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

/** npm's own messages go to stderr, so that the output of the command proper stays clean. */
function options() {
  return { cwd: ROOT, stdio: /** @type {import('child_process').StdioOptions} */ (['ignore', 2, 2]) }
}

/**
 * Lets one process at a time install. The lock of a process that is gone is taken over; two takers at once could both
 * succeed, which costs a second npm ci and no more.
 *
 * @param {() => void} action
 */
function withLock(action) {
  mkdirSync(CACHE, { recursive: true })
  let told = false
  while (!tryLock()) {
    if (!told) console.error('colophon: waiting for another process that is installing dependencies')
    told = true
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
  process.on('exit', unlock)
  action()
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
