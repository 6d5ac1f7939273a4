import { Link } from 'wouter'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import type { SheetField } from '../../api/contract.ts'
import type { CellRef } from '../../state/view-state.ts'
import { EntryChange } from './entry-change.tsx'
import { EntryIcon } from './entry-icon.tsx'
import { originLine } from './origin-sentence.ts'
import { RestoreAction } from './restore-action.tsx'
import type { RestoreOption, RestoreMethod } from './restore-method.ts'
import { SentenceView } from './sentence-view.tsx'

interface HistoryEntryProps {
  readonly field: SheetField
  readonly cell: CellRef
  readonly entry: ProvenanceEntryAnswer
  /** The entry that a revert undid, if loaded. */
  readonly undone: ProvenanceEntryAnswer | undefined
  /** The present value. */
  readonly current: unknown
  /** The way to restore the value of this entry; null while permissions load. */
  readonly restore: RestoreOption | null
  /** The way to restore the value before this entry, if offered here. */
  readonly undo: RestoreMethod | null
}

/** An entry of the history. */
export function HistoryEntry({ field, cell, entry, undone, current, restore, undo }: HistoryEntryProps) {
  const sentence = originLine(entry, { derived: field.derived !== null, find: () => undone })
  return (
    <li className="happening">
      <EntryIcon source={entry.source} />
      <div className="happening-body">
        <EntryChange type={field.type} entry={entry} />
        <p className="happening-who">
          <SentenceView sentence={sentence} />
          {entry.run_id !== undefined && (
            <>
              {' · '}
              <Link href={`/runs/${entry.run_id}`}>run {entry.run_id}</Link>
            </>
          )}
        </p>
        {undo !== null && (
          <RestoreAction
            label="Revert this change"
            field={field}
            cell={cell}
            how={undo}
            value={entry.previous}
            current={current}
          />
        )}
        {restore !== null && restore.by !== 'nothing' && (
          <RestoreAction
            label="Restore this value"
            field={field}
            cell={cell}
            how={restore}
            value={entry.value}
            current={current}
          />
        )}
      </div>
    </li>
  )
}
