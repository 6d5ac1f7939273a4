import { Play, Square } from 'lucide-react'
import { useEffect, useState, type RefObject } from 'react'
import { Button } from '../ui/button.tsx'
import { formatDuration } from '../ui/format.ts'
import type { Example } from './examples.ts'
import { ExamplesMenu } from './examples-menu.tsx'
import { HistoryButton } from './history-button.tsx'
import type { QueryOutcome } from './use-query-run.ts'
import type { StatementHistory } from './use-statement-history.ts'

interface SqlToolbarProps {
  readonly runButton: RefObject<HTMLButtonElement | null>
  readonly outcome: QueryOutcome | null
  readonly canRun: boolean
  readonly examples: readonly Example[]
  readonly history: StatementHistory
  readonly onRun: () => void
  readonly onCancel: () => void
  readonly onPick: (sql: string) => void
}

/** The buttons of the statement. */
export function SqlToolbar(props: SqlToolbarProps) {
  const { runButton, outcome, canRun, examples, history, onRun, onCancel, onPick } = props
  const isRunning = outcome?.kind === 'running'
  return (
    <div className="sql-toolbar">
      {/* One button, so that the focus stays for cancelling. */}
      <Button
        ref={runButton}
        look={isRunning ? 'danger' : 'primary'}
        icon={isRunning ? <Square size={13} /> : <Play size={13} />}
        disabled={!isRunning && !canRun}
        onClick={isRunning ? onCancel : onRun}
      >
        {isRunning ? 'Cancel' : 'Run'}
      </Button>
      <span className="sql-keys" id="sql-keys">
        <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs, <kbd>Esc</kbd> leaves the editor
      </span>
      {isRunning && <Elapsed since={outcome.since} />}
      <span className="sql-toolbar-end">
        <ExamplesMenu examples={examples} onPick={onPick} />
        <HistoryButton history={history} onPick={onPick} />
      </span>
    </div>
  )
}

const TICK_MS = 100
/** The delay of the timer display, which avoids flicker. */
const SHOWN_AFTER_MS = 300

function Elapsed({ since }: { readonly since: number }) {
  const [now, setNow] = useState(since)
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now - since < SHOWN_AFTER_MS ? null : (
    <span className="sql-elapsed">{formatDuration(now - since)}</span>
  )
}
