import { useQueryClient } from '@tanstack/react-query'
import { FileUp, Plus } from 'lucide-react'
import { messageOf } from '../api/api-error.ts'
import { chooseFile } from '../files/import-store.ts'
import { releaseList, useIsHeld } from '../live/held-list.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import './grid-notice.css'
import type { GridModel } from './interaction/use-grid.ts'
import { pastListOf } from '../state/view-state.ts'
import type { Rows } from './rows/use-rows.ts'

interface GridNoticeProps {
  readonly model: GridModel
  readonly onAdd: () => void
}

/** Gives the reason and the next steps if there are no rows to show: below the heads, or in place of the grid after an error. */
export function GridNotice({ model: { view, change, rows, columns }, onAdd }: GridNoticeProps) {
  const isPast = view.asOf !== null
  const { conditions, sql } = isPast ? pastListOf(view) : view
  const isFiltered = conditions.length > 0 || sql !== null
  const clearFilter = (
    <Button look="primary" onClick={() => change({ conditions: [], sql: null })}>
      Clear the filter
    </Button>
  )
  const isBelow = rows.error === null
  return (
    <div
      className={isBelow ? 'grid-notice below' : 'grid-notice'}
      style={isBelow ? { top: columns.headHeight + 1 } : undefined}
    >
      {noticeFor()}
    </div>
  )

  function noticeFor() {
    if (rows.error !== null) {
      return (
        <Notice
          kind="error"
          title={isFiltered ? 'The filter is invalid' : 'Cannot read the records'}
          actions={
            <>
              <Button onClick={rows.retry}>Try again</Button>
              {isFiltered && clearFilter}
              {!isFiltered && view.sort !== null && (
                <Button onClick={() => change({ sort: null })}>Clear the sort order</Button>
              )}
            </>
          }
        >
          {messageOf(rows.error)}
        </Notice>
      )
    }
    if (isFiltered) {
      return (
        <Notice hasGhosts title="No record matches the filter" actions={clearFilter}>
          Change a condition, or clear the filter.
        </Notice>
      )
    }
    if (isPast) {
      return <Notice title="No records then">The sheet had no records at this moment.</Notice>
    }
    return (
      <Notice
        hasGhosts
        title="No records yet"
        actions={
          <>
            <Button look="primary" icon={<Plus size={15} />} onClick={onAdd}>
              Add the first record
            </Button>
            <Button icon={<FileUp size={15} />} onClick={chooseFile}>
              Import a file…
            </Button>
          </>
        }
      >
        <p>Add records one by one here, or import many at once:</p>
        <ul className="grid-ways">
          <li>Drop a file on this page: CSV, JSON, NDJSON, Parquet or XLSX.</li>
          <li>
            Import a file at the terminal: <code>colophon import &lt;sheet&gt; data.csv --actor you</code>
          </li>
          <li>
            Or send them to <code>POST /api/records</code>, as JSON.
          </li>
        </ul>
      </Notice>
    )
  }
}

/** Says that edited records keep their places, and offers to show them where they belong. */
export function HeldNotice() {
  const client = useQueryClient()
  const isHeld = useIsHeld()
  return (
    <div role="status">
      {isHeld && (
        <div className="grid-held">
          <span>Edited records keep their places until you update the list.</span>
          <Button onClick={() => releaseList(client)}>Update list</Button>
        </div>
      )}
    </div>
  )
}

/** Warns that some of the visible rows could not be loaded. */
export function PageError({ rows }: { readonly rows: Rows }) {
  if (rows.pageError === null) return null
  return (
    <div className="grid-page-error" role="alert">
      <span>Cannot read some of these rows: {messageOf(rows.pageError)}</span>
      <Button onClick={rows.retry}>Try again</Button>
    </div>
  )
}
