/** A changed line of a definition file. */
export interface LineChange {
  readonly file: string
  /** The number of the line, from 1: that of the text before; an added line has that of the line before which it is added. */
  readonly line: number
  /** The line before and after, at most 200 characters of it; null where there is none. */
  readonly before: string | null
  readonly after: string | null
}

const MAX_SHOWN = 200

/** The most comparisons of lines between the first and the last one that differ. */
const MAX_COMPARED = 4_000_000

/**
 * Lists the lines by which two texts differ, as few as possible: a removed line and an added one at the same place are a changed line. In
 * texts with thousands of lines between the first and the last that differ, each of these is compared only with that at its place.
 */
export function lineChanges(file: string, before: string, after: string): readonly LineChange[] {
  const old = linesOf(before)
  const now = linesOf(after)
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  const rest = Math.min(old.length, now.length) - start
  while (end < rest && old.at(-1 - end) === now.at(-1 - end)) end += 1
  const [from, to] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  const blocks = from.length * to.length > MAX_COMPARED ? byPlace(from, to) : changedBlocks(from, to)
  return blocks.flatMap(({ at, removed, added }) =>
    Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => ({
      file,
      line: start + at + index + 1,
      before: shown(removed[index]),
      after: shown(added[index]),
    })),
  )
}

/** Lines that replace others. */
interface ChangedBlock {
  /** The index of the first of them before. */
  readonly at: number
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** Returns the blocks between the lines of a longest common subsequence. */
function changedBlocks(from: readonly string[], to: readonly string[]): readonly ChangedBlock[] {
  const width = to.length + 1
  // The lengths of the common subsequences of what follows two places.
  const lengths = new Uint32Array((from.length + 1) * width)
  const lengthAt = (a: number, b: number): number => lengths[a * width + b] ?? 0
  for (let a = from.length - 1; a >= 0; a -= 1) {
    for (let b = to.length - 1; b >= 0; b -= 1) {
      lengths[a * width + b] =
        from[a] === to[b] ? lengthAt(a + 1, b + 1) + 1 : Math.max(lengthAt(a + 1, b), lengthAt(a, b + 1))
    }
  }
  const blocks: ChangedBlock[] = []
  let [firstOld, firstNew] = [0, 0]
  const end = (a: number, b: number): void => {
    const [removed, added] = [from.slice(firstOld, a), to.slice(firstNew, b)]
    if (removed.length + added.length > 0) blocks.push({ at: firstOld, removed, added })
    ;[firstOld, firstNew] = [a + 1, b + 1]
  }
  let [a, b] = [0, 0]
  while (a < from.length && b < to.length) {
    if (from[a] === to[b]) {
      end(a, b)
      a += 1
      b += 1
    } else if (lengthAt(a + 1, b) >= lengthAt(a, b + 1)) a += 1
    else b += 1
  }
  end(from.length, to.length)
  return blocks
}

function byPlace(from: readonly string[], to: readonly string[]): readonly ChangedBlock[] {
  const at = (lines: readonly string[], index: number): readonly string[] => lines.slice(index, index + 1)
  return Array.from({ length: Math.max(from.length, to.length) }, (_, index) => index)
    .filter((index) => from[index] !== to[index])
    .map((index) => ({ at: index, removed: at(from, index), added: at(to, index) }))
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}

function shown(line: string | null | undefined): string | null {
  if (line === null || line === undefined) return null
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}
