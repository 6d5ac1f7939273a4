import { toMaterializeAnswer, type MaterializeReport } from '../../wire/runs/materialize.ts'

/** Failures in one part of a response: other requests are served between parts. */
export const FAILURES_AT_ONCE = 1000

/** Yields the JSON text of a run's response in parts, so that no list of failures is too long for it. */
export function* materializeText(report: MaterializeReport): Generator<string> {
  const { materialized, skipped, failures, totalCost } = report
  yield `{"materialized":${materialized},"skipped":${skipped},"failures":[`
  for (let start = 0; start < failures.length; start += FAILURES_AT_ONCE) {
    const part = { ...report, failures: failures.slice(start, start + FAILURES_AT_ONCE) }
    const text = JSON.stringify(toMaterializeAnswer(part).failures).slice(1, -1)
    yield start === 0 ? text : `,${text}`
  }
  yield `],"total_cost":${JSON.stringify(totalCost)}}`
}
