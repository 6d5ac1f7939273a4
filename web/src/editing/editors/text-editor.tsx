import { useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import type { SheetField } from '../../api/contract.ts'
import { violationOf } from './violation-of.ts'
import { EditorHint } from './editor-hint.tsx'
import { EditorOverlay } from './editor-overlay.tsx'
import { moveOf, useEditorSession, type CellEditorProps, type Move } from './editor-session.ts'
import type { Parsed } from '../../values/parse-number.ts'
import { PickerButton } from './picker-button.tsx'
import { formatTimestamp, TIME_ZONE } from '../../values/format-value.ts'
import { localTimestamp, TEMPORAL_EXAMPLES } from '../../values/temporal-text.ts'
import { readingText } from '../../values/reading-text.ts'
import { allowsEmptyText, copyText, parseText } from '../../values/value-text.ts'

/** Edits texts, numbers, dates, times and JSON as text. */
export function TextEditor(props: CellEditorProps) {
  const { field, value, typed } = props
  const session = useEditorSession(props)
  const [start] = useState(() => typed ?? textOf(field, value))
  const [text, setText] = useState(start)
  const mayBeEmpty = allowsEmptyText(field)
  const [isEmptyText, setIsEmptyText] = useState(value === '' || (field.required && mayBeEmpty))
  const [tried, setTried] = useState(false)
  const isUntouched = typed === null && text === start && isEmptyText === (value === '')
  const parsed: Parsed = isUntouched
    ? { value }
    : text === '' && isEmptyText
      ? { value: '' }
      : parseText(field, text)

  const onKeyDown = (event: KeyboardEvent): void => {
    const move = moveOf(event)
    if (event.key === 'Escape') session.cancel()
    else if (move !== null) {
      event.preventDefault()
      if ('value' in parsed) session.commit(parsed.value, move)
      else setTried(true)
    } else if (event.key === 'Enter' && event.altKey) insertLine(event)
    else if (text === '' && mayBeEmpty && (event.key === 'Backspace' || event.key === 'Delete')) {
      setIsEmptyText(!isEmptyText)
    }
  }
  // A text that cannot be parsed is committed as typed and shown as refused, so that no input is lost.
  const leave = (move: Move = 'none'): void => session.commit('value' in parsed ? parsed.value : text, move)
  const isJson = field.type === 'array' || field.type === 'object'
  const isTemporal = field.type === 'date' || field.type === 'timestamp' || field.type === 'time'
  return (
    <EditorOverlay
      label={`Edit ${field.title}`}
      wide={isJson || text.length > 80}
      isChanged={!isUntouched}
      onKeyDown={onKeyDown}
      onLeave={leave}
    >
      <div className="editor-surface">
        <GrowingText field={field} text={text} onText={setText} isInvalid={'error' in parsed && tried} />
        {isTemporal && <PickerButton type={field.type} text={text} onPick={setText} />}
      </div>
      <TextHint {...{ field, text, parsed, tried, isEmptyText, mayBeEmpty, isUntouched }} />
    </EditorOverlay>
  )
}

function textOf({ type }: SheetField, value: unknown): string {
  const text = copyText(value) ?? ''
  if (type === 'timestamp') return localTimestamp(text)
  const isLong = text.length > 40 && (type === 'array' || type === 'object') && typeof value !== 'string'
  return isLong ? JSON.stringify(value, null, 2) : text
}

/** Shift+Enter inserts a line natively. */
function insertLine(event: KeyboardEvent): void {
  const area = event.target
  if (!(area instanceof HTMLTextAreaElement)) return
  event.preventDefault()
  // Unlike a change of the value, this can be undone with Ctrl+Z.
  document.execCommand('insertText', false, '\n')
}

interface GrowingTextProps {
  readonly field: SheetField
  readonly text: string
  readonly onText: (text: string) => void
  readonly isInvalid: boolean
}

function GrowingText({ field, text, onText, isInvalid }: GrowingTextProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const { type } = field
  const isNumber = type === 'integer' || type === 'number'
  useLayoutEffect(() => {
    const element = area.current
    if (element === null) return
    element.focus({ preventScroll: true })
    element.setSelectionRange(element.value.length, element.value.length)
  }, [])
  useLayoutEffect(() => {
    const element = area.current
    if (element === null) return
    element.style.height = '0'
    element.style.height = `${element.scrollHeight}px`
  }, [text])
  return (
    <textarea
      ref={area}
      className={`editor-text ${isNumber ? 'number' : ''} ${type === 'array' || type === 'object' ? 'json' : ''}`}
      value={text}
      onChange={(event) => onText(event.target.value)}
      rows={1}
      aria-label={field.title}
      aria-invalid={isInvalid}
      placeholder={
        type in TEMPORAL_EXAMPLES ? TEMPORAL_EXAMPLES[type as keyof typeof TEMPORAL_EXAMPLES] : undefined
      }
      inputMode={isNumber ? 'decimal' : undefined}
      spellCheck={type === 'string' && !field.primaryKey}
      autoComplete="off"
    />
  )
}

interface TextHintProps {
  readonly field: SheetField
  readonly text: string
  readonly parsed: Parsed
  readonly tried: boolean
  readonly isEmptyText: boolean
  readonly mayBeEmpty: boolean
  readonly isUntouched: boolean
}

/** Shows the parse error, the violated constraint, or keys that are not obvious. */
function TextHint({ field, text, parsed, tried, isEmptyText, mayBeEmpty, isUntouched }: TextHintProps) {
  const { type } = field
  if ('error' in parsed) {
    const isJson = type === 'array' || type === 'object'
    return tried || isJson ? <EditorHint kind={tried ? 'error' : 'hint'}>{parsed.error}</EditorHint> : null
  }
  const bound = isUntouched ? null : violationOf(field, parsed.value)
  if (bound !== null) return <EditorHint kind="error">{bound}</EditorHint>
  if (text === '' && mayBeEmpty) {
    return (
      <EditorHint>
        {isEmptyText ? 'Empty text' : 'No value'} · Backspace for {isEmptyText ? 'no value' : 'an empty text'}
      </EditorHint>
    )
  }
  if (text === '' && field.required) return <EditorHint kind="error">a value is required</EditorHint>
  const reading = isUntouched ? null : readingText(field, text, parsed.value)
  if (reading !== null) return <EditorHint>{reading}</EditorHint>
  if (type === 'timestamp' && typeof parsed.value === 'string') {
    return (
      <EditorHint>
        {formatTimestamp(parsed.value)} · {TIME_ZONE}
      </EditorHint>
    )
  }
  return text.includes('\n') ? (
    <EditorHint>Enter saves · Shift+Enter adds a line · Esc cancels</EditorHint>
  ) : null
}
