import type { SheetContract } from '../api/contract.ts'
import { RunDetail } from './run-detail.tsx'
import { RunList } from './run-list.tsx'
import './runs-page.css'

interface RunsPageProps {
  readonly contract: SheetContract
  /** The run that is looked at; null for none. */
  readonly runId: string | null
}

/** The runs of the sheet, and beside them the one that is looked at. */
export default function RunsPage({ contract, runId }: RunsPageProps) {
  return (
    <div className={`runs-page ${runId === null ? '' : 'with-detail'}`}>
      <h1 className="visually-hidden">Runs</h1>
      <RunList contract={contract} selected={runId} />
      {runId !== null && <RunDetail key={runId} contract={contract} id={runId} />}
    </div>
  )
}
