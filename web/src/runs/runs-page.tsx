import type { SheetContract } from '../api/contract.ts'
import { RunDetail } from './run-detail.tsx'
import { RunList } from './run-list.tsx'
import './runs-page.css'

interface RunsPageProps {
  readonly contract: SheetContract
  /** The selected run; null for none. */
  readonly runId: string | null
}

/** The page with the list of runs and the selected one. */
export default function RunsPage({ contract, runId }: RunsPageProps) {
  return (
    <div className={`runs-page ${runId === null ? '' : 'with-detail'}`}>
      <h1 className="visually-hidden">Runs</h1>
      <RunList contract={contract} selected={runId} />
      {runId !== null && <RunDetail key={runId} contract={contract} id={runId} />}
    </div>
  )
}
