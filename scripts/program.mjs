/*
 * Bundles the program of a checkout. Plain JavaScript for Node.js 14 and later, since setup calls it.
 */
import { spawnSync } from 'child_process'
import { renameSync, rmSync } from 'fs'
import { join } from 'path'
import { bundlesFolder, bundlesIn } from '../bin/program.js'
import { ROOT } from './node24.mjs'

/** The number of bundles that stay: a process that runs from an earlier one loads more of it later. */
const KEPT = 3

/**
 * Bundles the present sources. Returns the output of the bundler when it fails, else null.
 *
 * @param {string} node
 */
export function buildProgram(node) {
  const folder = bundlesFolder(ROOT)
  const started = Date.now()
  const made = join(folder, `making-${process.pid}`)
  const { status, stdout, stderr, error } = spawnSync(node, [join(ROOT, 'scripts', 'bundle.mjs'), made], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (error || status !== 0) return error ? error.message : `${stdout}${stderr}`
  renameSync(made, join(folder, `${started}`))
  for (const earlier of bundlesIn(folder).slice(KEPT)) rmSync(join(folder, `${earlier}`), { recursive: true })
  return null
}
