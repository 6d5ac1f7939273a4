import { useMemo, useRef } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { formatDuration } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { examplesFor } from './examples.ts'
import { Results } from './results.tsx'
import { SqlEditor } from './editor/sql-editor.tsx'
import './sql-page.css'
import { SqlToolbar } from './sql-toolbar.tsx'
import { useQueryRun, type QueryRun } from './use-query-run.ts'
import { useStatement } from './use-statement.ts'
import { useStatementHistory } from './use-statement-history.ts'

const INITIAL = 'SELECT *\nFROM records\nLIMIT 100'

/** The SQL console. */
export default function SqlPage({ contract }: { readonly contract: SheetContract }) {
  const statement = useStatement(INITIAL)
  const history = useStatementHistory(contract.name)
  const query = useQueryRun((sql, rows, ms) => history.add({ sql, rows, ms, at: new Date().toISOString() }))
  const examples = useMemo(() => examplesFor(contract), [contract])
  const [page, runButton] = [useRef<HTMLDivElement>(null), useRef<HTMLButtonElement>(null)]
  const canRun = statement.text.trim() !== ''

  const run = (): void => {
    if (canRun) query.run(statement.text)
  }
  const pick = (sql: string): void => {
    statement.set(sql)
    page.current?.querySelector<HTMLElement>('.cm-content')?.focus()
  }
  return (
    <div className="sql-page" ref={page}>
      <h1 className="visually-hidden">SQL</h1>
      <SqlEditor
        contract={contract}
        text={statement.text}
        onChange={statement.set}
        onRun={run}
        onLeave={() => runButton.current?.focus()}
      />
      <SqlToolbar
        runButton={runButton}
        outcome={query.outcome}
        canRun={canRun}
        examples={examples}
        history={history}
        onRun={run}
        onCancel={query.cancel}
        onPick={pick}
      />
      {statement.isUnshared && (
        <p className="sql-note">
          The statement is too long for the URL and is lost when you reload the page.
        </p>
      )}
      <Outcome contract={contract} query={query} />
    </div>
  )
}

function Outcome({
  contract,
  query: { outcome, result },
}: {
  readonly contract: SheetContract
  readonly query: QueryRun
}) {
  if (outcome?.kind === 'failed') {
    return (
      <p className="sql-error" role="alert">
        {outcome.message}
      </p>
    )
  }
  if (outcome?.kind === 'cancelled') {
    return (
      <p className="sql-note" role="status">
        Cancelled after {formatDuration(outcome.ms)}.
      </p>
    )
  }
  if (result !== null)
    return <Results contract={contract} result={result} isOld={outcome?.kind === 'running'} />
  if (outcome?.kind === 'running') return <div className="sql-waiting" aria-busy="true" />
  return (
    <Notice hasGhosts title="Query the sheet">
      One SELECT over the table <code>records</code>, whose columns are the fields. Queries cannot change
      data.
    </Notice>
  )
}
