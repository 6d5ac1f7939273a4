import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching } from '@codemirror/language'
import { EditorState, Prec, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { EDITOR_THEME } from '../../ui/editor-theme.ts'
import { FAULT_LINE } from './fault-line.ts'
import { YAML_HIGHLIGHT } from './yaml-highlight.ts'

/** The callbacks of the editor. */
export interface EditorEvents {
  onSave(): void
  /** Called when Escape leaves the editor. */
  onLeave(): void
}

export interface EditorNames {
  /** The accessible name. */
  readonly label: string
  /** The ids of the elements that describe the keys and the errors. */
  readonly describedBy: string
}

/** The extensions of an editor of YAML with line numbers. Tab leaves it, Ctrl+] indents, Ctrl+S saves. */
export function yamlExtensions({ label, describedBy }: EditorNames, events: EditorEvents): Extension {
  const save = (): boolean => {
    events.onSave()
    return true
  }
  const leave = (): boolean => {
    events.onLeave()
    return true
  }
  return [
    Prec.highest(
      keymap.of([
        { key: 'Mod-s', run: save, preventDefault: true },
        { key: 'Mod-Enter', run: save },
      ]),
    ),
    lineNumbers(),
    history(),
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    EditorState.languageData.of(() => [{ commentTokens: { line: '#' } }]),
    EditorView.lineWrapping,
    keymap.of([...closeBracketsKeymap, ...historyKeymap, { key: 'Escape', run: leave }, ...defaultKeymap]),
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-describedby': describedBy,
      spellcheck: 'false',
      // The area that scrolls holds an element that the keyboard reaches.
      tabindex: '0',
    }),
    EDITOR_THEME,
    YAML_HIGHLIGHT,
    FAULT_LINE,
  ]
}

/** Returns CR LF if all lines end with it, else LF. */
export function lineEndOf(text: string): string {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text) ? '\r\n' : '\n'
}
