import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { useEffect, useEffectEvent, useRef, useState, type RefObject } from 'react'
import { WrittenTexts } from './written-texts.ts'

interface CodeMirrorOptions {
  /** The text as it is rendered; one that changes elsewhere replaces that of the editor. */
  readonly text: string
  /** The extensions of the editor, which must be the same in each render; others reconfigure it, and keep its text and its history. */
  readonly extensions: Extension
  /** Called with the text after each change that a person makes. */
  readonly onChange: (text: string) => void
}

interface CodeMirror {
  /** The element that the editor fills. */
  readonly host: RefObject<HTMLDivElement | null>
  /** The editor, for effects that follow and for events. */
  readonly view: RefObject<EditorView | null>
}

/** Marks changes that bring a text from elsewhere. */
const FROM_ELSEWHERE = Annotation.define<boolean>()

const CONFIGURED = new Compartment()

/** Creates an editor of a text in an element. */
export function useCodeMirror({ text, extensions, ...events }: CodeMirrorOptions): CodeMirror {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const initialText = useRef(text)
  const [written] = useState(() => new WrittenTexts())
  const onChange = useEffectEvent((now: string) => {
    written.add(now)
    events.onChange(now)
  })
  const createState = useEffectEvent((reports: Extension) =>
    EditorState.create({
      doc: initialText.current,
      extensions: [CONFIGURED.of(extensions), reports],
    }),
  )

  useEffect(() => {
    if (host.current === null) return
    const reports = EditorView.updateListener.of(({ transactions, state }) => {
      const isOwn = transactions.some((each) => each.docChanged && each.annotation(FROM_ELSEWHERE) !== true)
      if (isOwn) onChange(state.sliceDoc())
    })
    const editor = new EditorView({ parent: host.current, state: createState(reports) })
    view.current = editor
    return () => {
      // A remounted editor keeps the text.
      initialText.current = editor.state.sliceDoc()
      editor.destroy()
    }
  }, [])

  useEffect(() => {
    const editor = view.current
    if (editor !== null && CONFIGURED.get(editor.state) !== extensions)
      editor.dispatch({ effects: CONFIGURED.reconfigure(extensions) })
  }, [extensions])

  useEffect(() => {
    if (!written.has(text) && view.current !== null) replaceText(view.current, text)
  }, [text, written])

  return { host, view }
}

/** Replaces the text of an editor as an undoable change. It is not reported: what the editor makes of the text, such as its line ends, is no edit. */
function replaceText(editor: EditorView, text: string): void {
  const { state } = editor
  const insert = state.toText(text)
  if (insert.eq(state.doc)) return
  editor.dispatch({
    changes: { from: 0, to: state.doc.length, insert },
    selection: { anchor: insert.length },
    annotations: FROM_ELSEWHERE.of(true),
  })
}
