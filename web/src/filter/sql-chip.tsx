import { X } from 'lucide-react'

interface SqlChipProps {
  readonly sql: string
  readonly onOpen: () => void
  readonly onRemove: () => void
}

/** A chip of an SQL filter: a click edits it, its cross or Backspace removes it. */
export function SqlChip({ sql, onOpen, onRemove }: SqlChipProps) {
  return (
    <div className="filter-chip">
      <button
        type="button"
        className="filter-chip-text"
        data-chip
        title={sql}
        aria-description="Backspace removes it"
        onClick={onOpen}
        onKeyDown={(event) => {
          if (event.key !== 'Backspace' && event.key !== 'Delete') return
          event.preventDefault()
          onRemove()
        }}
      >
        <span className="filter-chip-operator">SQL</span> <code className="filter-chip-value">{sql}</code>
      </button>
      <button
        type="button"
        className="filter-chip-remove"
        aria-label="Remove the filter in SQL"
        onClick={onRemove}
      >
        <X size={13} />
      </button>
    </div>
  )
}
