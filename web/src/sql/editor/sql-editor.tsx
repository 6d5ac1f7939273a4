import type { EditorView } from '@codemirror/view'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { SheetContract } from '../../api/contract.ts'
import { useEditorText } from '../../ui/use-editor-text.ts'
import { WrittenTexts } from '../../ui/written-texts.ts'
import { createEditor } from './create-editor.ts'

interface SqlEditorProps {
  readonly contract: SheetContract
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onRun: () => void
  readonly onLeave: () => void
}

/** The editor of the statement. Ctrl+Enter runs it, Escape leaves it. */
export function SqlEditor({ contract, text, ...events }: SqlEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const initialText = useRef(text)
  const [written] = useState(() => new WrittenTexts())
  const onChange = useEffectEvent((now: string) => {
    written.add(now)
    events.onChange(now)
  })
  const onRun = useEffectEvent(() => events.onRun())
  const onLeave = useEffectEvent(() => events.onLeave())

  useEffect(() => {
    if (host.current === null) return
    const editor = createEditor(host.current, initialText.current, contract, {
      onChange: (now) => onChange(now),
      onRun: () => onRun(),
      onLeave: () => onLeave(),
    })
    view.current = editor
    return () => {
      // A remounted editor keeps the text.
      initialText.current = editor.state.doc.toString()
      editor.destroy()
    }
  }, [contract])

  useEditorText(view, text, written)

  return <div ref={host} className="sql-editor" />
}
