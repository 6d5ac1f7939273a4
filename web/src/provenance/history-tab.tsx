import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { SheetContract } from '../api/contract.ts'
import { useAsOf } from '../state/as-of.ts'
import type { CellRef } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { EntryChange } from './history/entry-change.tsx'
import { EntryIcon } from './history/entry-icon.tsx'
import './history/history.css'
import { originLine } from './history/origin-sentence.ts'
import { recordHistoryQuery, type RecordChange } from './history/record-history.ts'
import { SentenceView } from './history/sentence-view.tsx'
import { PanelError, PanelLoading } from './panel-notes.tsx'

interface HistoryTabProps {
  readonly contract: SheetContract
  readonly recordId: string
  /** Shows the history of a cell. */
  readonly onCell: (cell: CellRef) => void
}

/** The number of changes shown before "Show all". */
const FIRST_CHANGES = 50

/** The changes of all cells of a record, newest first. */
export function HistoryTab({ contract, recordId, onCell }: HistoryTabProps) {
  const [isWhole, setIsWhole] = useState(false)
  const { data: changes, error, refetch } = useQuery(recordHistoryQuery(recordId, useAsOf()))
  if (error !== null && changes === undefined)
    return <PanelError error={error} onRetry={() => void refetch()} />
  if (changes === undefined) return <PanelLoading />
  if (changes.length === 0)
    return <p className="panel-section panel-faint">The log has no entry of this record.</p>
  const shown = isWhole ? changes : changes.slice(0, FIRST_CHANGES)
  return (
    <section className="panel-section" aria-label="History of the record">
      <ol className="timeline">
        {shown.map((change) => (
          <Change key={change.entry.seq} change={change} contract={contract} onCell={onCell} />
        ))}
      </ol>
      {shown.length < changes.length && (
        <Button look="quiet" onClick={() => setIsWhole(true)}>
          Show all {formatCount(changes.length)} changes
        </Button>
      )}
    </section>
  )
}

interface ChangeProps extends Pick<HistoryTabProps, 'contract' | 'onCell'> {
  readonly change: RecordChange
}

function Change({ change: { entry, entries }, contract, onCell }: ChangeProps) {
  const { run_id: run } = entry
  const derived = entries.every(({ field }) => contract.fieldByName.get(field)?.derived !== null)
  return (
    <li className="happening">
      <EntryIcon source={entry.source} />
      <div className="happening-body">
        <p className="happening-who">
          <SentenceView sentence={originLine(entry, { derived, find: () => undefined })} />
          {run !== undefined && (
            <>
              {' · '}
              <Link href={`/runs/${run}`}>run {run}</Link>
            </>
          )}
        </p>
        <ul className="happening-fields">
          {entries.map((change) => (
            <li key={`${change.seq} ${change.field}`}>
              <button
                type="button"
                onClick={() => onCell({ recordId: change.record_id, field: change.field })}
              >
                {contract.titleOf(change.field)}
              </button>
              <EntryChange type={contract.fieldByName.get(change.field)?.type ?? null} entry={change} />
            </li>
          ))}
        </ul>
      </div>
    </li>
  )
}
