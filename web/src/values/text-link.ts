const URL_TEXT = /^https?:\/\/[^\s<>"]+$/i
const EMAIL = /^[^\s@<>"()]+@[^\s@<>"()]+\.[^\s@<>"().]+$/

/** Returns the address that a text is a link to, a URL or `mailto:`; null for any other text. */
export function linkOf(text: string): string | null {
  if (URL_TEXT.test(text) && URL.canParse(text)) return text
  return EMAIL.test(text) ? `mailto:${text}` : null
}
