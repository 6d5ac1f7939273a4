import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import type { SheetField } from '../../api/contract.ts'
import { permissionsQuery } from '../../api/queries.ts'
import { useActor } from '../../state/actor.ts'
import { useAsOf } from '../../state/as-of.ts'
import type { CellRef } from '../../state/view-state.ts'
import { Button } from '../../ui/button.tsx'
import { HistoryEntry } from './history-entry.tsx'
import './history.css'
import { restoreMethodOf, undoOfLatest, type CellHistory } from './restore-method.ts'
import { formatCount } from '../../ui/format.ts'

interface HistoryProps {
  readonly field: SheetField
  readonly cell: CellRef
  /** Newest first. */
  readonly history: readonly ProvenanceEntryAnswer[]
  /** The present value; undefined if the record is deleted. */
  readonly value: unknown
}

/** The number of entries shown before "Show all". */
const FIRST_ENTRIES = 50

/** The history of a cell, newest first. */
export function History({ field, cell, history, value }: HistoryProps) {
  const [isWhole, setIsWhole] = useState(false)
  const [actor] = useActor()
  const isPast = useAsOf() !== null
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const mayWrite = permissions?.write.includes(field.name) === true
  const past = useMemo<CellHistory>(
    () => ({ field, history, value, actor, mayWrite }),
    [field, history, value, actor, mayWrite],
  )
  const bySeq = useMemo(() => new Map(history.map((entry) => [entry.seq, entry])), [history])
  if (history.length === 0) return null
  const shown = isWhole ? history : history.slice(0, FIRST_ENTRIES)
  const ways = permissions === undefined || isPast ? [] : shown.map((entry) => restoreMethodOf(entry, past))
  const obstacles = new Set(
    ways.map((way) => (way.by === 'nothing' ? way.why : null)).filter((why) => why !== null),
  )
  const undo = isPast ? null : undoOfLatest(past)
  return (
    <section className="panel-section" aria-labelledby="history-title">
      <h3 id="history-title">
        History <span className="panel-faint">{formatCount(history.length)}</span>
      </h3>
      {[...obstacles].map((why) => (
        <p key={why} className="panel-faint">
          Some values cannot be restored. {why}
        </p>
      ))}
      <ol className="timeline">
        {shown.map((entry, index) => (
          <HistoryEntry
            key={entry.seq}
            field={field}
            cell={cell}
            entry={entry}
            undone={entry.reverts === undefined ? undefined : bySeq.get(entry.reverts)}
            current={value}
            restore={ways[index] ?? null}
            undo={index === 0 ? undo : null}
          />
        ))}
      </ol>
      {shown.length < history.length && (
        <Button look="quiet" onClick={() => setIsWhole(true)}>
          Show all {formatCount(history.length)} entries
        </Button>
      )}
    </section>
  )
}
