import { createRequire } from 'node:module'
import type * as StringWidth from 'string-width'

const PLAIN = /^[\u0020-\u007e]*$/

/** Loaded when it is first needed: its expressions take 30 to 40 ms to compile, a fifth of the start of a command. */
let library: typeof StringWidth | null = null

function stringWidth(text: string): number {
  library ??= createRequire(import.meta.url)('string-width') as typeof StringWidth
  return library.default(text)
}

/** How many columns of a terminal a text takes: two for wide characters and emoji, none for marks that combine. */
export function textWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text)
}

/** Likewise: it takes 20 ms to make. */
let graphemes: Intl.Segmenter | null = null

/** The text cut to so many columns, with `…` where something is missing. Never cuts a character that is drawn as one. */
export function cutToWidth(text: string, width: number): string {
  if (PLAIN.test(text)) return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
  let taken = ''
  let used = 0
  // `end` is where the text is cut if the rest does not fit.
  let end = 0
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  for (const { segment } of graphemes.segment(text)) {
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
