import { Check } from 'lucide-react'
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { EditorHint } from './editor-hint.tsx'
import { EditorOverlay } from './editor-overlay.tsx'
import { moveOf, useEditorSession, type CellEditorProps } from './editor-session.ts'
import { matchingOptions, optionsOf, stepIn, type MenuOption } from './menu-options.ts'

/** The maximum number of rendered options. */
const DRAWN = 200

/** Chooses from a closed list with arrow keys or by typing; Space toggles a boolean. */
export function MenuEditor(props: CellEditorProps) {
  const { field, value, typed } = props
  const session = useEditorSession(props)
  const [text, setText] = useState(typed?.trim() ?? '')
  const options = optionsOf(field)
  const found = matchingOptions(options, text)
  const present = found.findIndex((option) => option.value === (value ?? null))
  const [active, setActive] = useState(text === '' ? present : 0)
  const [isTouched, setIsTouched] = useState(text !== '')
  const listId = useId()
  const chosen = isTouched ? found[active] : undefined

  const go = (index: number): void => {
    setActive(index)
    setIsTouched(true)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = moveOf(event)
    const step = stepIn(event.key, active, Math.min(found.length, DRAWN))
    if (event.key === 'Escape') session.cancel()
    else if (move !== null) {
      event.preventDefault()
      if (!isTouched) session.commit(value, move)
      else if (chosen !== undefined) session.commit(chosen.value, move)
    } else if (step !== null) {
      event.preventDefault()
      go(step)
    } else if (event.key === ' ' && field.type === 'boolean') {
      event.preventDefault()
      setText('')
      go(options.findIndex((option) => option.value === (options[active]?.value !== true)))
    } else if (event.key === 'Delete' && text === '') {
      const none = options.findIndex((option) => option.value === null)
      if (none >= 0) go(none)
    }
  }
  const leave = (): void => (chosen === undefined ? session.cancel() : session.commit(chosen.value, 'none'))
  const type = (next: string): void => {
    setText(next)
    go(0)
  }
  return (
    <EditorOverlay label={`Edit ${field.title}`} isChanged={isTouched} onKeyDown={onKeyDown} onLeave={leave}>
      <div className="editor-surface">
        <FocusedInput
          label={field.title}
          text={text}
          onText={type}
          placeholder={options.find((option) => option.value === (value ?? null))?.label ?? ''}
          listId={listId}
          activeId={active >= 0 && active < found.length ? `${listId}-${active}` : undefined}
        />
      </div>
      <Options
        {...{ found, active, value, listId }}
        onChoose={(option) => session.commit(option.value, 'none')}
      />
      {found.length === 0 && <EditorHint kind="error">No match in {options.length} values</EditorHint>}
      {found.length > DRAWN && <EditorHint>{found.length - DRAWN} more: type to filter</EditorHint>}
    </EditorOverlay>
  )
}

interface FocusedInputProps {
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
  readonly placeholder: string
  readonly listId: string
  readonly activeId: string | undefined
}

function FocusedInput({ label, text, onText, placeholder, listId, activeId }: FocusedInputProps) {
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    input.current?.focus({ preventScroll: true })
  }, [])
  return (
    <input
      ref={input}
      className="editor-text"
      role="combobox"
      aria-label={label}
      aria-expanded="true"
      aria-controls={listId}
      aria-activedescendant={activeId}
      aria-autocomplete="list"
      value={text}
      placeholder={placeholder}
      onChange={(event) => onText(event.target.value)}
      autoComplete="off"
      spellCheck={false}
    />
  )
}

interface OptionsProps {
  readonly found: readonly MenuOption[]
  readonly active: number
  readonly value: unknown
  readonly listId: string
  readonly onChoose: (option: MenuOption) => void
}

function Options({ found, active, value, listId, onChoose }: OptionsProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    // Braces, because scrollIntoView returns a promise in newer browsers, which an effect must not return.
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <div
      ref={list}
      className="editor-options"
      role="listbox"
      id={listId}
      aria-label="Values"
      hidden={found.length === 0}
    >
      {found.slice(0, DRAWN).map((option, index) => (
        <div
          key={String(option.value) + typeof option.value}
          id={`${listId}-${index}`}
          role="option"
          aria-selected={index === active}
          className={option.value === null ? 'editor-option none' : 'editor-option'}
          // Keeps the focus in the input.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(option)}
        >
          <span>{option.label}</span>
          {option.value === (value ?? null) && <Check size={14} aria-label="current value" />}
        </div>
      ))}
    </div>
  )
}
