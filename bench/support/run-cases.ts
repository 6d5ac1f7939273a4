import { DirectorySheets, type BenchSheets } from './bench-sheets.ts'
import type { Bench, BenchCase, BenchRow, BenchSettings, PostgresCase } from './case.ts'
import { PostgresSheets } from './postgres-sheets.ts'
import { startServer } from './processes.ts'

/** What came of a case. One that failed has the rows that it had given until then. */
export interface CaseResult {
  readonly name: string
  readonly rows: readonly BenchRow[]
  /** Why it failed; null when it did not. */
  readonly failure: Error | null
}

/** Is told of each case before it begins. */
export type OnCase = (name: string) => void

/** Runs cases one after the other; one that fails does not keep the others from being run. */
export function runCases(
  cases: readonly BenchCase[],
  settings: BenchSettings,
  onCase: OnCase = () => {},
): Promise<CaseResult[]> {
  return runWith({ cases, settings, onCase, makeSheets: async (api) => new DirectorySheets(api) })
}

/** The same with sheets in PostgreSQL; `onServer` is told what is to be said of the server. */
export function runPostgresCases(
  cases: readonly PostgresCase[],
  settings: BenchSettings,
  {
    onCase = () => {},
    onServer = () => {},
  }: { onCase?: OnCase; onServer?: (description: string) => void } = {},
): Promise<CaseResult[]> {
  const makeSheets = async (api: string): Promise<PostgresSheets> => {
    const sheets = await PostgresSheets.start(api)
    onServer(sheets.description)
    return sheets
  }
  return runWith({ cases, settings, onCase, makeSheets })
}

interface Run<Sheets extends BenchSheets> {
  readonly cases: readonly BenchCase<Sheets>[]
  readonly settings: BenchSettings
  readonly onCase: OnCase
  makeSheets(api: string): Promise<Sheets>
}

async function runWith<Sheets extends BenchSheets>(run: Run<Sheets>): Promise<CaseResult[]> {
  const { cases, settings, onCase, makeSheets } = run
  const api = await startServer('bench/servers/api.ts')
  const sheets = await makeSheets(api.url)
  const removeSheets = (): void => sheets.remove()
  process.once('exit', removeSheets)
  const results: CaseResult[] = []
  try {
    for (const one of cases) {
      onCase(one.name)
      results.push(await runCase(one, { ...settings, sheets, api: api.url }))
      await sheets.endCase()
    }
  } finally {
    process.off('exit', removeSheets)
    removeSheets()
    await api.stop()
  }
  return results
}

async function runCase<Sheets extends BenchSheets>(
  { name, run }: BenchCase<Sheets>,
  bench: Bench<Sheets>,
): Promise<CaseResult> {
  const rows: BenchRow[] = []
  try {
    for await (const row of run(bench)) rows.push(row)
    return { name, rows, failure: null }
  } catch (error) {
    return { name, rows, failure: error instanceof Error ? error : new Error(String(error)) }
  }
}
