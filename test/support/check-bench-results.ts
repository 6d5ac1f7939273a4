import assert from 'node:assert/strict'
import type { BenchRow } from '../../bench/support/case.ts'
import type { CaseResult } from '../../bench/support/run-cases.ts'

/** Asserts that exactly these cases have rows with figures, each of which is in the report. */
export function checkBenchResults(
  results: readonly CaseResult[],
  cases: readonly { readonly name: string }[],
  report: string,
): void {
  assert.deepEqual(results.map(({ name }) => name).toSorted(), cases.map(({ name }) => name).toSorted())
  for (const { name, rows, failure } of results) {
    assert.equal(failure, null, `${name}: ${String(failure)}`)
    assert.notEqual(rows.length, 0, name)
    for (const row of rows) {
      const figures = figuresOf(row)
      assert.notEqual(figures.length, 0, textOf(row))
      for (const [figure, value] of figures) {
        assert.ok(Number.isFinite(value) && value > 0, `${figure} of "${textOf(row)}" is ${String(value)}`)
      }
      assert.ok(report.includes(`| ${textOf(row)} |`), textOf(row))
    }
  }
  assert.doesNotMatch(report, /NaN|Infinity|undefined/)
}

function figuresOf(row: BenchRow): [string, number][] {
  const named =
    row.kind === 'programs'
      ? row.figures.map(({ program, value }) => [program, value] as const)
      : Object.entries(row)
  return named.flatMap(([name, value]): [string, number][] =>
    typeof value === 'number' ? [[name, value]] : [],
  )
}

function textOf(row: BenchRow): string {
  return row.kind === 'latency' ? row.meanwhile : row.what
}
