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
 * @typedef {object} TestFailure
 * @property {string} name
 * @property {string} file where the test is written, relative to the working directory
 * @property {string} error with its stack
 *
 * @typedef {{ type: 'pass', name: string, file: string }} PassEvent
 * @typedef {{ type: 'fail' } & TestFailure} FailEvent
 * @typedef {{ type: 'summary', counts: TestCounts }} SummaryEvent
 * @typedef {PassEvent | FailEvent | SummaryEvent} TestEvent
 */

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* testEvents(events) {
  for await (const { type, data } of events) {
    const event = eventOf(type, data)
    if (event !== null) yield `${RECORD_SEPARATOR}${JSON.stringify(event)}\n`
  }
}

/**
 * @param {string} type
 * @param {any} data
 * @returns {TestEvent | null}
 */
function eventOf(type, data) {
  if (type === 'test:summary') return { type: 'summary', counts: data.counts }
  if (type !== 'test:pass' && type !== 'test:fail') return null
  const { name, file, line, details } = data
  const where = file === undefined ? '' : relative(process.cwd(), file)
  if (type === 'test:pass') return details.type === 'suite' ? null : { type: 'pass', name, file: where }
  const { error } = details
  // A test is said to have failed again for each subtest of it that failed.
  if (error.failureType === 'subtestsFailed') return null
  const reason = error.failureType === 'testCodeFailure' ? error.cause : error
  return { type: 'fail', name, file: where, error: `${where}:${line}\n${inspect(reason)}` }
}
