import { EditorView } from '@codemirror/view'
import { useEffect, useEffectEvent, useImperativeHandle, useRef, useState, type Ref } from 'react'
import { useEditorText } from '../../ui/use-editor-text.ts'
import { WrittenTexts } from '../../ui/written-texts.ts'
import { createYamlEditor } from './create-yaml-editor.ts'
import { setFault, type Fault } from './fault-line.ts'
import './yaml-editor.css'

/** The commands that the page gives to an editor. */
export interface YamlEditorHandle {
  /** Moves the focus and the cursor to the start of a line, from 1. */
  goToLine(line: number): void
}

interface YamlEditorProps {
  readonly text: string
  readonly label: string
  readonly describedBy: string
  readonly fault: Fault | null
  readonly onChange: (text: string) => void
  readonly onSave: () => void
  readonly onLeave: () => void
  readonly ref?: Ref<YamlEditorHandle>
}

/** An editor of YAML that shows an error at its line. It takes the focus when it appears. */
export function YamlEditor({ text, label, describedBy, fault, ref, ...events }: YamlEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const initialText = useRef(text)
  const [written] = useState(() => new WrittenTexts())
  const onChange = useEffectEvent((now: string) => {
    written.add(now)
    events.onChange(now)
  })
  const onSave = useEffectEvent(() => events.onSave())
  const onLeave = useEffectEvent(() => events.onLeave())

  useEffect(() => {
    if (host.current === null) return
    const editor = createYamlEditor(
      host.current,
      initialText.current,
      { label, describedBy },
      { onChange: (now) => onChange(now), onSave: () => onSave(), onLeave: () => onLeave() },
    )
    view.current = editor
    editor.focus()
    return () => {
      // A remounted editor keeps the text.
      initialText.current = editor.state.sliceDoc()
      editor.destroy()
    }
  }, [label, describedBy])

  useEditorText(view, text, written)

  useEffect(() => {
    view.current?.dispatch({ effects: setFault.of(fault) })
  }, [fault])

  useImperativeHandle(ref, () => ({
    goToLine(line) {
      const editor = view.current
      if (editor === null) return
      const { from } = editor.state.doc.line(Math.min(Math.max(line, 1), editor.state.doc.lines))
      editor.dispatch({
        selection: { anchor: from },
        effects: EditorView.scrollIntoView(from, { y: 'center' }),
      })
      editor.focus()
    },
  }))

  return <div ref={host} className="yaml-editor" />
}
