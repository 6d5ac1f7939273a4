/** The most UTF-16 code units of a cell. */
export const MAX_CELL_LENGTH = 32_767

/** Matches characters that XML cannot contain or would change, such as CRLF. */
const UNSAFE = /[\p{Cc}\uFFFE\uFFFF]/gu

/** Matches an escape, and texts that look like one. */
const ESCAPE = /_x([0-9A-Fa-f]{4})_/g
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Encodes a text for SpreadsheetML: control characters as `_xHHHH_`, and texts that look like that escaped (ISO
 * 29500-1, 22.9.2.19).
 */
export function encodeText(text: string): string {
  return text
    .replace(LOOKS_ESCAPED, '_x005F_')
    .replace(UNSAFE, escape)
    .replace(/[&<>]/g, (char) => ENTITIES[char] ?? char)
}

function escape(char: string): string {
  if (char === '\t' || char === '\n') return char
  return `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`
}

/** Reverses {@link encodeText} on text from the XML parser. */
export function decodeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(ESCAPE, (_escape, code: string) => String.fromCharCode(parseInt(code, 16)))
}
