import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching } from '@codemirror/language'
import { EditorState, Prec } from '@codemirror/state'
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view'
import type { SheetContract } from '../../api/contract.ts'
import { EDITOR_THEME } from '../../ui/editor-theme.ts'
import { sqlLanguage } from './sql-language.ts'

/** The callbacks of the editor. */
export interface EditorEvents {
  onChange(text: string): void
  onRun(): void
  /** Called when Escape leaves the editor. */
  onLeave(): void
}

export function createEditor(
  parent: HTMLElement,
  text: string,
  contract: SheetContract,
  events: EditorEvents,
): EditorView {
  const run = (): boolean => {
    events.onRun()
    return true
  }
  const leave = (): boolean => {
    events.onLeave()
    return true
  }
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        sqlLanguage(contract),
        EditorView.lineWrapping,
        placeholder('SELECT … FROM records'),
        // Tab leaves the editor unless completions are open; Escape closes these first.
        keymap.of([
          { key: 'Tab', run: acceptCompletion },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          { key: 'Escape', run: leave },
          ...defaultKeymap,
        ]),
        EditorView.contentAttributes.of({
          'aria-label': 'SQL statement',
          'aria-describedby': 'sql-keys',
          spellcheck: 'false',
        }),
        EDITOR_THEME,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) events.onChange(update.state.doc.toString())
        }),
      ],
    }),
  })
}
