import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POSTGRES_CASES } from '../../bench/postgres-cases.ts'
import { renderReport } from '../../bench/support/report.ts'
import { runPostgresCases } from '../../bench/support/run-cases.ts'
import { checkBenchResults } from '../support/check-bench-results.ts'

/** One of them, or in long tests all. */
const CHOSEN = POSTGRES_CASES.filter(({ name }) => process.env['COLOPHON_BENCH'] || name === 'writes')

test('benchmarks of a store in PostgreSQL give rows with figures, and each of these is in the report', async () => {
  const settings = { records: 200, cells: 60, seconds: 0.1, rounds: 1 }
  let server = ''
  const onServer = (description: string): void => {
    server = description
  }
  const results = await runPostgresCases(CHOSEN, settings, { onServer })
  const report = renderReport(results, { ...settings, server })
  checkBenchResults(results, CHOSEN, report)
  assert.match(report, /^# Benchmark results on PostgreSQL$/m)
  assert.match(report, /The store is PostgreSQL \d+\.\d+ on the same machine, .*shared_buffers = 1GB/)
})
