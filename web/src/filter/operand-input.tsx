import { useId } from 'react'
import type { SheetField } from '../api/contract.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import { fromPicker, toPicker } from '../values/temporal-text.ts'
import { isOfCell, OPERATORS } from '../state/conditions.ts'
import { StateMark, type CellStateName } from '../ui/cell-state.tsx'
import { FILTER_STATES, FILTER_VERDICTS } from '../ui/state-names.ts'
import type { Draft } from './draft.ts'
import { ValuePicker } from './value-picker.tsx'
import { WriterPicker } from './writer-picker.tsx'

interface OperandInputProps {
  readonly field: SheetField
  readonly draft: Draft
  readonly otherFilter: RecordFilter | null
  readonly onDraft: (draft: Draft) => void
}

/** The input of a condition's value, by field and operator. */
export function OperandInput({ field, draft, otherFilter, onDraft }: OperandInputProps) {
  const setText = (place: 0 | 1, text: string): void =>
    onDraft({ ...draft, texts: place === 0 ? [text, draft.texts[1]] : [draft.texts[0], text] })
  switch (OPERATORS[draft.is]) {
    case 'nothing':
      return null
    case 'list':
      if (draft.is === 'writtenBy' || draft.is === 'writtenIn')
        return (
          <WriterPicker
            of={draft.is === 'writtenIn' ? 'runs' : 'actors'}
            picked={draft.items.map(String)}
            onPick={(items) => onDraft({ ...draft, items })}
          />
        )
      if (isOfCell(draft.is))
        return (
          <NamesInput
            of={draft.is === 'reviewed' ? 'verdicts' : 'states'}
            picked={draft.items}
            onPick={(items) => onDraft({ ...draft, items })}
          />
        )
      return (
        <ValuePicker
          field={field}
          filter={otherFilter}
          picked={draft.items}
          onPick={(items) => onDraft({ ...draft, items })}
        />
      )
    case 'range':
      return (
        <div className={field.type === 'timestamp' ? 'condition-range wide' : 'condition-range'}>
          <ValueInput
            field={field}
            label="From"
            text={draft.texts[0]}
            onText={(text) => setText(0, text)}
            autoFocus
          />
          <ValueInput
            field={field}
            label={draft.is === 'between' ? 'To' : 'To, not included'}
            text={draft.texts[1]}
            onText={(text) => setText(1, text)}
          />
        </div>
      )
    case 'one':
      return field.type === 'boolean' ? (
        <FlagInput flag={draft.flag} onFlag={(flag) => onDraft({ ...draft, flag })} />
      ) : (
        <ValueInput
          field={field}
          label="Value"
          text={draft.texts[0]}
          onText={(text) => setText(0, text)}
          autoFocus
        />
      )
  }
}

interface NamesInputProps {
  readonly of: 'states' | 'verdicts'
  readonly picked: Draft['items']
  readonly onPick: (picked: Draft['items']) => void
}

/** Picks states or verdicts of cells. */
function NamesInput({ of, picked, onPick }: NamesInputProps) {
  const names = Object.entries(of === 'states' ? FILTER_STATES : FILTER_VERDICTS)
  return (
    <div className="condition-states" role="group" aria-label={of === 'states' ? 'States' : 'Reviews'}>
      {names.map(([name, label], index) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={picked.includes(name)}
            autoFocus={index === 0}
            onChange={({ target }) =>
              onPick(target.checked ? [...picked, name] : picked.filter((each) => each !== name))
            }
          />
          {of === 'states' && <StateMark state={name as CellStateName} />}
          {label}
        </label>
      ))}
    </div>
  )
}

function FlagInput({ flag, onFlag }: { readonly flag: boolean; readonly onFlag: (flag: boolean) => void }) {
  const name = useId()
  return (
    <div className="condition-flags" role="radiogroup" aria-label="Value">
      {[true, false].map((value) => (
        <label key={String(value)}>
          <input
            type="radio"
            name={name}
            checked={flag === value}
            autoFocus={flag === value}
            onChange={() => onFlag(value)}
          />
          {String(value)}
        </label>
      ))}
    </div>
  )
}

interface ValueInputProps {
  readonly field: SheetField
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
  readonly autoFocus?: boolean
}

function ValueInput({ field: { type }, label, text, onText, autoFocus = false }: ValueInputProps) {
  const common = {
    className: 'input',
    'aria-label': label,
    autoFocus,
    spellCheck: false,
    autoComplete: 'off',
  }
  switch (type) {
    case 'date':
    case 'timestamp':
    case 'time':
      return (
        <input
          {...common}
          type={type === 'timestamp' ? 'datetime-local' : type}
          step={type === 'date' ? undefined : 1}
          // An untouched value keeps its precision.
          value={toPicker(type, text)}
          onChange={(event) => onText(fromPicker(type, event.target.value))}
        />
      )
    case 'integer':
    case 'number':
      return (
        <input
          {...common}
          inputMode="decimal"
          placeholder={label}
          value={text}
          onChange={(event) => onText(event.target.value)}
        />
      )
    default:
      return (
        <input {...common} placeholder="Text" value={text} onChange={(event) => onText(event.target.value)} />
      )
  }
}
