import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching } from '@codemirror/language'
import { Prec, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view'
import type { SheetContract } from '../../api/contract.ts'
import { EDITOR_THEME } from '../../ui/editor-theme.ts'
import { sqlLanguage } from './sql-language.ts'

/** The callbacks of the editor. */
export interface EditorEvents {
  onRun(): void
  /** Called when Escape leaves the editor. */
  onLeave(): void
}

/** The extensions of the editor of a statement over the records of a sheet. */
export function sqlExtensions(contract: SheetContract, events: EditorEvents): Extension {
  const run = (): boolean => {
    events.onRun()
    return true
  }
  const leave = (): boolean => {
    events.onLeave()
    return true
  }
  return [
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
  ]
}
