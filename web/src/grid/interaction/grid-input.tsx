import {
  useLayoutEffect,
  useRef,
  useState,
  type ClipboardEvent,
  type CompositionEvent,
  type FocusEvent,
  type KeyboardEvent,
} from 'react'
import { flushSync } from 'react-dom'
import { keepOver, usePressElsewhere } from '../../editing/editors/editor-overlay.tsx'
import '../../editing/editors/editor.css'
import { useLatest } from '../../ui/use-latest.ts'
import { cellId } from '../selection/cell-id.ts'
import type { Editor, OpenEditor } from './use-editor.ts'
import './grid-input.css'

/** Whether the screen is the keyboard: an element that takes text would open it at every touch of a cell. */
export const IS_TOUCH = matchMedia('(hover: none) and (pointer: coarse)').matches

interface GridInputProps {
  readonly editor: Editor
  /** The accessible name of the grid. */
  readonly label: string
  readonly description: string
  /** The id of the element of the grid. */
  readonly gridId: string
  /** The id of the element of the active cell, if it is drawn. */
  readonly activeId: string | undefined
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
  readonly onCopy: (event: ClipboardEvent<HTMLElement>) => void
  readonly onCut: (event: ClipboardEvent<HTMLElement>) => void
  readonly onPaste: (event: ClipboardEvent<HTMLElement>) => void
}

/**
 * Has the focus for the grid. Input methods compose only into an element that takes text: this one does so, over the
 * active cell, and is not visible before. The editor of the cell opens with the text. Keys of the grid leave no text here.
 */
export function GridInput({ editor, label, description, gridId, activeId, ...events }: GridInputProps) {
  const box = useRef<HTMLDivElement>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  const isComposing = useRef(false)
  /** The cell that a text is composed for. */
  const [cell, setCell] = useState<OpenEditor | null>(null)
  useLayoutEffect(() => {
    const element = cell === null ? null : document.getElementById(cellId(cell))
    return element !== null && box.current !== null ? keepOver(element, box.current) : undefined
  }, [cell])

  const showEditor = (target: OpenEditor | null): void => {
    const text = area.current?.value ?? ''
    if (area.current !== null) area.current.value = ''
    // The editor has the focus when this returns, so that the next key is for it.
    flushSync(() => {
      setCell(null)
      if (target !== null && text !== '') editor.show({ ...target, typed: text })
    })
  }
  const finish = useLatest((): void => {
    if (cell !== null) showEditor(cell)
  })
  usePressElsewhere(box, () => finish.current())

  const onCompositionStart = ({ currentTarget }: CompositionEvent<HTMLTextAreaElement>): void => {
    isComposing.current = true
    if (cell !== null) return
    const target = editor.target()
    setCell(target)
    if (target !== null) return
    // Ends the composition.
    currentTarget.blur()
    currentTarget.value = ''
    currentTarget.focus({ preventScroll: true })
  }
  const onCompositionEnd = (): void => {
    isComposing.current = false
    // Not at once: a Korean syllable ends where the next one begins, and moving the focus would end that.
    setTimeout(() => {
      if (!isComposing.current) finish.current()
    })
  }
  /** Opens the editor with a text that no key has typed, such as one from a panel of emojis. */
  const onInput = (): void => {
    if (!isComposing.current && cell === null && area.current?.value !== '') showEditor(editor.target())
  }
  const onBlur = ({ target }: FocusEvent): void => {
    // When the window loses the focus, the active element stays the same.
    if (document.activeElement !== target) finish.current()
  }
  return (
    <div ref={box} role="none" className={cell === null ? 'grid-input' : 'grid-input editor'}>
      <textarea
        ref={area}
        className="editor-text"
        rows={1}
        aria-label={label}
        aria-description={description}
        aria-controls={gridId}
        aria-activedescendant={activeId}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        {...events}
        onCompositionStart={onCompositionStart}
        onCompositionEnd={onCompositionEnd}
        onInput={onInput}
        onBlur={onBlur}
      />
    </div>
  )
}
