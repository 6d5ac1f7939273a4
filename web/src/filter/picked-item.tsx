import { Command } from 'cmdk'
import { Check } from 'lucide-react'

interface PickedItemProps {
  /** Identifies the item among those of the list. */
  readonly value: string
  readonly text: string
  /** Shown faintly behind the text, such as a number of records. */
  readonly note: string | null
  /** Whether the text stands for a value that has none of its own. */
  readonly isNone?: boolean
  readonly isPicked: boolean
  readonly onToggle: () => void
}

/** An item of a list from which several are picked. */
export function PickedItem({ value, text, note, isNone = false, isPicked, onToggle }: PickedItemProps) {
  return (
    <Command.Item value={value} onSelect={onToggle} aria-checked={isPicked} title={text}>
      <span className={isPicked ? 'filter-check on' : 'filter-check'}>
        {isPicked && <Check size={12} strokeWidth={3} />}
      </span>
      <span className={isNone ? 'filter-menu-text none' : 'filter-menu-text'}>{text}</span>
      {note !== null && <span className="filter-menu-note">{note}</span>}
    </Command.Item>
  )
}
