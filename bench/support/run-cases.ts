import { DirectorySheets, type BenchSheets } from './bench-sheets.ts'
import type { Bench, BenchCase, BenchRow, BenchSettings, DirectoryCase, PostgresCase } from './case.ts'
import { PostgresSheets } from './postgres-sheets.ts'
import { startServer } from './processes.ts'

/** The result of a case. A failed one has the rows that it had returned until then. */
export interface CaseResult {
  readonly name: string
  readonly rows: readonly BenchRow[]
  /** The error of a failed case; null for none. */
  readonly failure: Error | null
}

/** Called for each case before it begins. */
export type OnCase = (name: string) => void

/** Runs cases one after the other; a failing one does not stop the others. */
export function runCases(
  cases: readonly DirectoryCase[],
  settings: BenchSettings,
  onCase: OnCase = () => {},
): Promise<CaseResult[]> {
  return runWith({ cases, settings, onCase, makeSheets: async (api) => new DirectorySheets(api) })
}

/** Runs cases with sheets in PostgreSQL; `onServer` receives the description of the server. */
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
