/** The start of a placeholder that is being typed before the cursor. */
export interface TypedSlot {
  /** The start of what a chosen field replaces. */
  readonly from: number
  /** The letters of the name so far. */
  readonly word: string
  /** Whether the braces are open already. */
  readonly isOpen: boolean
}

/**
 * Returns the placeholder that the end of a text begins: `/` and letters, or open braces. In a URL a slash before the query stays, since paths
 * have slashes; elsewhere one after a letter, such as in "and/or", begins none.
 */
export function typedSlot(before: string, isUrl: boolean): TypedSlot | null {
  const open = /\{\{\s*(\w*)$/.exec(before)
  if (open !== null) return { from: open.index, word: open[1] ?? '', isOpen: true }
  const slash = /\/(\w*)$/.exec(before)
  if (slash === null) return null
  const [start, word] = [slash.index, slash[1] ?? '']
  const above = before.slice(0, start)
  if (isUrl && !above.includes('?')) {
    // The slashes of https:// begin no part of a path.
    return /:$|:\/$/.test(above) ? null : { from: start + 1, word, isOpen: false }
  }
  return /[\w/}<]$/.test(above) ? null : { from: start, word, isOpen: false }
}
