/*
 * Whether the viewer is built from the sources that are there, and how to build it. Plain JavaScript for any Node from 14
 * on, since setup calls it.
 */
import { spawnSync } from 'child_process'
import { createHash } from 'crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'fs'
import { join } from 'path'
import { ROOT } from './node24.mjs'

const WEB = join(ROOT, 'web')

/** What the built viewer was made from. */
const STAMP = join(WEB, 'dist', 'built-from')

/** Whether there is a viewer, made from just these sources. */
export function isViewerBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sourcesHash()
}

/**
 * Builds the viewer; answers with what vite has to say when it fails, else null.
 *
 * @param {string} node
 */
export function buildViewer(node) {
  const hash = sourcesHash()
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js')
  const { status, stdout, stderr, error } = spawnSync(node, [vite, 'build', 'web', '--logLevel', 'warn'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (error || status !== 0) return error ? error.message : `${stdout}${stderr}`
  writeFileSync(STAMP, hash)
  return null
}

/** Of all that goes into the viewer; tests do not. */
function sourcesHash() {
  const hash = createHash('sha256')
  const folders = [
    join(WEB, 'src'),
    join(WEB, 'public'),
    join(ROOT, 'src', 'wire'),
    join(ROOT, 'src', 'client'),
  ]
  const files = [
    join(WEB, 'index.html'),
    join(WEB, 'vite.config.ts'),
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
