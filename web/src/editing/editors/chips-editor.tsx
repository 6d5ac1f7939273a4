import { X } from 'lucide-react'
import { useLayoutEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent } from 'react'
import { EditorHint } from './editor-hint.tsx'
import { EditorOverlay } from './editor-overlay.tsx'
import { moveOf, useEditorSession, type CellEditorProps, type Move } from './editor-session.ts'
import { itemText, parseItems, splitItems } from '../../values/value-text.ts'

type Item = string | number

/** Edits an array item by item: Enter adds the typed item, or commits if nothing was typed. */
export function ChipsEditor(props: CellEditorProps) {
  const { field, value, typed } = props
  const session = useEditorSession(props)
  const [items, setItems] = useState<readonly Item[]>(Array.isArray(value) ? value : [])
  const [isTouched, setIsTouched] = useState(false)
  const [isNull, setIsNull] = useState(!Array.isArray(value))
  const [text, setText] = useState(typed ?? '')
  const [error, setError] = useState<string | null>(null)
  /** The chip that the keyboard selects; null while the caret is in the text. */
  const [active, setActive] = useState<number | null>(null)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    input.current?.focus({ preventScroll: true })
  }, [])

  const change = (next: readonly Item[]): void => {
    setItems(next)
    setIsTouched(true)
    setIsNull(false)
  }
  /** Returns the items with the typed ones; null if one cannot be parsed. */
  const withItems = (written: string): readonly Item[] | null => {
    const parsed = parseItems(field.itemType, written)
    if ('error' in parsed) {
      setError(parsed.error)
      return null
    }
    return [...items, ...(parsed.value as readonly Item[])]
  }
  const isChanged = isTouched || text !== ''
  const finish = (move: Move): void => {
    if (!isChanged)
      return session.commit(isNull && items.length === 0 && Array.isArray(value) ? null : value, move)
    const next = text === '' ? items : withItems(text)
    if (next !== null) session.commit(isNull && next.length === 0 ? null : next, move)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = moveOf(event)
    if (event.key === 'Escape') session.cancel()
    else if (move !== null) {
      event.preventDefault()
      if (active !== null && event.key === 'Enter') editChip(active)
      else if (text === '' || event.key !== 'Enter' || move === 'fill') finish(move)
      else add(text)
    } else if (text === '') onKeyInChips(event)
  }
  const add = (written: string): void => {
    const next = withItems(written)
    if (next === null) return
    change(next)
    setText('')
  }
  /** Moves a chip back into the text to edit it. */
  const editChip = (index: number): void => {
    setText(itemText(items[index] ?? ''))
    change(items.toSpliced(index, 1))
    setActive(null)
  }
  const onKeyInChips = (event: KeyboardEvent): void => {
    const at = active ?? items.length
    if (event.key === 'ArrowLeft') setActive(items.length === 0 ? null : Math.max(0, at - 1))
    else if (event.key === 'ArrowRight') setActive(at + 1 >= items.length ? null : at + 1)
    else if (event.key === 'Backspace' || event.key === 'Delete')
      removeAt(event.key === 'Backspace' && active === null ? at - 1 : at)
  }
  const removeAt = (index: number): void => {
    if (index >= 0 && index < items.length) {
      change(items.toSpliced(index, 1))
      setActive(active === null || items.length === 1 ? null : Math.min(index, items.length - 2))
    } else if (items.length === 0 && !field.required) {
      setIsNull(!isNull)
      setIsTouched(true)
    }
  }
  const onPaste = (event: ClipboardEvent): void => {
    const pasted = event.clipboardData.getData('text/plain')
    if (splitItems(pasted).length < 2) return
    event.preventDefault()
    add(pasted)
  }
  // An item that cannot be parsed is committed as typed, and shown as refused.
  const leave = (): void => {
    const cannotBeRead = text !== '' && 'error' in parseItems(field.itemType, text)
    if (cannotBeRead) session.commit([...items, text], 'none')
    else finish('none')
  }
  return (
    <EditorOverlay
      label={`Edit ${field.title}`}
      wide
      isChanged={isChanged}
      onKeyDown={onKeyDown}
      onLeave={leave}
    >
      <div className="editor-surface editor-chips">
        {items.map((item, index) => (
          // Items may repeat and have no keys.
          // oxlint-disable-next-line react/no-array-index-key
          <span key={index} className={index === active ? 'editor-chip active' : 'editor-chip'}>
            {String(item)}
            <button
              type="button"
              tabIndex={-1}
              aria-label={`Remove ${String(item)}`}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => removeAt(index)}
            >
              <X size={12} />
            </button>
          </span>
        ))}
        <input
          ref={input}
          className="editor-text"
          aria-label={`${field.title}: add an item`}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setError(null)
            setActive(null)
          }}
          onPaste={onPaste}
          aria-invalid={error !== null}
          autoComplete="off"
        />
      </div>
      {error === null ? (
        <ChipsHint {...{ items, text, active, isNull, mayBeNull: !field.required }} />
      ) : (
        <EditorHint kind="error">{error}</EditorHint>
      )}
    </EditorOverlay>
  )
}

interface ChipsHintProps {
  readonly items: readonly Item[]
  readonly text: string
  readonly active: number | null
  readonly isNull: boolean
  readonly mayBeNull: boolean
}

function ChipsHint({ items, text, active, isNull, mayBeNull }: ChipsHintProps) {
  if (active !== null) {
    return <EditorHint>{String(items[active] ?? '')}: Enter edits · Delete removes</EditorHint>
  }
  if (text !== '') return <EditorHint>Enter adds · a comma separates items</EditorHint>
  if (items.length > 0) return <EditorHint>Type to add · Backspace removes the last · Enter saves</EditorHint>
  const present = isNull ? 'No value' : 'Empty list'
  return (
    <EditorHint>
      {mayBeNull ? `${present} · Backspace for ${isNull ? 'an empty list' : 'no value'}` : present}
    </EditorHint>
  )
}
