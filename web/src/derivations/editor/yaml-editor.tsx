import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { useEffect, useImperativeHandle, useMemo, type Ref } from 'react'
import { useCodeMirror } from '../../ui/use-code-mirror.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { setFault, type Fault } from './fault-line.ts'
import { lineEndOf, yamlExtensions } from './yaml-extensions.ts'
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
export function YamlEditor({ text, label, describedBy, fault, ref, onChange, ...keys }: YamlEditorProps) {
  const latest = useLatest(keys)
  const lineEnd = lineEndOf(text)
  const extensions = useMemo(
    () => [
      // Without it, line ends of Windows would all become others.
      EditorState.lineSeparator.of(lineEnd),
      yamlExtensions(
        { label, describedBy },
        { onSave: () => latest.current.onSave(), onLeave: () => latest.current.onLeave() },
      ),
    ],
    [lineEnd, label, describedBy, latest],
  )
  const { host, view } = useCodeMirror({ text, extensions, onChange })

  useEffect(() => {
    // Not at once: the key that opened the editor would be typed into it.
    const frame = requestAnimationFrame(() => view.current?.focus())
    return () => cancelAnimationFrame(frame)
  }, [view])

  useEffect(() => {
    view.current?.dispatch({ effects: setFault.of(fault) })
  }, [view, fault])

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
