import stringWidth from 'string-width'

const PLAIN = /^[\u0020-\u007e]*$/

/** How many columns of a terminal a text takes: two for wide characters and emoji, none for marks that combine. */
export function textWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text)
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The text cut to so many columns, with `…` where something is missing. Never cuts a character that is drawn as one. */
export function cutToWidth(text: string, width: number): string {
  if (PLAIN.test(text)) return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
  let taken = ''
  let used = 0
  // `end` is where the text is cut if the rest does not fit.
  let end = 0
  for (const { segment } of GRAPHEMES.segment(text)) {
    used += textWidth(segment)
    if (used > width) return `${taken.slice(0, end)}…`
    taken += segment
    if (used < width) end = taken.length
  }
  return text
}

/** The text with spaces before or behind it, so that it takes so many columns. */
export function padToWidth(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const room = ' '.repeat(Math.max(0, width - textWidth(text)))
  return align === 'left' ? text + room : room + text
}
