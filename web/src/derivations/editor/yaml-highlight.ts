import type { Extension, Range } from '@codemirror/state'
import { Decoration, ViewPlugin, type DecorationSet, type EditorView } from '@codemirror/view'
import { tokenizeYaml } from './yaml-tokens.ts'

/** The length from which a text is not highlighted: every change of the text reads all of it. */
const MAX_LENGTH = 200_000

/** Highlights YAML with the tokens of the read-only view, placeholders included. */
export const YAML_HIGHLIGHT: Extension = ViewPlugin.define(
  (view) => ({
    decorations: decorate(view),
    update({ docChanged, view: now }) {
      if (docChanged) this.decorations = decorate(now)
    },
  }),
  { decorations: ({ decorations }) => decorations },
)

function decorate({ state: { doc } }: EditorView): DecorationSet {
  if (doc.length > MAX_LENGTH) return Decoration.none
  const marks: Range<Decoration>[] = []
  let from = 0
  for (const line of tokenizeYaml(doc.toString())) {
    for (const { kind, text } of line) {
      if (kind !== 'text') marks.push(Decoration.mark({ class: kind }).range(from, from + text.length))
      from += text.length
    }
    from += 1
  }
  return Decoration.set(marks)
}
