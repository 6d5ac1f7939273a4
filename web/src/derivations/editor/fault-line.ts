import { StateEffect, StateField, type EditorState, type Extension } from '@codemirror/state'
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view'

/** An error at a line of the text. */
export interface Fault {
  /** From 1. */
  readonly line: number
  readonly message: string
}

/** Shows an error at its line, or none for null. */
export const setFault = StateEffect.define<Fault | null>()

/** Marks the line of an error and shows its message below; both move with the text until the next check. */
export const FAULT_LINE: Extension = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    const effect = transaction.effects.findLast((each) => each.is(setFault))
    return effect === undefined
      ? shown.map(transaction.changes)
      : effect.value === null
        ? Decoration.none
        : decorate(transaction.state, effect.value)
  },
  provide: (field) => EditorView.decorations.from(field),
})

function decorate({ doc }: EditorState, { line, message }: Fault): DecorationSet {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return Decoration.set([
    Decoration.line({ class: 'fault-line' }).range(from),
    Decoration.widget({ widget: new FaultMessage(message), block: true, side: 1 }).range(to),
  ])
}

/** For the eye only: screen readers get the message from the status below the editor. */
class FaultMessage extends WidgetType {
  readonly #message: string

  constructor(message: string) {
    super()
    this.#message = message
  }

  override eq(other: FaultMessage): boolean {
    return other.#message === this.#message
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('div')
    element.className = 'fault-message'
    element.setAttribute('aria-hidden', 'true')
    element.textContent = this.#message
    return element
  }
}
