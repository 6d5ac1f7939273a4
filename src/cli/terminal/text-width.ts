import { createRequire } from 'node:module'
import type * as StringWidth from 'string-width'

const PLAIN = /^[\u0020-\u007e]*$/

/** Loaded on demand: its expressions take 30 to 40 ms to compile, a fifth of the start of a command. */
let library: typeof StringWidth | null = null

function stringWidth(text: string): number {
  library ??= createRequire(import.meta.url)('string-width') as typeof StringWidth
  return library.default(text)
}

/** Returns the columns that a text takes in a terminal: two for wide characters and emoji, none for combining marks. */
export function textWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text)
}

/** Created on demand, which takes 20 ms. */
let graphemes: Intl.Segmenter | null = null

/** Cuts a text to so many columns, with `…` in place of the rest. Never splits a grapheme. */
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

/** Pads a text with spaces to so many columns. */
export function padToWidth(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const room = ' '.repeat(Math.max(0, width - textWidth(text)))
  return align === 'left' ? text + room : room + text
}
