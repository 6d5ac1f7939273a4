/*
 * Runs groups of test files, a process for each, and prints how far they are.
 */
import { spawn } from 'child_process'
import { join } from 'path'
import { followLauncher } from '../bin/launcher.js'
import { exitCode, ROOT } from './node24.mjs'
import { RECORD_SEPARATOR } from './test-events.mjs'

/** Milliseconds after which a test counts as hanging. */
export const TEST_TIMEOUT_MS = 5 * 60_000
/** Milliseconds for a whole run, which takes less than half of it on a quiet machine. */
const RUN_TIMEOUT_MS = 45 * 60_000
/** A process in which no test ends for longer has something left open. */
const IDLE_TIMEOUT_MS = TEST_TIMEOUT_MS + 60_000
/** Milliseconds for which children of an ended process may still hold its output open. */
const OUTPUT_TIMEOUT_MS = 5000

const PROGRESS_INTERVAL_MS = 10_000

/** Characters of a group's output that are shown when one of its tests fails. */
const SHOWN_OUTPUT = 5000

/**
 * The outcome of the tests of a group.
 *
 * @typedef {object} GroupResult
 * @property {import('./test-groups.mjs').TestGroup} group
 * @property {import('./test-events.mjs').TestCounts | null} counts null when the process ended before all tests had
 * @property {readonly import('./test-events.mjs').TestFailure[]} failures
 * @property {readonly (readonly string[])[]} outer paths of tests of which subtests failed
 * @property {readonly import('./test-events.mjs').EndedTest[]} passes of a group of which only some tests run
 *
 * @typedef {object} RunOptions
 * @property {string} node
 * @property {number} processes at a time
 */

const began = Date.now()

/** @type {Set<GroupRun>} */
const running = new Set()

/**
 * Runs groups in their order, several at a time. Ends this process when a signal arrives.
 *
 * @param {readonly import('./test-groups.mjs').TestGroup[]} groups
 * @param {RunOptions} options
 * @returns {Promise<readonly GroupResult[]>}
 */
export async function runGroups(groups, { node, processes }) {
  stopOnSignals()
  /** @type {GroupResult[]} */
  const results = []
  const waiting = [...groups]
  const progress = setInterval(() => {
    for (const run of running) print(`${run.group.name}: ${run.progress()}`)
  }, PROGRESS_INTERVAL_MS)
  const worker = async () => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      const run = new GroupRun(group, node)
      running.add(run)
      const result = await run.end()
      running.delete(run)
      results.push(result)
      print(`${results.length} of ${groups.length} groups: ${group.name}, ${run.progress()}`)
    }
  }
  await Promise.all(Array.from({ length: processes }, worker))
  clearInterval(progress)
  return results
}

/** The process of a group. */
class GroupRun {
  /** @param {import('./test-groups.mjs').TestGroup} group @param {string} node */
  constructor(group, node) {
    this.group = group
    /** @type {import('./test-events.mjs').TestFailure[]} */
    this.failures = []
    /** @type {(readonly string[])[]} */
    this.outer = []
    /** @type {import('./test-events.mjs').EndedTest[]} */
    this.passes = []
    /** @type {import('./test-events.mjs').TestCounts | null} */
    this.counts = null
    this.passed = 0
    /** The file of the latest test. */
    this.file = ''
    /** The end of what the tests printed. */
    this.output = ''
    this.child = spawn(
      node,
      [
        '--test',
        '--test-isolation=none',
        `--test-reporter=${join(ROOT, 'scripts', 'test-events.mjs')}`,
        '--test-reporter-destination=stdout',
        `--test-timeout=${TEST_TIMEOUT_MS}`,
        ...(group.only || []).map((path) => `--test-name-pattern=${patternOf(path)}`),
        ...group.files,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: testEnvironment() },
    )
    this.#read(this.child.stdout)
    this.#read(this.child.stderr)
    const timer = setTimeout(() => this.#stop('took too long'), began + RUN_TIMEOUT_MS - Date.now())
    this.idleTimer = setTimeout(() => this.#stop('has left something open'), IDLE_TIMEOUT_MS)
    /** @type {Promise<number>} */
    this.exited = new Promise((resolve) => {
      this.child.on('exit', () => {
        clearTimeout(timer)
        clearTimeout(this.idleTimer)
        setTimeout(() => {
          this.child.stdout.destroy()
          this.child.stderr.destroy()
        }, OUTPUT_TIMEOUT_MS).unref()
      })
      this.child.on('close', (code, signal) => resolve(exitCode(code, signal)))
    })
  }

  /** Returns the progress of the group as text. */
  progress() {
    const failed = this.failures.length > 0 ? `, ${this.failures.length} failed` : ''
    return `${this.passed} tests passed${failed}${this.file === '' ? '' : `, ${this.file}`}`
  }

  /** @returns {Promise<GroupResult>} */
  async end() {
    const code = await this.exited
    const { group, failures, outer, passes, counts } = this
    this.file = ''
    // Without a summary some of its tests may not have run, whatever the exit code.
    const isWhole = counts !== null && (code === 0 || failures.length > 0)
    if (!isWhole && !failures.some(({ file }) => file === '')) {
      this.#fail({ ...ofGroup(group), error: `The process of ${group.name} ended with ${code}` })
    }
    if (failures.length > 0 && this.output.trim() !== '') {
      console.log(`What the tests of ${group.name} printed last:\n${this.output}`)
    }
    return { group, counts, failures, outer, passes }
  }

  /** @param {string} why */
  #stop(why) {
    this.#fail({ ...ofGroup(this.group), error: `The process of ${this.group.name} ${why}` })
    this.child.kill('SIGKILL')
  }

  /** @param {import('./test-events.mjs').TestFailure} failure */
  #fail(failure) {
    this.failures.push(failure)
    console.log(`✖ ${failure.name}\n  ${failure.error.replaceAll('\n', '\n  ')}`)
  }

  /** @param {import('stream').Readable} stream */
  #read(stream) {
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('data', (/** @type {string} */ chunk) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#readLine(line)
    })
    stream.on('end', () => this.#readLine(rest))
  }

  /** @param {string} line */
  #readLine(line) {
    const [printed = '', event] = line.split(RECORD_SEPARATOR)
    if (printed !== '') this.output = `${this.output}${printed}\n`.slice(-SHOWN_OUTPUT)
    if (event !== undefined) this.#take(JSON.parse(event))
  }

  /** @param {import('./test-events.mjs').TestEvent} event */
  #take(event) {
    this.idleTimer.refresh()
    if (event.type === 'summary') {
      this.counts = event.counts
      return
    }
    if (event.type === 'outer') {
      this.outer.push(event.path)
      return
    }
    this.file = event.file
    if (event.type === 'fail') this.#fail(event)
    else if (!event.isSuite) this.passed += 1
    if (event.type === 'pass' && this.group.only) this.passes.push(event)
  }
}

/**
 * The test that stands for the whole process of a group.
 *
 * @param {import('./test-groups.mjs').TestGroup} group
 * @returns {import('./test-events.mjs').EndedTest}
 */
function ofGroup({ name }) {
  return { name, path: [name], file: '' }
}

/**
 * Returns a pattern of Node's test runner for one test: it joins the names of a path with spaces.
 *
 * @param {readonly string[]} path
 */
function patternOf(path) {
  return `^${path.join(' ').replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`
}

/** The environment of tests. */
export function testEnvironment() {
  return {
    ...process.env,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(ROOT, '.cache', 'compile'),
  }
}

function stopOnSignals() {
  followLauncher()
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      for (const { child } of running) child.kill('SIGTERM')
      process.exit(exitCode(null, signal))
    })
  }
}

/** @param {string} line */
function print(line) {
  const seconds = Math.round((Date.now() - began) / 1000)
  console.log(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}  ${line}`)
}
