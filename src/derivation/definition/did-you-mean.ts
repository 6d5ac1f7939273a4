import { nearest } from '../../contract/nearest.ts'

/** Returns `; did you mean "x"?` if one of the known words is close to `word`, otherwise an empty text. For the end of messages. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = nearest(word, known)
  return near === null ? '' : `; did you mean "${near}"?`
}
