/** A number of values that were written by hand, in words. */
export function manualValues(count: number): string {
  return count === 1 ? '1 manual value' : `${count.toLocaleString('en')} manual values`
}
