import type { EditorView } from '@codemirror/view'

/** Replaces the text of an editor as an undoable change. */
export function replaceText(editor: EditorView, text: string): void {
  const { state } = editor
  if (state.sliceDoc() === text) return
  const insert = state.toText(text)
  editor.dispatch({
    changes: { from: 0, to: state.doc.length, insert },
    selection: { anchor: insert.length },
  })
}
