/*
 * Finds the program. The package has it as a bundle; a checkout has its sources, and a bundle that loads faster, which setup
 * makes from them. Plain JavaScript for Node.js 14 and later, since setup calls it too.
 */
import { existsSync, readdirSync, statSync } from 'fs'
import { join } from 'path'

/**
 * Returns the path of the module that exports `main`, the command.
 *
 * @param {string} root of the package or the checkout
 */
export function programModule(root) {
  if (!existsSync(join(root, 'src'))) return join(root, 'dist', 'main.js')
  return findBundle(root) || join(root, 'src', 'cli', 'main.ts')
}

/**
 * Returns the bundle of a checkout, if no source is newer; otherwise undefined.
 *
 * @param {string} root
 */
export function findBundle(root) {
  const folder = bundlesFolder(root)
  const [newest] = bundlesIn(folder)
  return newest !== undefined && newest > sourcesTime(root) ? join(folder, `${newest}`, 'main.js') : undefined
}

/**
 * Returns the folder of the bundles of a checkout. Each is in a folder that is named after the time when it was begun, in
 * milliseconds.
 *
 * @param {string} root
 */
export function bundlesFolder(root) {
  return join(root, '.cache', 'program')
}

/**
 * Returns the times of the bundles, newest first.
 *
 * @param {string} folder
 */
export function bundlesIn(folder) {
  if (!existsSync(folder)) return []
  const times = readdirSync(folder).filter((name) => /^\d+$/.test(name))
  // toSorted is too new for the Node that this may run on.
  // oxlint-disable-next-line unicorn/no-array-sort
  return times.map(Number).sort((one, other) => other - one)
}

/**
 * Returns the time of the last change of what a bundle is made from.
 *
 * @param {string} root
 */
function sourcesTime(root) {
  const files = ['package.json', join('scripts', 'bundle.mjs'), join('node_modules', '.package-lock.json')]
  const times = files.map((file) => timeOf(join(root, file)))
  return Math.max(latestIn(join(root, 'src')), ...times)
}

/**
 * Returns the time of the last change of a source. Folders are not looked at: who adds, moves or removes a module changes
 * another one too.
 *
 * @param {string} folder
 * @returns {number}
 */
function latestIn(folder) {
  let latest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) latest = Math.max(latest, latestIn(join(folder, entry.name)))
    else if (!entry.name.endsWith('.test.ts')) latest = Math.max(latest, timeOf(join(folder, entry.name)))
  }
  return latest
}

/** @param {string} path */
function timeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
