import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { CASES } from '../../bench/cases.ts'
import { peers } from '../../bench/cases/peers.ts'
import { findPeers } from '../../bench/peers.ts'
import type { BenchCase, BenchSettings, ProgramsRow } from '../../bench/support/case.ts'
import { renderReport } from '../../bench/support/report.ts'
import { runCases } from '../../bench/support/run-cases.ts'
import { checkBenchResults } from '../support/check-bench-results.ts'

const RUN = join(import.meta.dirname, '..', '..', 'bench', 'run.ts')
const SETTINGS: BenchSettings = { records: 200, cells: 600, seconds: 0.1, rounds: 1 }

/** A few of them, or in long tests all that need nothing but Node. */
const CHOSEN = process.env['COLOPHON_BENCH']
  ? [...CASES.filter(({ name }) => name !== 'viewer'), peers([])]
  : CASES.filter(({ name }) => ['reads', 'status'].includes(name))

const run = promisify(execFile)

test('benchmarks give rows with figures, and each of these is in the report', async () => {
  const results = await runCases(CHOSEN, SETTINGS)
  checkBenchResults(results, CHOSEN, renderReport(results, SETTINGS))
})

test('a failing case keeps the rows that it had, and does not affect those of others', async () => {
  const figure = { kind: 'figure', table: 'reach', unit: 'ms', value: 1, bound: { atMost: 2 } } as const
  const failing: BenchCase = {
    name: 'failing',
    async *run() {
      yield { ...figure, what: 'before the fault' }
      throw new Error('no figure')
    },
  }
  const fine: BenchCase = {
    name: 'fine',
    async *run() {
      yield { ...figure, what: 'of another case', value: 3 }
    },
  }
  const report = renderReport(await runCases([failing, fine], SETTINGS), SETTINGS)
  assert.match(report, /^\| before the fault \| 1 ms \| – \| – \| ≤ 2 ms \| ✓ \|$/m)
  assert.match(report, /^\| of another case \| 3 ms \| – \| – \| ≤ 2 ms \| ✗ \|$/m)
  assert.match(report, /^The case `failing` failed, so rows are missing: no figure$/m)
})

test('the report compares programs with the best of the others, and says what one cannot do', () => {
  const row: ProgramsRow = {
    kind: 'programs',
    what: 'pages',
    unit: 'requests/s',
    better: 'more',
    figures: [
      { program: 'Colophon', value: 900 },
      { program: 'one', value: 400 },
      { program: 'another', value: 300 },
    ],
    reach: 2,
  }
  const [, ...others] = row.figures
  const rows: ProgramsRow[] = [
    row,
    { ...row, what: 'faster pages of another', figures: [{ program: 'Colophon', value: 700 }, ...others] },
    { ...row, what: 'times', unit: 'ms', better: 'less', reach: 1 },
    { ...row, what: 'no target', reach: null },
    {
      ...row,
      what: 'only here',
      figures: row.figures.map((one, at) => (at === 0 ? one : { ...one, value: null })),
    },
  ]
  const report = renderReport([{ name: 'peers', rows, failure: null }], { ...SETTINGS, missingPeers: [] })
  const cells = report.split('\n').filter((line) => /^\| (What|pages|faster|times|no|only)/.test(line))
  assert.deepEqual(cells, [
    '| What | Colophon | one | another | To reach |  |',
    '| pages | 900 requests/s | 400 requests/s | 300 requests/s | ≥ 800 requests/s | ✓ |',
    '| faster pages of another | 700 requests/s | 400 requests/s | 300 requests/s | ≥ 800 requests/s | ✗ |',
    '| times | 900 ms | 400 ms | 300 ms | ≤ 300 ms | ✗ |',
    '| no target | 900 requests/s | 400 requests/s | 300 requests/s | – |  |',
    '| only here | 900 requests/s | cannot | cannot | – |  |',
  ])
  assert.match(report, /^# Benchmark results beside peers$/m)
})

test('a peer that is not installed is left out, and the report says what to do', async () => {
  const none = join(tmpdir(), 'no-such-program')
  const { programs, missing } = await findPeers({ datasetteProgram: none, go: none })
  assert.deepEqual(programs, [])
  const report = renderReport([], { ...SETTINGS, missingPeers: missing })
  assert.match(
    report,
    /^Datasette was not measured: install it, and name its program in COLOPHON_DATASETTE \(/m,
  )
  assert.match(report, /^PocketBase was not measured: install Go, which builds it \(/m)
})

test('the command measures the named cases, and writes the report to the named file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-bench-test-'))
  const out = join(directory, 'report.md')
  try {
    const sizes = ['--records', '50', '--cells', '50', '--seconds', '0.1', '--rounds', '1']
    const { stdout } = await run(process.execPath, [RUN, ...sizes, '--only', 'materialize', '--out', out])
    assert.equal(readFileSync(out, 'utf8'), stdout)
    assert.match(stdout, /^\| Materialize 1 distinct http cells \|/m)
    assert.doesNotMatch(stdout, /POST/)

    const refused = run(process.execPath, [
      RUN,
      '--only',
      'status,nonsense',
      '--out',
      join(directory, 'none'),
    ])
    await assert.rejects(refused, (error: { code?: number; stderr?: string }) => {
      assert.equal(error.code, 2)
      assert.match(String(error.stderr), /^no case nonsense; there are reads, /)
      return true
    })
    assert.equal(existsSync(join(directory, 'none')), false)

    await assert.rejects(run(process.execPath, [RUN, '--peers', '--store', 'postgres']), {
      code: 2,
      stderr: '--peers measures one case on SQLite: omit --store and --only\n',
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
})
