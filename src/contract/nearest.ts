/** The most characters of a compared word: the time grows with the product of both lengths. */
const MAX_LENGTH = 100

/** Returns the candidate most similar to `word`, or null if none is similar. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > MAX_LENGTH) return null
  const meant = word.toLowerCase()
  // Two edits in a long word, one in a short one, none in a letter; case is ignored.
  const tolerance = word.length > 4 ? 2 : Math.min(1, word.length - 1)
  let best: string | null = null
  let bestDistance = tolerance + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > tolerance) continue
    const distance = editDistance(meant, candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Returns the number of insertions, deletions, replacements and transpositions between two words, at most `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforeLast: number[] = []
  let lastLeast = 0
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(last[j]! + 1, current[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) cost = Math.min(cost, beforeLast[j - 2]! + 1)
      current.push(cost)
    }
    // A row depends on the two before it: if both exceed the limit, all others do.
    const least = Math.min(...current)
    if (least >= limit && lastLeast >= limit) return limit
    lastLeast = least
    beforeLast = last
    last = current
  }
  return last[b.length]!
}
