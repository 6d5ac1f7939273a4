/** Returns a number with its noun: `1 call`, `2 calls`; `plural` is for nouns that do not just add an s. */
export function countText(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
