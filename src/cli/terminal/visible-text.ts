/** Characters that a terminal obeys or that turn text around: the controls of C0 and C1, and the marks of direction. */
const COMMANDS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

const NAMED: Readonly<Record<string, string>> = { '\n': '⏎', '\t': '→' }

/** Text in one line that a terminal only shows: what it would obey stands there as a sign (⏎, →) or as `\u001b`. */
export function visibleText(text: string): string {
  return text.replaceAll(COMMANDS, (character) => NAMED[character] ?? escaped(character)).toWellFormed()
}

/** JSON text that means the same and that a terminal only shows. */
export function visibleJson(json: string): string {
  return json.replaceAll(COMMANDS, (character) => (character === '\n' ? character : escaped(character)))
}

/** Text of several lines, such as a message, with its lines left as they are. */
export function visibleLines(text: string): string {
  return visibleJson(text)
}

/**
 * A file's bytes in UTF-8 as a terminal only shows them: what it would obey stands there as `\u001b` or the like, but for tabs
 * and the ends of lines. JSON means the same afterwards.
 */
export async function* visibleBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let held = ''
  for await (const chunk of chunks) {
    const text = held + decoder.decode(chunk, { stream: true })
    // Whether it ends a line is seen by what follows.
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
