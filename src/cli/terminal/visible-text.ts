/** Characters that control a terminal or the direction of text: the controls of C0 and C1, and directional marks. */
const COMMANDS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

const NAMED: Readonly<Record<string, string>> = { '\n': '⏎', '\t': '→' }

/**
 * Returns text in one line without effect on a terminal: control characters become a sign (⏎, →) or an escape such as
 * `\u001b`.
 */
export function visibleText(text: string): string {
  return text.replaceAll(COMMANDS, (character) => NAMED[character] ?? escaped(character)).toWellFormed()
}

/** Returns equivalent JSON text without effect on a terminal. */
export function visibleJson(json: string): string {
  return json.replaceAll(COMMANDS, (character) => (character === '\n' ? character : escaped(character)))
}

/** Returns text of several lines without effect on a terminal; line breaks stay. */
export function visibleLines(text: string): string {
  return visibleJson(text)
}

/**
 * Yields a file's bytes in UTF-8 without effect on a terminal: control characters other than tabs and line ends are
 * escaped, such as `\u001b`. JSON stays equivalent.
 */
export async function* visibleBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let held = ''
  for await (const chunk of chunks) {
    const text = held + decoder.decode(chunk, { stream: true })
    // The next character shows whether it ends a line.
    held = text.endsWith('\r') ? '\r' : ''
    yield visibleContent(text.slice(0, text.length - held.length))
  }
  yield visibleContent(held + decoder.decode())
}

function visibleContent(text: string): string {
  return text.replaceAll(COMMANDS, (character, at: number) =>
    character === '\n' || character === '\t' || (character === '\r' && text[at + 1] === '\n')
      ? character
      : escaped(character),
  )
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
