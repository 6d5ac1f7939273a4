/*
 * Builds the viewer, and checks whether it was built from the present sources. Plain JavaScript for Node.js 14 and later,
 * since setup calls it.
 */
import { spawnSync } from 'child_process'
import { createHash } from 'crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'fs'
import { join } from 'path'
import { ROOT } from './node24.mjs'

const WEB = join(ROOT, 'web')

/** The file with the hash of the sources of the built viewer. */
const STAMP = join(WEB, 'dist', 'built-from')

/** Whether the viewer was built from the present sources. */
export function isViewerBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sourcesHash()
}

/**
 * Builds the viewer, and the page that verifies proofs. Returns the output of vite when it fails, else null.
 *
 * @param {string} node
 */
export function buildViewer(node) {
  const hash = sourcesHash()
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js')
  for (const config of ['vite.config.ts', 'verify.config.ts']) {
    const { status, stdout, stderr, error } = spawnSync(
      node,
      [vite, 'build', 'web', '--config', join(WEB, config), '--logLevel', 'warn'],
      { cwd: ROOT, encoding: 'utf8' },
    )
    if (error || status !== 0) return error ? error.message : `${stdout}${stderr}`
  }
  writeFileSync(STAMP, hash)
  return null
}

/** Returns the hash of the viewer's sources, without tests. */
function sourcesHash() {
  const hash = createHash('sha256')
  const folders = [
    join(WEB, 'src'),
    join(WEB, 'public'),
    join(ROOT, 'src', 'wire'),
    join(ROOT, 'src', 'client'),
    join(ROOT, 'src', 'proof'),
  ]
  const files = [
    join(WEB, 'index.html'),
    join(WEB, 'vite.config.ts'),
    join(WEB, 'verify.html'),
    join(WEB, 'verify.config.ts'),
    join(ROOT, 'package-lock.json'),
    ...folders.map(filesIn).reduce((all, some) => all.concat(some), []),
  ]
  // Some file systems list in the order of writing. toSorted is too new for the Node that this may run on.
  // oxlint-disable-next-line unicorn/no-array-sort
  for (const file of [...files].sort()) {
    hash.update(file.slice(ROOT.length))
    hash.update('\0')
    hash.update(readFileSync(file))
  }
  return hash.digest('hex')
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesIn(path) : [path]
    })
    .reduce((all, some) => all.concat(some), [])
}
