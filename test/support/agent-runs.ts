import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import type { Agent } from './agent.ts'

/** Writes, runs and queries with all agents at a time; each has its own part of a sheet of six records. */
export async function checkConcurrent(agents: readonly Agent[]): Promise<void> {
  await Promise.all(
    agents.flatMap((agent, index) => [
      agent.call('upsert_records', { records: [{ id: `n${index}`, a: `x${index}` }] }),
      agent.call('materialize', { record_ids: [`r${index}`, `r${index + 3}`] }),
      agent.call('query', { sql: 'SELECT count(*) AS n FROM records' }),
    ]),
  )
  const { structured } = await (agents[0] ?? assert.fail()).call('query', {
    sql: 'SELECT count(*) AS n, count(b) AS computed FROM records',
  })
  assert.deepEqual(structured['rows'], [{ n: 9, computed: 6 }])
}

/** Waits until the newest run has ended, and tells how. */
export async function endOfRun(sheet: Sheet): Promise<{ state: string; cancelledBy: string | null }> {
  for (;;) {
    const [run] = (await listRuns(sheet, { limit: 1, cursor: null })).runs
    if (run !== undefined && run.state !== 'running')
      return { state: run.state, cancelledBy: run.cancelledBy }
    await setImmediate()
  }
}
