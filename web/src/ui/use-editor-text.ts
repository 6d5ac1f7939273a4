import type { EditorView } from '@codemirror/view'
import { useEffect, type RefObject } from 'react'
import { replaceText } from './replace-text.ts'
import type { WrittenTexts } from './written-texts.ts'

/**
 * Puts a text that changes elsewhere into an editor, which adds each text that it reports to `written`. Call it after the effect that creates the
 * editor.
 */
export function useEditorText(view: RefObject<EditorView | null>, text: string, written: WrittenTexts): void {
  useEffect(() => {
    if (!written.has(text) && view.current !== null) replaceText(view.current, text)
  }, [view, text, written])
}
