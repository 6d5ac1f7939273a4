import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POSTGRES_CASES } from '../../bench/postgres-cases.ts'
import { renderReport } from '../../bench/support/report.ts'
import { runPostgresCases } from '../../bench/support/run-cases.ts'
import { checkBenchResults } from '../support/check-bench-results.ts'

/** Those that are of this store alone, and one of those that embedded stores have as well: there they are all run. */
const SMALL = POSTGRES_CASES.filter(({ name }) =>
  ['reads', 'writes', 'workers', 'import', 'many-records'].includes(name),
)

test('benchmarks of a store in PostgreSQL give rows with figures, and each of these is in the report', async () => {
  const settings = { records: 200, cells: 60, seconds: 0.1, rounds: 1 }
  let server = ''
  const onServer = (description: string): void => {
    server = description
  }
  // Both processors are of use while no time counts.
  const halves = [0, 1].map((half) => SMALL.filter((_, index) => index % 2 === half))
  const results = (
    await Promise.all(halves.map((cases) => runPostgresCases(cases, settings, { onServer })))
  ).flat()
  const report = renderReport(results, { ...settings, server })
  assert.equal(SMALL.length, 5)
  checkBenchResults(results, SMALL, report)
  assert.match(report, /^# Benchmark results on PostgreSQL$/m)
  assert.match(report, /The store is PostgreSQL \d+\.\d+ on the same machine, .*shared_buffers = 1GB/)
})
