/*
 * A reporter for Node's test runner: a line of JSON for each test that ends, and one for the whole. Each line begins with
 * the character for that (RFC 7464), since what tests print comes between them.
 */
import { relative } from 'path'
import { inspect } from 'util'

export const RECORD_SEPARATOR = '\x1e'

// Programs that tests fork inherit the options of their parent: with these they would run tests.
process.execArgv.splice(0)

/**
 * @typedef {Record<'tests' | 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>} TestCounts
 *
 * @typedef {object} EndedTest
 * @property {string} name
 * @property {readonly string[]} path the names of the suites and tests that it is in, and its own
 * @property {string} file where the test is written, relative to the working directory
 *
 * @typedef {EndedTest & { error: string }} TestFailure with the stack of its error
 *
 * @typedef {{ type: 'pass', isSuite: boolean } & EndedTest} PassEvent
 * @typedef {{ type: 'fail' } & TestFailure} FailEvent
 * @typedef {{ type: 'outer', path: readonly string[] }} OuterEvent a test of which subtests failed; it ends after them
 * @typedef {{ type: 'summary', counts: TestCounts }} SummaryEvent
 * @typedef {PassEvent | FailEvent | OuterEvent | SummaryEvent} TestEvent
 */

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* testEvents(events) {
  /** @type {string[]} */
  const path = []
  for await (const { type, data } of events) {
    // Tests start and end here in the order in which they are written, whatever order they run in.
    if (type === 'test:start') path.splice(data.nesting, path.length, data.name)
    const event = eventOf(type, data, path)
    if (event !== null) yield `${RECORD_SEPARATOR}${JSON.stringify(event)}\n`
  }
}

/**
 * @param {string} type
 * @param {any} data
 * @param {readonly string[]} started the names of the test that started last and of those that it is in
 * @returns {TestEvent | null}
 */
function eventOf(type, data, started) {
  if (type === 'test:summary') return { type: 'summary', counts: data.counts }
  if (type !== 'test:pass' && type !== 'test:fail') return null
  const { name, file, line, nesting, details } = data
  const path = [...started.slice(0, nesting), name]
  const isSuite = details.type === 'suite'
  const where = file === undefined ? '' : relative(process.cwd(), file)
  if (type === 'test:pass') return { type: 'pass', name, path, file: where, isSuite }
  const { error } = details
  // A test is said to have failed again for each subtest of it that failed.
  if (error.failureType === 'subtestsFailed') return isSuite ? null : { type: 'outer', path }
  const reason = error.failureType === 'testCodeFailure' ? error.cause : error
  return { type: 'fail', name, path, file: where, error: `${where}:${line}\n${inspect(reason)}` }
}
