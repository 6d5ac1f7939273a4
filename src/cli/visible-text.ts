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

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
