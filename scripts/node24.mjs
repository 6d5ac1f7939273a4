/*
 * Finds a Node.js that can run the project. Plain JavaScript for Node.js 14 and later, since it also runs on versions that
 * are too old for the project.
 */
import { spawnSync } from 'child_process'
import { existsSync } from 'fs'
import { dirname, join } from 'path'
import { fileURLToPath } from 'url'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')

/** The Node.js that npm scripts find first on their path, from the platform packages in optionalDependencies. */
const BUNDLED = join(
  ROOT,
  'node_modules',
  `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`,
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
)

/** Returns the path of a Node.js that is new enough: this one, else the bundled one; null when neither runs. */
export function findNode() {
  if (isNewEnough(process.versions.node)) return process.execPath
  if (!existsSync(BUNDLED)) return null
  const { status, stdout } = spawnSync(BUNDLED, ['--version'], { encoding: 'utf8' })
  return status === 0 && isNewEnough(stdout.trim().slice(1)) ? BUNDLED : null
}

/** The error message when {@link findNode} returns null. */
export function missingNode() {
  return (
    `colophon needs Node.js 24.20 or newer; this is ${process.versions.node}, and npm brings none for ` +
    `${process.platform}-${process.arch}: install Node.js 24 from https://nodejs.org/ and run the command again`
  )
}

/**
 * Returns the exit code of a child as shells do: 128 and the number of the signal that ended it.
 *
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
export function exitCode(code, signal) {
  if (code !== null) return code
  return 128 + (signal === 'SIGINT' ? 2 : signal === 'SIGHUP' ? 1 : signal === 'SIGKILL' ? 9 : 15)
}

/** @param {string} version such as `24.20.0` */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 24 || (major === 24 && minor >= 20)
}
