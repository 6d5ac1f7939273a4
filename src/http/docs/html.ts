/** A piece of HTML; made by {@link html} only, so that every text in it is escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = Html | string | number | readonly Piece[] | null

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** HTML with values in it: texts are escaped, pieces stay, lists are put together, null is nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return new Html(strings.map((text, index) => text + render(values[index] ?? null)).join(''))
}

function render(piece: Piece): string {
  if (piece === null) return ''
  if (piece instanceof Html) return piece.text
  if (typeof piece === 'string' || typeof piece === 'number') {
    return String(piece).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
  }
  return piece.map(render).join('')
}

/** Pieces with something between them. */
export function joined(pieces: readonly Html[], between: string): readonly Piece[] {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece]))
}

/** What descriptions have of Markdown: paragraphs, and code in backticks. */
export function prose(text: string): readonly Html[] {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`)
}

/** A text with code in backticks. */
export function inline(text: string): readonly Piece[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))
}
