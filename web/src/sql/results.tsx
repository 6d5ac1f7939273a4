import { Tabs } from 'radix-ui'
import { useMemo, useState } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { countOf, formatDuration } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { chooseChart } from './chart/chart-choice.ts'
import { ExportMenu } from './table/export-menu.tsx'
import { columnsOf } from './table/result-columns.ts'
import { ResultsChart } from './chart/results-chart.tsx'
import { ResultsGrid } from './table/results-grid.tsx'
import './results.css'
import type { QueryResult } from './use-query-run.ts'

interface ResultsProps {
  readonly contract: SheetContract
  readonly result: QueryResult
  /** Whether a newer statement is running. */
  readonly isOld: boolean
}

/** The result of a statement as a table and, if possible, a chart. */
export function Results({ contract, result, isOld }: ResultsProps) {
  const { rows, columns: names } = result
  const columns = useMemo(() => columnsOf(names, rows, contract), [names, rows, contract])
  const chart = useMemo(() => chooseChart(columns, rows), [columns, rows])
  const [wanted, setWanted] = useState('table')
  return (
    <Tabs.Root
      className={isOld ? 'results old' : 'results'}
      value={chart === null ? 'table' : wanted}
      onValueChange={setWanted}
    >
      <div className="results-bar">
        {chart !== null && (
          <Tabs.List className="results-tabs" aria-label="View">
            <Tabs.Trigger value="table">Table</Tabs.Trigger>
            <Tabs.Trigger value="chart">Chart</Tabs.Trigger>
          </Tabs.List>
        )}
        <p className="results-count" role="status">
          <strong>{countOf(rows.length, 'row')}</strong> in {formatDuration(result.ms)}
          {result.isTruncated && (
            <span className="results-cut"> · truncated at {countOf(rows.length, 'row')}: there are more</span>
          )}
        </p>
        {rows.length > 0 && <ExportMenu name={`${contract.name} result`} columns={names} rows={rows} />}
      </div>
      {/* Not focusable, because its content is. */}
      <Tabs.Content value="table" className="results-content" tabIndex={-1}>
        <ResultsGrid columns={columns} rows={rows} />
        {rows.length === 0 && <Notice title="No rows">The statement returned no rows.</Notice>}
      </Tabs.Content>
      {chart !== null && (
        <Tabs.Content value="chart" className="results-content" tabIndex={-1}>
          <ResultsChart chart={chart} />
        </Tabs.Content>
      )}
    </Tabs.Root>
  )
}
