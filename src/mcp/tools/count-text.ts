/** A number and the noun that it counts: `1 call`, `2 calls`; `plural` is for nouns that take more than an s. */
export function countText(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
