/*
 * Runs the tests with Node's own runner.
 *
 *   npm test                                  all of them
 *   npm test -- test/http                     those of a folder
 *   npm test -- src/derivation/definition/template.test.ts
 *   npm test -- --test-name-pattern=D21       options go to the runner
 *
 * A whole run uses the machine to the full, with databases, browsers and servers in processes of their own, and a test may
 * be delayed for longer than it waits. So the failed tests of a few files run a second time, alone. A test that passes only then
 * is flaky: it, or the product, has a race. The closing lines name it, and in CI it fails unless `test/flaky.md` lists it.
 */
import { spawn } from 'child_process'
import { existsSync, readFileSync, statSync } from 'fs'
import { cpus } from 'os'
import { forwardSignalsTo } from '../bin/launcher.js'
import { exitCode, findNode, missingNode, ROOT } from './node24.mjs'
import { runGroups, TEST_TIMEOUT_MS, testEnvironment } from './run-groups.mjs'
import { TEST_FOLDERS, testGroups } from './test-groups.mjs'

/** The most files that run a second time; more failures are no coincidence. */
const MOST_SECOND_TRIES = 3

const FLAKY_LIST = 'test/flaky.md'

/** @typedef {import('./test-groups.mjs').TestGroup} TestGroup */
/** @typedef {import('./run-groups.mjs').GroupResult} GroupResult */
/** @typedef {import('./test-events.mjs').TestFailure} TestFailure */

const args = process.argv.slice(2)
const options = args.filter((arg) => arg.startsWith('-'))
const named = args.filter((arg) => !arg.startsWith('-'))

const node = findNode()
if (node === null) {
  console.error(missingNode())
  process.exit(1)
}

process.chdir(ROOT)
process.exitCode = args.length > 0 ? await runSome(node) : await runAll(node)

/**
 * Runs the files and folders that are named, or all with options of the runner, each file in a process of its own, and prints
 * each test.
 *
 * @param {string} program Node
 * @returns {Promise<number>} the exit code
 */
async function runSome(program) {
  const files = (named.length > 0 ? named : TEST_FOLDERS).map((path) =>
    isFolder(path) ? `${path.replace(/\/+$/, '')}/**/*.test.{ts,mjs}` : path,
  )
  const runner = spawn(
    program,
    [
      '--test',
      '--test-reporter=spec',
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      `--test-concurrency=${cpus().length + 1}`,
      ...options,
      ...files,
    ],
    { stdio: 'inherit', env: testEnvironment() },
  )
  forwardSignalsTo(runner)
  return new Promise((resolve) => runner.on('exit', (code, signal) => resolve(exitCode(code, signal))))
}

/**
 * Runs all tests, and those that failed once more.
 *
 * @param {string} program Node
 * @returns {Promise<number>} the exit code
 */
async function runAll(program) {
  // Many tests wait for timers, databases and pages: with four more test processes than processors, these are idle for a hundredth of the time.
  const first = await runGroups(testGroups(ROOT), { node: program, processes: cpus().length + 4 })
  const tries = first.flatMap(secondTries)
  if (tries.length === 0 || tries.length > MOST_SECOND_TRIES) return finish(first, [])
  console.log(`\nSecond try, alone: ${tries.map(({ name }) => name).join(', ')}\n`)
  const second = await runGroups(tries, { node: program, processes: 1 })
  return finish(first, second)
}

/**
 * Returns what to run again: the failed tests of each file, or of the group, where a test is written in a file that others import;
 * and the whole group, where its process ended early.
 *
 * @param {GroupResult} result
 * @returns {readonly TestGroup[]}
 */
function secondTries({ group, failures, outer }) {
  const failed = new Set(failures.map(({ file }) => file))
  if (failed.size === 0) return []
  if (failed.has('')) return [group]
  const files = group.files.filter((file) => failed.has(file))
  if (files.length < failed.size) return [{ ...group, only: pathsOf(failures, outer) }]
  return files.map((file) => ({
    name: file,
    files: [file],
    only: pathsOf(
      failures.filter((failure) => failure.file === file),
      outer,
    ),
  }))
}

/**
 * Returns the paths of the tests to run for these to run: a subtest runs only with the test that it is in.
 *
 * @param {readonly TestFailure[]} failures
 * @param {GroupResult['outer']} outer
 */
function pathsOf(failures, outer) {
  const paths = failures.map(({ path }) => {
    const around = outer.filter((other) => other.every((name, index) => name === path[index]))
    return around.toSorted((one, another) => one.length - another.length)[0] || path
  })
  return [...new Map(paths.map((path) => [path.join('\n'), path])).values()]
}

/**
 * Returns the failures of the first try that the second did not mend. A test that did not run again has failed.
 *
 * @param {readonly GroupResult[]} first
 * @param {readonly GroupResult[]} second
 * @returns {readonly TestFailure[]}
 */
function unmended(first, second) {
  return first.flatMap(({ group, failures }) => {
    const again = second.filter((result) => result.group.files.every((file) => group.files.includes(file)))
    const isMended = (/** @type {TestFailure} */ failure) =>
      again.some(
        (result) =>
          result.counts !== null &&
          (!result.group.only || result.passes.some((pass) => isSame(pass, failure))),
      )
    return failures.filter((failure) => !isMended(failure))
  })
}

/**
 * Prints the closing lines.
 *
 * @param {readonly GroupResult[]} first
 * @param {readonly GroupResult[]} second
 * @returns {number} the exit code
 */
function finish(first, second) {
  const again = second.flatMap((result) => result.failures)
  const isKnown = (/** @type {TestFailure} */ failure) => again.some((known) => isSame(known, failure))
  const lost = unmended(first, second).filter((failure) => !isKnown(failure))
  const failures = [...again, ...lost]
  const flaky = first
    .flatMap((result) => result.failures)
    .filter((failure) => !isKnown(failure) && !lost.includes(failure))
  if (failures.length > 0) {
    console.log('\nFailed:')
    for (const { name, file } of failures) console.log(`✖ ${name} (${file})`)
  }
  const listed = existsSync(FLAKY_LIST) ? readFileSync(FLAKY_LIST, 'utf8').split('\n') : []
  const unlisted = flaky.filter(
    ({ name, file }) => !listed.some((row) => row.includes(`\`${name}\``) && row.includes(`\`${file}\``)),
  )
  if (flaky.length > 0) {
    console.log('\nFlaky, passed at the second try only:')
    for (const failure of flaky) {
      const note = unlisted.includes(failure)
        ? `not in ${FLAKY_LIST}: add it there with what is known of it`
        : `see ${FLAKY_LIST}`
      console.log(`✔ ${failure.name} (${failure.file}), ${note}`)
    }
  }
  console.log('\nOf all tests:')
  const counts = countAll(first, second, lost.length)
  for (const [what, count] of Object.entries({ ...counts, flaky: flaky.length }))
    console.log(`ℹ ${what} ${count}`)
  return failures.length > 0 || (process.env.CI === 'true' && unlisted.length > 0) ? 1 : 0
}

/**
 * Counts all tests once, with the result of the last try.
 *
 * @param {readonly GroupResult[]} first
 * @param {readonly GroupResult[]} second
 * @param {number} lost failed tests that should have run again and did not
 */
function countAll(first, second, lost) {
  const sum = { tests: 0, pass: 0, fail: second.length > 0 ? lost : 0, cancelled: 0, skipped: 0, todo: 0 }
  for (const { group, counts } of first) {
    const again = second.filter((result) => result.group.files.every((file) => group.files.includes(file)))
    // A process that ended early counted nothing; then its whole group ran again.
    const known = counts ?? again[0]?.counts
    if (!known) continue
    const last = again.length > 0 ? again.map((result) => result.counts) : [known]
    sum.tests += known.tests
    sum.skipped += known.skipped
    sum.todo += known.todo
    for (const each of last) {
      sum.fail += each?.failed ?? 0
      sum.cancelled += each?.cancelled ?? 0
    }
  }
  return { ...sum, pass: sum.tests - sum.fail - sum.cancelled - sum.skipped - sum.todo }
}

/**
 * @param {import('./test-events.mjs').EndedTest} one
 * @param {import('./test-events.mjs').EndedTest} other
 */
function isSame(one, other) {
  return one.file === other.file && one.path.join('\n') === other.path.join('\n')
}

/** @param {string} path */
function isFolder(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.isDirectory()
}
