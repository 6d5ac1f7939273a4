import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import type { SqlDialect } from '../../../src/wire/schema/dialect.ts'
import { complete, completionAt, type CompletionOption } from './sql-completion.ts'

interface SqlInputProps {
  readonly fields: readonly { readonly name: string; readonly title: string }[]
  readonly dialect: SqlDialect
  readonly text: string
  readonly onText: (text: string) => void
  readonly isInvalid: boolean
  /** The id of the element that describes the input. */
  readonly describedBy: string
  readonly onEnter: () => void
  /** Called if no menu was open. */
  readonly onEscape: () => void
}

/** An input of SQL with completion of field names. */
export function SqlInput(props: SqlInputProps) {
  const { fields, dialect, text, onText, isInvalid, describedBy, onEnter, onEscape } = props
  const [caret, setCaret] = useState(text.length)
  const [active, setActive] = useState(0)
  const [isMenuWanted, setIsMenuWanted] = useState(false)
  const input = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    input.current?.focus()
    input.current?.setSelectionRange(input.current.value.length, input.current.value.length)
  }, [])

  const completion = isMenuWanted ? completionAt(text, caret, { fields, dialect }) : null
  const options = completion?.options ?? []
  const choose = (option: CompletionOption): void => {
    if (completion === null) return
    const done = complete(text, caret, completion, option)
    onText(done.text)
    setCaret(done.caret)
    setIsMenuWanted(false)
    // After React has rendered the text.
    requestAnimationFrame(() => input.current?.setSelectionRange(done.caret, done.caret))
  }
  const onMenuKey = (event: KeyboardEvent): boolean => {
    const option = options[active]
    if (option === undefined) return false
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setActive((active + step + options.length) % options.length)
    else if (event.key === 'Escape') setIsMenuWanted(false)
    else if ((event.key === 'Tab' || event.key === 'Enter') && !event.shiftKey) choose(option)
    else return false
    return true
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    if (onMenuKey(event)) event.preventDefault()
    else if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault()
      setIsMenuWanted(true)
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      onEnter()
    } else if (event.key === 'Escape') onEscape()
  }
  return (
    <div className="filter-sql-line">
      <textarea
        ref={input}
        className={isInvalid ? 'input invalid' : 'input'}
        rows={1}
        value={text}
        placeholder="area > 1000 AND region = 'Asia'"
        aria-label="Filter as an SQL expression"
        aria-autocomplete="list"
        aria-controls={options.length > 0 ? `${id}-options` : undefined}
        aria-activedescendant={options.length > 0 ? `${id}-${active}` : undefined}
        aria-describedby={describedBy}
        aria-invalid={isInvalid}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => {
          onText(event.target.value)
          setCaret(event.target.selectionStart)
          setIsMenuWanted(true)
          setActive(0)
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onBlur={() => setIsMenuWanted(false)}
        onKeyDown={onKeyDown}
      />
      {options.length > 0 && (
        <div className="filter-sql-options" role="listbox" id={`${id}-options`} aria-label="Completions">
          {options.map((option, index) => (
            <div
              key={option.label}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === active}
              className="filter-sql-option"
              // Keeps the focus in the input.
              onMouseDown={(event) => {
                event.preventDefault()
                choose(option)
              }}
            >
              <code>{option.label}</code>
              {option.title !== null && option.title !== option.label && <span>{option.title}</span>}
            </div>
          ))}
        </div>
      )}
    </div>
  )
}
