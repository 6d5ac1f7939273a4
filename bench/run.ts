import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { arch, cpus, platform, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { materialize } from './cases/materialize.ts'
import { nothingToDo } from './cases/nothing-to-do.ts'
import { reads } from './cases/reads.ts'
import { viewer } from './cases/viewer.ts'
import { writes } from './cases/writes.ts'
import { removeBenchSheets } from './support/bench-sheet.ts'
import type { BenchCase, BenchRow } from './support/case.ts'

const CASES: readonly BenchCase[] = [reads, writes, materialize, nothingToDo, viewer]

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
})
const settings = {
  records: Number(values.records),
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
}
const chosen = CASES.filter(({ name }) => values.only === undefined || values.only === name)
const rows: BenchRow[] = []
try {
  for (const { name, run } of chosen) {
    process.stderr.write(`${name} …\n`)
    rows.push(...(await run(settings)))
  }
} finally {
  removeBenchSheets()
}
const report = render(rows)
process.stdout.write(report)
if (values.only === undefined) writeFileSync(new URL('./RESULTS.md', import.meta.url), report)

function render(measured: readonly BenchRow[]): string {
  const lines = measured.map(renderRow)
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  return `# Benchmark results

${new Date().toISOString().slice(0, 10)}, commit ${commit}; Node ${process.version}, ${platform()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'},
${Math.round(totalmem() / 2 ** 30)} GiB of memory. Each pair was measured in turn in the same run (${settings.rounds} rounds of ${settings.seconds} s, 64 connections over HTTP);
figures are medians, the ratio is the median of the pairs'. \`npm run bench\` writes this file.

| What | Colophon | Reference | Ratio | To reach |
|---|---|---|---|---|
${lines.join('\n')}
`
}

function renderRow(row: BenchRow): string {
  if ('milliseconds' in row) {
    return `| ${row.what} | ${row.milliseconds.toFixed(1)} ms | – | – | ≤ ${row.atMostMs} ms |`
  }
  if ('perSecond' in row) {
    return `| ${row.what} | ${row.perSecond.toFixed(0)} ${row.unit} | – | – | ≥ ${row.atLeast} |`
  }
  const number = (value: number): string => Math.round(value).toLocaleString('en')
  return (
    `| ${row.what} | ${number(row.oursPerSecond)} ${row.unit} | ${row.reference}: ${number(row.referencePerSecond)} | ` +
    `**${row.ratio.toFixed(2)}** | ≥ ${row.reach.toFixed(2)} |`
  )
}
