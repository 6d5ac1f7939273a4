import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import type { Extension } from '@codemirror/state'
import {
  Decoration,
  drawSelection,
  EditorView,
  keymap,
  MatchDecorator,
  placeholder,
  ViewPlugin,
  WidgetType,
  type DecorationSet,
  type ViewUpdate,
} from '@codemirror/view'
import type { SheetContract } from '../../api/contract.ts'
import { sqlLanguage } from '../../sql/editor/sql-language.ts'
import { EDITOR_THEME } from '../../ui/editor-theme.ts'
import { typedSlot } from './field-slots.ts'
import type { Secret } from './secrets.ts'

/** The way in which an input reads its text: with placeholders for fields, as SQL, or as it is. */
export type CodeMode = 'url' | 'fields' | 'env' | 'sql' | 'plain'

export interface CodeInputOptions {
  readonly mode: CodeMode
  readonly contract: SheetContract
  readonly secrets: readonly Secret[]
  readonly label: string
  /** The id of the element that describes the input. */
  readonly describedBy: string
  readonly hasLines: boolean
  readonly example: string
}

/** Characters before the cursor that decide whether fields are offered; URLs are shorter. */
const MAX_BEFORE = 5000

/** The extensions of an input of a text. Placeholders are shown as chips with the title of their field; `/` offers the fields. */
export function codeExtensions(options: CodeInputOptions): Extension {
  const { mode, contract, secrets, label, describedBy, hasLines, example } = options
  return [
    history(),
    drawSelection(),
    EditorView.lineWrapping,
    languageOf(mode, contract, secrets),
    example === '' ? [] : placeholder(example),
    // Tab leaves the input unless completions are open.
    keymap.of([{ key: 'Tab', run: acceptCompletion }, ...completionKeymap, ...historyKeymap]),
    // After the keys of completions.
    hasLines ? [] : ONE_LINE,
    keymap.of(defaultKeymap),
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-describedby': describedBy,
      'aria-multiline': String(hasLines),
      spellcheck: String(mode !== 'sql'),
      // The area that scrolls holds an element that the keyboard reaches.
      tabindex: '0',
    }),
    EDITOR_THEME,
  ]
}

/** Opens the list of fields at the cursor. */
export function offerFields(view: EditorView): void {
  view.focus()
  startCompletion(view)
}

function languageOf(mode: CodeMode, contract: SheetContract, secrets: readonly Secret[]): Extension[] {
  if (mode === 'plain') return []
  if (mode === 'sql') {
    return [
      closeBrackets(),
      keymap.of(closeBracketsKeymap),
      autocompletion({ icons: false }),
      sqlLanguage(contract),
    ]
  }
  return [
    autocompletion({
      icons: false,
      override: [
        (context) =>
          completeField(context, [...secretOptions(secrets), ...fieldOptions(contract)], mode === 'url'),
      ],
    }),
    chips(contract),
  ]
}

/** Pressing Enter does nothing, and pasted lines are joined. */
const ONE_LINE: Extension = [
  keymap.of([{ key: 'Enter', run: () => true }]),
  EditorView.clipboardInputFilter.of((text) => text.trim().replaceAll(/\s*\n\s*/g, ' ')),
]

/** A name that a placeholder can have, with what it is. */
interface SlotOption {
  readonly label: string
  readonly detail: string
}

function fieldOptions({ fields }: SheetContract): readonly SlotOption[] {
  return fields.map(({ name, title, type }) => ({ label: name, detail: title === name ? type : title }))
}

function secretOptions(secrets: readonly Secret[]): readonly SlotOption[] {
  return secrets.map(({ name, is_set: isSet }) => ({
    label: `env.${name}`,
    detail: isSet ? 'secret, set on the server' : 'secret, not set on the server',
  }))
}

/** Returns the names for a placeholder that is being typed, and on request anywhere. */
function completeField(
  context: CompletionContext,
  names: readonly SlotOption[],
  isUrl: boolean,
): CompletionResult | null {
  const { state, pos } = context
  const slot = typedSlot(state.sliceDoc(Math.max(0, pos - MAX_BEFORE), pos), isUrl)
  if (slot === null && !context.explicit) return null
  const start = slot === null ? pos : slot.from + Math.max(0, pos - MAX_BEFORE)
  const options = names.map(({ label, detail }): Completion => ({
    label,
    detail,
    apply(view, _completion, _from, to) {
      const closing = /^\s*\}\}/.exec(view.state.sliceDoc(to, to + 20))?.[0].length ?? 0
      const insert = `{{ ${label} }}`
      view.dispatch({
        changes: { from: start, to: slot?.isOpen === true ? to + closing : to, insert },
        selection: { anchor: start + insert.length },
        userEvent: 'input.complete',
      })
    },
  }))
  return { from: pos - (slot?.word.length ?? 0), options, validFor: /^\w*$/ }
}

class Chip extends WidgetType {
  readonly #text: string
  readonly #isKnown: boolean

  constructor(text: string, isKnown: boolean) {
    super()
    this.#text = text
    this.#isKnown = isKnown
  }

  override eq(other: Chip): boolean {
    return other.#text === this.#text && other.#isKnown === this.#isKnown
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('span')
    element.className = this.#isKnown ? 'field-chip' : 'field-chip unknown'
    element.textContent = this.#text
    if (!this.#isKnown) element.title = 'No field of the sheet has this name'
    return element
  }
}

/** Shows placeholders as chips, which the cursor passes and Backspace deletes as a whole. */
function chips({ fieldByName }: SheetContract): Extension {
  const decorator = new MatchDecorator({
    regexp: /\{\{\s*([A-Za-z_]\w*|env\.[A-Za-z_]\w*)\s*\}\}/g,
    decoration: ([, name = '']) => {
      const field = fieldByName.get(name)
      const widget = new Chip(field?.title ?? name, field !== undefined || name.startsWith('env.'))
      return Decoration.replace({ widget })
    },
  })
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet
      constructor(view: EditorView) {
        this.decorations = decorator.createDeco(view)
      }
      update(update: ViewUpdate): void {
        this.decorations = decorator.updateDeco(update, this.decorations)
      }
    },
    {
      decorations: (plugin) => plugin.decorations,
      provide: (plugin) =>
        EditorView.atomicRanges.of((view) => view.plugin(plugin)?.decorations ?? Decoration.none),
    },
  )
}
