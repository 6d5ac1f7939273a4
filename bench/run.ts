import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CASES } from './cases.ts'
import type { BenchCase } from './support/case.ts'
import { renderReport } from './support/report.ts'
import { runCases } from './support/run-cases.ts'

const MILLION = '1000000'

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: MILLION },
    cells: { type: 'string', default: MILLION },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    out: { type: 'string' },
  },
})
const settings = {
  records: numberOf('records'),
  cells: numberOf('cells'),
  seconds: numberOf('seconds'),
  rounds: numberOf('rounds'),
}
const isFull = values.only === undefined && values.records === MILLION && values.cells === MILLION
const out = values.out ?? (isFull ? join(import.meta.dirname, 'RESULTS.md') : undefined)

// So that `exit` is seen, and the sheets go.
process.once('SIGINT', () => process.exit(130))
const results = await runCases(chosen(), settings, (name) => process.stderr.write(`${name} …\n`))
const report = renderReport(results, settings)
process.stdout.write(report)
if (out !== undefined) writeFileSync(out, report)
for (const { name, failure } of results) {
  if (failure === null) continue
  console.error(`\n${name} failed:`, failure)
  process.exitCode = 1
}

function chosen(): BenchCase[] {
  const names = values.only?.split(',')
  const unknown = names?.find((name) => !CASES.some((one) => one.name === name))
  if (unknown !== undefined) {
    console.error(`no case ${unknown}; there are ${CASES.map(({ name }) => name).join(', ')}`)
    process.exit(2)
  }
  return CASES.filter(({ name }) => names === undefined || names.includes(name))
}

function numberOf(option: 'records' | 'cells' | 'seconds' | 'rounds'): number {
  const value = Number(values[option])
  if (value > 0) return value
  console.error(`--${option} must be a number above 0`)
  process.exit(2)
}
