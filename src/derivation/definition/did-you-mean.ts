import { nearest } from '../../contract/nearest.ts'

/** `; did you mean "x"?` when one of the known words is close to `word`, otherwise nothing. For ends of messages. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = nearest(word, known)
  return near === null ? '' : `; did you mean "${near}"?`
}
