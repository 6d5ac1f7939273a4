/**
 * How a run of tests went.
 *
 * @typedef {object} Outcome
 * @property {Record<'tests' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>} [counts] none when it was interrupted
 * @property {readonly { name: string, file: string }[]} failures the tests that failed, and where they are written
 * @property {readonly string[]} files those to run for these tests, which may have them from other files
 */

/**
 * A reporter for Node's test runner: the outcome as JSON.
 *
 * @param {AsyncIterable<{ type: string, data: any }>} events
 */
export default async function* testOutcome(events) {
  /** @type {Map<string, boolean>} */
  const successes = new Map()
  /** @type {Outcome['counts']} */
  let counts
  const failures = []
  for await (const { type, data } of events) {
    if (type === 'test:fail') failures.push({ name: data.name, file: data.file })
    else if (type !== 'test:summary') continue
    else if (data.file === undefined) counts = data.counts
    else successes.set(data.file, data.success)
  }
  // A file that crashed has no summary.
  const files = failures.map(({ file }) => file).filter((file) => !successes.has(file))
  for (const [file, success] of successes) if (!success) files.push(file)
  yield JSON.stringify({ counts, failures, files })
}
