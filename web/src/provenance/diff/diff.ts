import { diffArrays, type ArrayChange } from 'diff'

/** A part of a diff: in both texts, only in the old, or only in the new one. */
export interface DiffPart {
  readonly is: 'same' | 'gone' | 'new'
  readonly text: string
}

/** The number of changes from which two texts count as replaced, because comparing them would take too long. */
const MAX_EDITS = 1500

/** Compares two texts word by word. */
export function diffWords(was: string, is: string): readonly DiffPart[] {
  return joined(diffPieces(words(was), words(is)))
}

/** Compares two texts line by line; each part is whole lines, the last without its line end. */
export function diffLines(was: string, is: string): readonly DiffPart[] {
  return diffPieces(was.split('\n'), is.split('\n'))
}

/** Splits a text into words and the white space between them. */
function words(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? []
}

/** Compares two sequences: one part per piece, removals before insertions. */
export function diffPieces(was: readonly string[], is: readonly string[]): readonly DiffPart[] {
  const changes = diffArrays([...was], [...is], { maxEditLength: MAX_EDITS }) ?? replaced(was, is)
  return changes.flatMap(({ removed, added, value }) =>
    value.map((text) => ({ is: removed ? 'gone' : added ? 'new' : 'same', text })),
  )
}

/** Consecutive pieces that are in both texts, or in one of them. */
type Change = Pick<ArrayChange<string>, 'value' | 'added' | 'removed'>

/** Compares only the common start and end of two texts. */
function replaced(was: readonly string[], is: readonly string[]): readonly Change[] {
  const shorter = Math.min(was.length, is.length)
  let start = 0
  while (start < shorter && was[start] === is[start]) start += 1
  let end = 0
  while (end < shorter - start && was.at(-1 - end) === is.at(-1 - end)) end += 1
  return [
    { value: is.slice(0, start), added: false, removed: false },
    { value: was.slice(start, was.length - end), added: false, removed: true },
    { value: is.slice(start, is.length - end), added: true, removed: false },
    { value: is.slice(is.length - end), added: false, removed: false },
  ]
}

/** Joins adjacent parts of one kind; white space between two changes becomes part of both. */
function joined(found: readonly DiffPart[]): readonly DiffPart[] {
  const whole: DiffPart[] = []
  let [gone, fresh] = ['', '']
  const flush = (): void => {
    if (gone !== '') whole.push({ is: 'gone', text: gone })
    if (fresh !== '') whole.push({ is: 'new', text: fresh })
    gone = ''
    fresh = ''
  }
  found.forEach(({ is, text }, index) => {
    const next = found[index + 1]
    if (is === 'gone') gone += text
    else if (is === 'new') fresh += text
    else if (gone !== '' && fresh !== '' && text.trim() === '' && next !== undefined && next.is !== 'same') {
      gone += text
      fresh += text
    } else {
      flush()
      const last = whole.at(-1)
      if (last?.is === 'same') whole[whole.length - 1] = { is, text: last.text + text }
      else whole.push({ is, text })
    }
  })
  flush()
  return whole
}

/** A part of a diff, or a number of omitted common lines. */
export type Excerpt = DiffPart | { readonly is: 'omitted'; readonly count: number }

/** Returns the changed lines with context lines. */
export function aroundChanges(lines: readonly DiffPart[], context: number): readonly Excerpt[] {
  const kept = new Set<number>()
  lines.forEach(({ is }, index) => {
    if (is === 'same') return
    for (let near = index - context; near <= index + context; near += 1) kept.add(near)
  })
  const excerpt: Excerpt[] = []
  let omitted = 0
  lines.forEach((line, index) => {
    if (!kept.has(index)) {
      omitted += 1
      return
    }
    if (omitted > 0) excerpt.push({ is: 'omitted', count: omitted })
    omitted = 0
    excerpt.push(line)
  })
  return omitted > 0 ? [...excerpt, { is: 'omitted', count: omitted }] : excerpt
}

/** Omits the middle of a long common part. */
export function shortened(text: string, place: 'start' | 'middle' | 'end', keep: number): string {
  if (text.length <= 3 * keep) return text
  const [head, tail] = [text.slice(0, keep), text.slice(-keep)]
  if (place === 'start') return `…${tail}`
  return place === 'end' ? `${head}…` : `${head} … ${tail}`
}
