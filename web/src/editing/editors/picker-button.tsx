import { Calendar, Clock } from 'lucide-react'
import { useRef } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { fromPicker, toPicker, type TemporalType } from '../../values/temporal-text.ts'

interface PickerButtonProps {
  readonly type: TemporalType
  readonly text: string
  readonly onPick: (text: string) => void
}

const INPUT_TYPES = { date: 'date', timestamp: 'datetime-local', time: 'time' } as const

/** Opens the browser's picker of dates and times. */
export function PickerButton({ type, text, onPick }: PickerButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  const Icon = type === 'time' ? Clock : Calendar
  return (
    <span className="editor-picker">
      <input
        ref={input}
        type={INPUT_TYPES[type]}
        step={type === 'date' ? undefined : 1}
        value={toPicker(type, text)}
        onChange={(event) => onPick(fromPicker(type, event.target.value))}
        tabIndex={-1}
        aria-hidden="true"
      />
      <IconButton label={`Pick a ${type}`} tabIndex={-1} onClick={() => input.current?.showPicker()}>
        <Icon size={15} />
      </IconButton>
    </span>
  )
}
