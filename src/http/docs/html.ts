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

/** Builds HTML from a template: texts are escaped, pieces are kept, lists are concatenated, null is empty. */
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

/** Joins pieces with a separator. */
export function joined(pieces: readonly Html[], between: string): readonly Piece[] {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece]))
}

/** Renders the Markdown of descriptions: paragraphs, and code in backticks. */
export function prose(text: string): readonly Html[] {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`)
}

/** Renders a text with code in backticks. */
export function inline(text: string): readonly Piece[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))
}
