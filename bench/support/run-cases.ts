import { BenchSheets } from './bench-sheets.ts'
import type { Bench, BenchCase, BenchRow, BenchSettings } from './case.ts'
import { startServer } from './processes.ts'

/** What came of a case. One that failed has the rows that it had given until then. */
export interface CaseResult {
  readonly name: string
  readonly rows: readonly BenchRow[]
  /** Why it failed; null when it did not. */
  readonly failure: Error | null
}

/** Runs cases one after the other; one that fails does not keep the others from being run. `onCase` is told of each before it begins. */
export async function runCases(
  cases: readonly BenchCase[],
  settings: BenchSettings,
  onCase: (name: string) => void = () => {},
): Promise<CaseResult[]> {
  const api = await startServer('bench/servers/api.ts')
  const sheets = new BenchSheets(api.url)
  const removeSheets = (): void => sheets.remove()
  process.once('exit', removeSheets)
  const results: CaseResult[] = []
  try {
    for (const one of cases) {
      onCase(one.name)
      results.push(await runCase(one, { ...settings, sheets, api: api.url }))
      sheets.endCase()
    }
  } finally {
    process.off('exit', removeSheets)
    removeSheets()
    await api.stop()
  }
  return results
}

async function runCase({ name, run }: BenchCase, bench: Bench): Promise<CaseResult> {
  const rows: BenchRow[] = []
  try {
    for await (const row of run(bench)) rows.push(row)
    return { name, rows, failure: null }
  } catch (error) {
    return { name, rows, failure: error instanceof Error ? error : new Error(String(error)) }
  }
}
