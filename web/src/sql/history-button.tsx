import { History, X } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useRef, useState } from 'react'
import { countOf, formatDuration } from '../ui/format.ts'
import { Button, IconButton } from '../ui/button.tsx'
import '../ui/popover.css'
import type { PastStatement } from './statement-history.ts'
import type { StatementHistory } from './use-statement-history.ts'

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

interface HistoryButtonProps {
  readonly history: StatementHistory
  readonly onPick: (sql: string) => void
}

/** The menu of statements that were run before. */
export function HistoryButton({ history, onPick }: HistoryButtonProps) {
  const [isOpen, setIsOpen] = useState(false)
  const picked = useRef<string>(null)
  const pick = (sql: string): void => {
    picked.current = sql
    setIsOpen(false)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger asChild>
        <Button look="quiet" icon={<History size={15} />}>
          History
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="popover sql-history"
          align="start"
          sideOffset={6}
          aria-label="Statement history"
          onCloseAutoFocus={(event) => {
            if (picked.current === null) return
            // The focus moves into the editor instead of back to the button.
            event.preventDefault()
            onPick(picked.current)
            picked.current = null
          }}
        >
          {history.statements.length === 0 ? (
            <p className="sql-history-empty">
              Statements that you run are stored here, in this browser only.
            </p>
          ) : (
            <HistoryList history={history} onPick={pick} />
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function HistoryList({ history, onPick }: HistoryButtonProps) {
  return (
    <>
      <ul>
        {history.statements.map((statement) => (
          <li key={statement.sql}>
            <button
              type="button"
              className="sql-history-item"
              title={statement.sql}
              onClick={() => onPick(statement.sql)}
            >
              <code>{statement.sql.replaceAll(/\s+/g, ' ')}</code>
              <span>{summaryOf(statement)}</span>
            </button>
            <IconButton label="Remove this statement" onClick={() => history.remove(statement.sql)}>
              <X size={14} />
            </IconButton>
          </li>
        ))}
      </ul>
      <Button look="quiet" onClick={history.clear}>
        Clear history
      </Button>
    </>
  )
}

function summaryOf({ at, rows, ms }: PastStatement): string {
  const outcome = rows === null ? 'no result' : countOf(rows, 'row')
  return `${TIME.format(new Date(at))} · ${outcome} · ${formatDuration(ms)}`
}
