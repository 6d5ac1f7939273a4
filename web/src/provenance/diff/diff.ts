import { diffArrays, type ArrayChange } from 'diff'

/** A stretch of two texts: in both, only in the old one, or only in the new one. */
export interface Stretch {
  readonly is: 'same' | 'gone' | 'new'
  readonly text: string
}

/** Pieces removed and added beyond which two texts count as replaced: finding what they share would take too long. */
const MAX_EDITS = 1500

/** What changed between two texts, word by word. */
export function diffWords(was: string, is: string): readonly Stretch[] {
  return joined(diffPieces(words(was), words(is)))
}

/** What changed between two texts, line by line; each stretch is whole lines, the last without its end. */
export function diffLines(was: string, is: string): readonly Stretch[] {
  return diffPieces(was.split('\n'), is.split('\n'))
}

/** Words, and what is between them: white space stays with nothing, so that a changed word is just that word. */
function words(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? []
}

/** Returns one stretch for each piece; pieces that are gone come before those that are new in their place. */
export function diffPieces(was: readonly string[], is: readonly string[]): readonly Stretch[] {
  const changes = diffArrays([...was], [...is], { maxEditLength: MAX_EDITS }) ?? replaced(was, is)
  return changes.flatMap(({ removed, added, value }) =>
    value.map((text) => ({ is: removed ? 'gone' : added ? 'new' : 'same', text })),
  )
}

/** Pieces that both texts share, or that one of them has alone. */
type Change = Pick<ArrayChange<string>, 'value' | 'added' | 'removed'>

/** Two texts without anything in common but what they begin and end with. */
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

/** Neighbours of one kind as one; white space that is shared between two changes belongs to both of them. */
function joined(found: readonly Stretch[]): readonly Stretch[] {
  const whole: Stretch[] = []
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

/** A part of a diff that is shown, or the number of lines that are the same in both and left out. */
export type Excerpt = Stretch | { readonly is: 'omitted'; readonly count: number }

/** The lines that changed, with a few around them. */
export function aroundChanges(lines: readonly Stretch[], context: number): readonly Excerpt[] {
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

/** A shared stretch of a text that goes on for long, without its middle. */
export function shortened(text: string, place: 'start' | 'middle' | 'end', keep: number): string {
  if (text.length <= 3 * keep) return text
  const [head, tail] = [text.slice(0, keep), text.slice(-keep)]
  if (place === 'start') return `…${tail}`
  return place === 'end' ? `${head}…` : `${head} … ${tail}`
}
