import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CASES } from './cases.ts'
import { peers } from './cases/peers.ts'
import { findPeers, type Peers } from './peers.ts'
import { POSTGRES_CASES } from './postgres-cases.ts'
import { renderReport } from './support/report.ts'
import { runCases, runPostgresCases, type CaseResult } from './support/run-cases.ts'

const MILLION = '1000000'

/** The report of each store, and that beside peers. */
const RESULTS = {
  sqlite: 'RESULTS.md',
  postgres: 'RESULTS-postgresql.md',
  peers: 'RESULTS-peers.md',
} as const

const { values } = parseArgs({
  options: {
    peers: { type: 'boolean', default: false },
    store: { type: 'string', default: 'sqlite' },
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
const beside = values.peers ? await besidePeers() : null
const store = storeOf(values.store)
const out =
  values.out ?? (isFull ? join(import.meta.dirname, RESULTS[beside === null ? store : 'peers']) : undefined)

// So that `exit` handlers run, which remove the sheets.
process.once('SIGINT', () => process.exit(130))
const { results, server } = await measure()
const report = renderReport(results, { ...settings, server, missingPeers: beside?.missing ?? null })
process.stdout.write(report)
if (out !== undefined) writeFileSync(out, report)
for (const { name, failure } of results) {
  if (failure === null) continue
  console.error(`\n${name} failed:`, failure)
  process.exitCode = 1
}

async function measure(): Promise<{ results: CaseResult[]; server: string | null }> {
  const onCase = (name: string): void => void process.stderr.write(`${name} …\n`)
  if (store === 'sqlite') {
    const cases = beside === null ? chosen(CASES) : [peers(beside.programs)]
    return { results: await runCases(cases, settings, onCase), server: null }
  }
  let told: string | null = null
  const onServer = (description: string): void => {
    told = description
  }
  return {
    results: await runPostgresCases(chosen(POSTGRES_CASES), settings, { onCase, onServer }),
    server: told,
  }
}

function chosen<Case extends { readonly name: string }>(cases: readonly Case[]): Case[] {
  const names = values.only?.split(',')
  const unknown = names?.find((name) => !cases.some((one) => one.name === name))
  if (unknown !== undefined) {
    console.error(`no case ${unknown}; there are ${cases.map(({ name }) => name).join(', ')}`)
    process.exit(2)
  }
  return cases.filter(({ name }) => names === undefined || names.includes(name))
}

function besidePeers(): Promise<Peers> {
  if (values.store === 'sqlite' && values.only === undefined) return findPeers()
  console.error('--peers measures one case on SQLite: omit --store and --only')
  process.exit(2)
}

function storeOf(name: string): 'sqlite' | 'postgres' {
  if (name === 'sqlite' || name === 'postgres') return name
  console.error(`--store must be sqlite or postgres, not ${name}`)
  process.exit(2)
}

function numberOf(option: 'records' | 'cells' | 'seconds' | 'rounds'): number {
  const value = Number(values[option])
  if (value > 0) return value
  console.error(`--${option} must be a number above 0`)
  process.exit(2)
}
