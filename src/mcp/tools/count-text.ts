/** Returns the sentence that follows a page of a list that has others; empty for the last one. */
export function moreText({ next_cursor: cursor }: { readonly next_cursor: string | null }): string {
  return cursor === null ? '' : ' More follow: set cursor to next_cursor.'
}

/** Returns a number with its noun: `1 call`, `2 calls`; `plural` is for nouns that do not just add an s. */
export function countText(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
