/*
 * Runs the tests with Node's own runner.
 *
 *   npm test                                  all of them
 *   npm test -- test/http                     those of a folder
 *   npm test -- src/derivation/template.test.ts
 *   npm test -- --test-name-pattern=D21       options go to the runner
 */
import { statSync } from 'fs'
import { cpus } from 'os'
import { join } from 'path'
import { findNode, missingNode, ROOT, runInForeground } from './node24.mjs'

/** Of a file or a test in it: what takes so long hangs. */
const TEST_TIMEOUT_MS = 5 * 60_000
const RUN_TIMEOUT_MS = 27 * 60_000

const ALL = ['src', 'test', 'scripts', 'examples'].map(testsIn)

const args = process.argv.slice(2)
const options = args.filter((arg) => arg.startsWith('-'))
const named = args.filter((arg) => !arg.startsWith('-')).map((arg) => (isFolder(arg) ? testsIn(arg) : arg))

const node = findNode()
if (node === null) {
  console.error(missingNode())
  process.exit(1)
}

process.chdir(ROOT)
const runner = runInForeground(
  node,
  [
    '--test',
    '--test-reporter=spec',
    // Many tests wait for processes of their own: one more test file than processors keeps these busy.
    `--test-concurrency=${cpus().length + 1}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...options,
    ...(named.length > 0 ? named : ALL),
  ],
  { ...process.env, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(ROOT, '.cache', 'compile') },
)
// A file that has left something open after its last test never ends: interrupted, the runner names it and fails.
setTimeout(() => runner.kill('SIGTERM'), RUN_TIMEOUT_MS).unref()

/** @param {string} folder */
function testsIn(folder) {
  return `${folder.replace(/[\\/]+$/, '')}/**/*.test.{ts,mjs}`
}

/** @param {string} path */
function isFolder(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.isDirectory()
}
