/*
 * Runs the tests with Node's own runner.
 *
 *   npm test                                  all of them
 *   npm test -- test/http                     those of a folder
 *   npm test -- src/derivation/definition/template.test.ts
 *   npm test -- --test-name-pattern=D21       options go to the runner
 *
 * When all are run, the tests have the machine to the full, with databases, browsers and servers in processes of their own,
 * and what one of them waits for may be kept from it. So a few files that failed are run once more with nothing beside them,
 * and the end of the output names what passed only then: to be looked into, since it may as well be a race of the product.
 */
import { spawn } from 'child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'fs'
import { cpus, tmpdir } from 'os'
import { join } from 'path'
import { passSignalsTo } from '../bin/launcher.js'
import { exitCode, findNode, missingNode, ROOT } from './node24.mjs'

/** Of a file or a test in it: what takes so long hangs. */
const TEST_TIMEOUT_MS = 5 * 60_000
const RUN_TIMEOUT_MS = 27 * 60_000

/** When more files fail than this, it was not by chance. */
const MOST_SECOND_TRIES = 3

/** Of a run that was interrupted. */
const NO_OUTCOME = JSON.stringify({ failures: [], files: [] })

const ALL = ['src', 'web/src', 'test', 'scripts', 'examples'].map(testsIn)

/** @typedef {import('./test-outcome.mjs').Outcome} Outcome */

const args = process.argv.slice(2)
const options = args.filter((arg) => arg.startsWith('-'))
const named = args.filter((arg) => !arg.startsWith('-')).map((arg) => (isFolder(arg) ? testsIn(arg) : arg))

const node = findNode()
if (node === null) {
  console.error(missingNode())
  process.exit(1)
}

process.chdir(ROOT)
const began = Date.now()
// Many tests wait for processes of their own: one more test file than processors keeps these busy.
const first = await run([`--test-concurrency=${cpus().length + 1}`], named.length > 0 ? named : ALL)
const { counts, failures, files } = first.outcome
const isByChance = files.length > 0 && files.length <= MOST_SECOND_TRIES
if (named.length > 0 || !isByChance || counts === undefined) process.exit(first.code)

console.log(`\nOnce more, with nothing beside it: ${files.join(', ')}\n`)
const second = await run(['--test-concurrency=1'], files)
if (second.code === 0) {
  console.log('\nPassed at the second try only, to be looked into:')
  for (const { name, file } of failures) console.log(`✔ ${name} (${file})`)
}
const { tests, skipped, todo } = counts
const { failed: fail, cancelled } = second.outcome.counts ?? counts
const pass = tests - fail - cancelled - skipped - todo
console.log('\nOf all tests:')
for (const [what, count] of Object.entries({ tests, pass, fail, cancelled, skipped, todo })) {
  console.log(`ℹ ${what} ${count}`)
}
process.exit(second.code)

/**
 * Runs the tests of some files and says how it went.
 *
 * @param {readonly string[]} more options of the runner beside those given
 * @param {readonly string[]} which patterns or files
 * @returns {Promise<{ code: number, outcome: Outcome }>}
 */
async function run(more, which) {
  const folder = mkdtempSync(join(tmpdir(), 'colophon-tests-'))
  const written = join(folder, 'outcome')
  const runner = spawn(
    /** @type {string} */ (node),
    [
      '--test',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${join(ROOT, 'scripts', 'test-outcome.mjs')}`,
      `--test-reporter-destination=${written}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      ...more,
      ...options,
      ...which,
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(ROOT, '.cache', 'compile'),
      },
    },
  )
  passSignalsTo(runner)
  // A file that has left something open after its last test never ends: interrupted, the runner names it and fails.
  const timer = setTimeout(() => runner.kill('SIGTERM'), began + RUN_TIMEOUT_MS - Date.now())
  /** @type {number} */
  const code = await new Promise((resolve) =>
    runner.on('exit', (status, signal) => resolve(exitCode(status, signal))),
  )
  clearTimeout(timer)
  const outcome = JSON.parse(readFileSync(written, 'utf8') || NO_OUTCOME)
  rmSync(folder, { recursive: true })
  return { code, outcome }
}

/** @param {string} folder */
function testsIn(folder) {
  return `${folder.replace(/[\\/]+$/, '')}/**/*.test.{ts,mjs}`
}

/** @param {string} path */
function isFolder(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.isDirectory()
}
