/** A stretch of two texts: in both, only in the old one, or only in the new one. */
export interface Stretch {
  readonly is: 'same' | 'gone' | 'new'
  readonly text: string
}

/** Beyond it the middle of two texts counts as replaced: to find what they share would take too long. */
const MOST_STEPS = 400_000

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

/** One stretch for each piece, in the order of the new text, what is gone before what is new in its place. */
export function diffPieces(was: readonly string[], is: readonly string[]): readonly Stretch[] {
  let start = 0
  while (start < was.length && start < is.length && was[start] === is[start]) start += 1
  let end = 0
  const longest = Math.min(was.length, is.length) - start
  while (end < longest && was[was.length - 1 - end] === is[is.length - 1 - end]) end += 1
  return [
    ...stretches('same', is.slice(0, start)),
    ...diffMiddle(was.slice(start, was.length - end), is.slice(start, is.length - end)),
    ...stretches('same', is.slice(is.length - end)),
  ]
}

function stretches(kind: Stretch['is'], pieces: readonly string[]): readonly Stretch[] {
  return pieces.map((text) => ({ is: kind, text }))
}

/** By their longest common subsequence. */
function diffMiddle(was: readonly string[], is: readonly string[]): readonly Stretch[] {
  const replaced = [...stretches('gone', was), ...stretches('new', is)]
  if (was.length === 0 || is.length === 0 || was.length * is.length > MOST_STEPS) return replaced
  const common = commonLengths(was, is)
  const width = is.length + 1
  const found: Stretch[] = []
  let [i, j] = [0, 0]
  while (i < was.length || j < is.length) {
    const [old, fresh] = [was[i], is[j]]
    if (old !== undefined && old === fresh) {
      found.push({ is: 'same', text: old })
      i += 1
      j += 1
    } else if (
      old !== undefined &&
      (fresh === undefined || at(common, (i + 1) * width + j) >= at(common, i * width + j + 1))
    ) {
      found.push({ is: 'gone', text: old })
      i += 1
    } else if (fresh !== undefined) {
      found.push({ is: 'new', text: fresh })
      j += 1
    }
  }
  return goneFirst(found)
}

/** For each pair of places, how many pieces the rests of both from there have in common, in order. */
function commonLengths(was: readonly string[], is: readonly string[]): Uint32Array {
  const width = is.length + 1
  const lengths = new Uint32Array((was.length + 1) * width)
  for (let i = was.length - 1; i >= 0; i -= 1) {
    for (let j = is.length - 1; j >= 0; j -= 1) {
      const below = (i + 1) * width + j
      lengths[i * width + j] =
        was[i] === is[j]
          ? at(lengths, below + 1) + 1
          : Math.max(at(lengths, below), at(lengths, i * width + j + 1))
    }
  }
  return lengths
}

function at(numbers: Uint32Array, index: number): number {
  return numbers[index] ?? 0
}

/** Between two shared pieces, all that is gone and then all that is new. */
function goneFirst(found: readonly Stretch[]): readonly Stretch[] {
  const ordered: Stretch[] = []
  let fresh: Stretch[] = []
  for (const stretch of found) {
    if (stretch.is === 'new') fresh.push(stretch)
    else if (stretch.is === 'gone') ordered.push(stretch)
    else {
      ordered.push(...fresh, stretch)
      fresh = []
    }
  }
  return [...ordered, ...fresh]
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
