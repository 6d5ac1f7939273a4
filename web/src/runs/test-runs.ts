import type { RunSummary } from '../../../src/wire/runs/runs.ts'

/** Returns a run for tests. */
export function runOf(given: Partial<RunSummary> & { readonly id: string }): RunSummary {
  return {
    kind: 'materialize',
    reverts: null,
    state: 'running',
    actor: 'human:ann',
    targets: null,
    record_count: null,
    force: false,
    overwrite_manual: false,
    only: null,
    limit: null,
    max_calls: null,
    max_cost: null,
    reuse_responses: false,
    stop_after_failures: null,
    started_at: '2026-03-01T10:00:00.000Z',
    ended_at: null,
    done: 0,
    total: 0,
    materialized: 0,
    skipped: 0,
    failed: 0,
    calls: 0,
    total_cost: 0,
    unpriced_calls: 0,
    left: 0,
    manual_left: 0,
    manual_overwritten: 0,
    error: null,
    cancelled_by: null,
    ...given,
  }
}
